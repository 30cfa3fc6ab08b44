//! Captures found by URL and time, revisits followed, damage noticed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sample;

use std::fs;
use std::path::Path;
use std::time::Duration;

use geomi_model::CaptureKind;
use geomi_store::readback::{Archive, ArchiveLimits, ReadbackError, Spelling, nearest};
use geomi_store::warc::RevisitProfile;
use geomi_store::{CrawlDir, segment};
use geomi_url::CrawlUrl;

use sample::{Crawl, START, answers};

fn open(dir: &CrawlDir) -> Archive {
    Archive::open(dir.clone(), ArchiveLimits::default()).unwrap()
}

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::parse(text).unwrap()
}

#[test]
fn every_capture_of_a_crawl_reads_back_with_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rows) = sample::crawl(folder.path(), 8 << 10);
    let archive = open(&dir);
    let answers = answers();
    let mut revisits = 0;
    for row in rows.iter().filter(|row| row.capture.is_some()) {
        let entries = archive.captures(&row.url, Spelling::Exact).unwrap();
        let entry = entries
            .iter()
            .find(|entry| entry.capture() == row.capture)
            .unwrap();
        assert_eq!(entry.timestamp, row.time.to_compact());
        let read = archive.read(entry).unwrap();
        let answer = answers.iter().find(|one| url(one.url) == row.url);
        let answer = answer.unwrap();
        let stored = [answer.head.as_bytes(), &answer.body].concat();
        assert_eq!(read.content().block, stored, "{}", row.url);
        let is_revisit = row.capture.as_ref().unwrap().kind == CaptureKind::Revisit;
        assert_eq!(read.original.is_some(), is_revisit);
        revisits += usize::from(is_revisit);
        if row.code == Some(304) {
            assert!(read.record.block.starts_with(b"HTTP/1.1 304"));
        }
    }
    assert_eq!(revisits, 2);
}

#[test]
fn captures_of_all_partitions_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::start(folder.path(), 8 << 10);
    let answers = answers();
    for answer in &answers[..3] {
        crawl.store(answer);
    }
    crawl.revisit(&answers[1], RevisitProfile::NotModified);
    let is_local = |url: &CrawlUrl| url.as_str().contains("127.0.1.5");
    let (dir, partitions) = crawl.finish_in_partitions(2, |row| u16::from(!is_local(&row.url)));
    assert_eq!(partitions.len(), 2);
    // One of the parts is not merged yet.
    let waiting = segment::list_of(&dir, Some(1)).unwrap()[0];
    geomi_store::cdxj::write_part(&waiting.index_part(&dir), &partitions[&1]).unwrap();
    let archive = open(&dir);
    for row in partitions.values().flatten() {
        let entries = archive.captures(&row.url, Spelling::Exact).unwrap();
        let mut entries = entries.iter();
        let entry = entries
            .find(|entry| entry.capture() == row.capture)
            .unwrap();
        assert!(archive.read(entry).is_ok(), "{}", row.url);
    }
}

#[test]
fn parts_of_a_running_crawl_are_found_and_lines_in_both_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rows) = sample::crawl(folder.path(), 8 << 10);
    let root = url("http://127.0.1.5:8080/");
    let merged = open(&dir).captures(&root, Spelling::Exact).unwrap();
    assert_eq!(merged.len(), 2);
    // As a crash between merging and removing the parts leaves it.
    for (first, rows) in rows.chunks(5).enumerate() {
        let part = dir
            .index_parts()
            .join(format!("{first:010}-{first:010}.cdxj"));
        geomi_store::cdxj::write_part(&part, rows).unwrap();
    }
    assert_eq!(open(&dir).captures(&root, Spelling::Exact).unwrap(), merged);
    // As while a crawl has merged nothing yet.
    fs::remove_file(dir.cdxj()).unwrap();
    let archive = open(&dir);
    assert_eq!(archive.captures(&root, Spelling::Exact).unwrap(), merged);
    let read = archive.read(&merged[1]).unwrap();
    assert!(read.original.is_some(), "the original is in another part");
}

#[test]
fn the_nearest_of_several_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::start(folder.path(), 1 << 20);
    let answers = answers();
    for _ in 0..3 {
        // Numbers 1, 8, 15: 10.5 seconds apart.
        crawl.store(&answers[1]);
        for _ in 0..6 {
            crawl.fail("http://silent.example/");
        }
    }
    let (dir, rows) = crawl.finish(100);
    let entries = open(&dir)
        .captures(&url(answers[1].url), Spelling::Exact)
        .unwrap();
    let times: Vec<&str> = entries.iter().map(|one| one.timestamp.as_str()).collect();
    let stored = [&rows[0], &rows[7], &rows[14]].map(|row| row.time.to_compact());
    assert_eq!(times, stored);
    let at = |seconds: u64| nearest(&entries, START + Duration::from_secs(seconds));
    assert_eq!(at(0), Some(0));
    assert_eq!(at(8), Some(1));
    assert_eq!(at(1_000_000), Some(2));
    assert_eq!(nearest(&[], START), None);
}

#[test]
fn other_spellings_share_a_key_and_neighbours_a_site() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, _) = sample::crawl(folder.path(), 8 << 10);
    let archive = open(&dir);
    let other = url("https://example.com/chunked?a=1&b=2");
    assert_eq!(archive.captures(&other, Spelling::Exact).unwrap(), []);
    let same = archive.captures(&other, Spelling::SameKey).unwrap();
    assert_eq!(same.len(), 2);
    assert_eq!(same[0].fields.url, "http://www.example.com/Chunked?b=2&a=1");
    let near = archive
        .neighbours(&url("http://example.com/emptyy"))
        .unwrap();
    assert!(
        near.contains(&"http://example.com/empty-type".to_owned()),
        "{near:?}"
    );
    assert!(
        archive
            .neighbours(&url("http://nowhere.test/"))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn records_read_again_come_from_memory_within_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rows) = sample::crawl(folder.path(), 8 << 10);
    let limits = ArchiveLimits {
        cache_bytes_max: 25_000,
        ..ArchiveLimits::default()
    };
    let archive = Archive::open(dir, limits).unwrap();
    let root = url("http://127.0.1.5:8080/");
    let entry = &archive.captures(&root, Spelling::Exact).unwrap()[0];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert!(archive.read(entry).unwrap().record.block.len() > 18_000);
                }
            });
        }
    });
    let counters = archive.cache_counters();
    assert_eq!(counters.hits + counters.misses, 40);
    assert!(counters.hits >= 36, "each thread misses once at most");
    for row in rows.iter().filter(|row| row.capture.is_some()) {
        for entry in archive.captures(&row.url, Spelling::Exact).unwrap() {
            archive.read(&entry).unwrap();
            assert!(archive.cache_counters().bytes <= 25_000);
        }
    }
    assert!(archive.cache_counters().evicted > 0);
}

#[test]
fn what_is_missing_or_damaged_has_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let empty = CrawlDir::create(folder.path().join("empty")).unwrap();
    let refused = Archive::open(empty, ArchiveLimits::default()).unwrap_err();
    assert!(matches!(refused, ReadbackError::NoIndex(_)), "{refused}");

    let (dir, rows) = sample::crawl(&folder.path().join("c"), 1 << 20);
    let root = url("http://127.0.1.5:8080/");
    let archive = open(&dir);
    let entries = archive.captures(&root, Spelling::Exact).unwrap();
    let capture = rows[2].capture.as_ref().unwrap();
    let path = dir.warc().join(&capture.file);
    let mut bytes = fs::read(&path).unwrap();
    let middle = usize::try_from(capture.offset + capture.length / 2).unwrap();
    bytes[middle] ^= 0x55;
    fs::write(&path, &bytes).unwrap();
    let error = archive.read(&entries[0]).unwrap_err();
    assert!(matches!(error, ReadbackError::Record(_)), "{error}");
    assert!(error.to_string().contains("damaged at"), "{error}");
}

#[test]
fn a_revisit_without_its_original_is_lost_and_says_of_what() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::start(folder.path(), 1 << 20);
    let answers = answers();
    crawl.store(&answers[1]);
    crawl.revisit(&answers[1], RevisitProfile::NotModified);
    let (dir, _) = crawl.finish(10);
    keep_only_revisits(&dir.cdxj());
    let archive = open(&dir);
    let root = url("http://127.0.1.5:8080/");
    let entries = archive.captures(&root, Spelling::Exact).unwrap();
    let error = archive.read(&entries[0]).unwrap_err();
    assert!(matches!(error, ReadbackError::Lost { .. }), "{error}");
    assert!(
        error.to_string().contains("127.0.1.5:8080/ at 2026-11-15T"),
        "{error}"
    );
    assert_eq!(segment::list(&dir).unwrap().len(), 1);
}

fn keep_only_revisits(index: &Path) {
    let text = fs::read_to_string(index).unwrap();
    let kept = text.lines().filter(|line| line.contains("warc/revisit"));
    let kept = kept.collect::<Vec<_>>().join("\n");
    fs::write(index, kept + "\n").unwrap();
}

#[test]
fn captures_of_one_second_are_in_the_order_of_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let dir = CrawlDir::create(folder.path()).unwrap();
    // As text, 1000 comes before 900, and the digest decides before the offset does.
    let lines = [("A", 1_000), ("B", 900)].map(|(digest, offset)| {
        format!(
            "test,a)/ 20261115094200 {{\"url\": \"http://a.test/\", \"status\": \"200\", \"digest\": \"sha1:{digest}\", \
             \"length\": \"31\", \"offset\": \"{offset}\", \"filename\": \"a.warc.gz\"}}\n"
        )
    });
    fs::write(dir.cdxj(), lines.concat()).unwrap();
    let found = open(&dir).captures(&url("http://a.test/"), Spelling::Exact);
    let found = found.unwrap();
    let offsets: Vec<&str> = found.iter().map(|one| &*one.fields.offset).collect();
    assert_eq!(offsets, ["900", "1000"]);
}
