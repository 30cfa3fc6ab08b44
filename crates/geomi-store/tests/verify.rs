//! `verify` finds nothing wrong with what was written, and each kind of damage.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sample;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use geomi_model::Visit;
use geomi_store::verify::{Problem, verify};
use geomi_store::{CrawlDir, Owner, segment};
use proptest::prelude::*;

/// Damages a sound crawl and checks that exactly the `expected` kinds of
/// problem are found, each at least once.
fn check(expected: &[&str], damage: impl FnOnce(&CrawlDir, &[Visit])) {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rows) = sample::crawl(folder.path(), 8 << 10);
    damage(&dir, &rows);
    let report = verify(&dir).unwrap();
    let mut found: Vec<String> = report.problems.iter().map(kind).collect();
    found.sort();
    found.dedup();
    assert_eq!(found, expected, "{:#?}", report.problems);
    for problem in &report.problems {
        assert!(!problem.to_string().is_empty());
    }
}

/// The variant's name.
fn kind(problem: &Problem) -> String {
    let text = format!("{problem:?}");
    text.split([' ', '{']).next().unwrap().to_owned()
}

fn warc_files(dir: &CrawlDir) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir.warc())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn edit_index(dir: &CrawlDir, edit: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(dir.cdxj()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    edit(&mut lines);
    lines.push(String::new());
    fs::write(dir.cdxj(), lines.join("\n")).unwrap();
}

/// Rewrites the first table with other rows, leaving the index as it is.
fn edit_rows(dir: &CrawlDir, rows: &[Visit], edit: impl FnOnce(&mut Vec<Visit>)) {
    let mut rows = rows[..7].to_vec();
    edit(&mut rows);
    let table = segment::list(dir).unwrap()[0].table(dir);
    geomi_store::visits::write_visits(&table, &rows).unwrap();
}

#[test]
fn a_finished_crawl_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rows) = sample::crawl(folder.path(), 8 << 10);
    let report = verify(&dir).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
    let counts = report.counts;
    assert_eq!(counts.visits, rows.len() as u64);
    assert_eq!(
        (counts.responses, counts.revisits, counts.requests),
        (10, 2, 12)
    );
    assert_eq!((counts.captured, counts.index_lines), (12, 12));
    assert_eq!(counts.warc_files, 2);
    let bytes: u64 = warc_files(&dir)
        .iter()
        .map(|path| fs::metadata(path).unwrap().len())
        .sum();
    assert_eq!(counts.warc_bytes, bytes);
}

#[test]
fn an_empty_directory_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let dir = CrawlDir::create(folder.path()).unwrap();
    assert!(verify(&dir).unwrap().is_sound());
}

#[test]
fn damaged_records() {
    check(&["RecordDamaged"], |dir, _| {
        let path = &warc_files(dir)[0];
        let mut bytes = fs::read(path).unwrap();
        bytes[1000] ^= 0x10;
        fs::write(path, bytes).unwrap();
    });
    check(&["RecordDamaged"], |dir, _| {
        let path = &warc_files(dir)[1];
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
    });
}

#[test]
fn what_follows_a_damaged_record_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rows) = sample::crawl(folder.path(), 64 << 20);
    let sound = verify(&dir).unwrap().counts;
    let path = &warc_files(&dir)[0];
    let mut bytes = fs::read(path).unwrap();
    // The second capture: there are others before and behind it.
    let captures = rows.iter().filter_map(|row| row.capture.as_ref());
    let damaged = captures
        .skip(1)
        .find(|one| one.file == warc_name(path))
        .unwrap();
    let offset = damaged.offset;
    bytes[offset as usize + 40] ^= 0x10;
    fs::write(path, bytes).unwrap();
    let report = verify(&dir).unwrap();
    let counts = report.counts;
    assert_eq!(
        counts.responses + counts.revisits,
        sound.responses + sound.revisits - 1
    );
    let found: Vec<String> = report.problems.iter().map(kind).collect();
    let expected = ["RecordDamaged", "VisitWithoutRecord", "LineWithoutRecord"];
    assert_eq!(found, expected, "{:#?}", report.problems);
    let at = format!("at {offset}: ");
    assert!(
        report
            .problems
            .iter()
            .all(|one| one.to_string().contains(&at))
    );
}

fn warc_name(path: &std::path::Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_file_without_its_first_record() {
    check(
        &[
            "LineWithoutRecord",
            "RecordUnexpected",
            "RecordWithoutLine",
            "RecordWithoutVisit",
            "VisitWithoutRecord",
        ],
        |dir, rows| {
            let path = &warc_files(dir)[0];
            let bytes = fs::read(path).unwrap();
            let first = rows[0].capture.as_ref().unwrap().offset as usize;
            fs::write(path, &bytes[first..]).unwrap();
        },
    );
}

#[test]
fn a_false_payload_digest() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = sample::Crawl::start(folder.path(), 1 << 20);
    let answer = &sample::answers()[1];
    let mut other = sample::answers().swap_remove(1);
    other.body.push(b'!');
    crawl.store_with_digest_of(answer, &other);
    let (dir, _) = crawl.finish(10);
    let report = verify(&dir).unwrap();
    assert_eq!(
        report.problems.iter().map(kind).collect::<Vec<_>>(),
        ["WrongDigest"]
    );
}

#[test]
fn files_that_are_not_there() {
    check(&["FileMissing"], |dir, _| {
        fs::remove_file(&warc_files(dir)[1]).unwrap();
    });
    check(&["IndexMissing", "RecordWithoutLine"], |dir, _| {
        fs::remove_file(dir.cdxj()).unwrap();
    });
    check(&["RecordWithoutVisit", "VisitsMissing"], |dir, _| {
        fs::remove_file(segment::list(dir).unwrap()[1].table(dir)).unwrap();
    });
}

#[test]
fn files_that_are_not_finished() {
    check(&["LeftOpen"], |dir, _| {
        let path = &warc_files(dir)[1];
        fs::rename(path, path.with_added_extension("open")).unwrap();
    });
    check(&["IndexMissing", "LeftUnmerged"], |dir, _| {
        let part = segment::list(dir).unwrap()[0].index_part(dir);
        fs::rename(dir.cdxj(), part).unwrap();
    });
    check(&["FileUnreadable", "RecordWithoutVisit"], |dir, _| {
        let table = segment::list(dir).unwrap()[2].table(dir);
        let bytes = fs::read(&table).unwrap();
        fs::write(&table, &bytes[..bytes.len() - 9]).unwrap();
    });
}

#[test]
fn what_an_interrupted_crawl_has_yet_to_write_is_no_problem() {
    check(&["LeftOpen"], |dir, _| {
        let path = warc_files(dir).pop().unwrap();
        fs::rename(&path, path.with_added_extension("open")).unwrap();
        let last = segment::list(dir).unwrap().pop().unwrap();
        fs::remove_file(last.table(dir)).unwrap();
        edit_index(dir, |lines| drop(lines.remove(0)));
    });
    check(&["LeftOpen", "RecordDamaged"], |dir, _| {
        let files = warc_files(dir);
        fs::rename(&files[1], files[1].with_added_extension("open")).unwrap();
        let mut bytes = fs::read(&files[0]).unwrap();
        bytes[1000] ^= 0x10;
        fs::write(&files[0], bytes).unwrap();
    });
}

#[test]
fn visits_that_tell_other_things() {
    check(&["RecordWithoutVisit"], |dir, rows| {
        edit_rows(dir, rows, |rows| rows[0].capture = None);
    });
    check(
        &["RecordWithoutVisit", "VisitWithoutRecord"],
        |dir, rows| {
            edit_rows(dir, rows, |rows| {
                rows[2].capture.as_mut().unwrap().offset += 1;
            });
        },
    );
    check(&["LineDisagrees", "VisitDisagrees"], |dir, rows| {
        edit_rows(dir, rows, |rows| {
            rows[2].capture.as_mut().unwrap().length += 1;
        });
    });
    check(&["LineDisagrees", "VisitDisagrees"], |dir, rows| {
        edit_rows(dir, rows, |rows| rows[2].digest = rows[0].digest);
    });
    check(&["LineDisagrees", "VisitDisagrees"], |dir, rows| {
        edit_rows(dir, rows, |rows| rows[2].url = rows[0].url.clone());
    });
    check(&["ClaimedTwice"], |dir, rows| {
        edit_rows(dir, rows, |rows| {
            let twin = rows[2].clone();
            rows[1] = Visit { number: 2, ..twin };
        });
    });
}

#[test]
fn visits_that_are_miscounted() {
    check(&["VisitsMissing"], |dir, rows| {
        edit_rows(dir, rows, |rows| drop(rows.remove(1)));
    });
    check(&["VisitsMissing"], |dir, rows| {
        edit_rows(dir, rows, |rows| drop(rows.remove(5)));
    });
    check(&["VisitRepeated"], |dir, rows| {
        edit_rows(dir, rows, |rows| {
            rows[1].number = 1;
            let mut two = rows[3].clone();
            two.number = 2;
            rows.insert(2, two);
            rows[3].number = 3;
        });
    });
}

#[test]
fn index_lines_that_are_wrong() {
    check(&["RecordWithoutLine"], |dir, _| {
        edit_index(dir, |lines| drop(lines.remove(3)));
    });
    check(&["LineUnsorted"], |dir, _| {
        edit_index(dir, |lines| lines.swap(3, 4));
    });
    check(&["ClaimedTwice"], |dir, _| {
        edit_index(dir, |lines| lines.insert(3, lines[3].clone()));
    });
    check(&["LineUnreadable", "RecordWithoutLine"], |dir, _| {
        edit_index(dir, |lines| {
            lines[3] = lines[3].replace("\"url\"", "\"uri\"");
        });
    });
    check(&["LineDisagrees"], |dir, _| {
        edit_index(dir, |lines| {
            lines[0] = lines[0].replace("\"200\"", "\"201\"");
        });
    });
    check(&["LineWithoutRecord", "RecordWithoutLine"], |dir, _| {
        edit_index(dir, |lines| {
            lines[0] = lines[0].replace("\"offset\": \"", "\"offset\": \"1");
        });
    });
    check(&["FileUnreadable"], |dir, _| {
        let text = fs::read_to_string(dir.cdxj()).unwrap();
        fs::write(dir.cdxj(), format!("{text}half a line")).unwrap();
    });
}

#[test]
fn what_a_running_crawl_is_still_writing_is_no_problem() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rows) = sample::crawl(folder.path(), 8 << 10);
    let open = &warc_files(&dir)[1];
    fs::rename(open, open.with_added_extension("open")).unwrap();
    edit_rows(&dir, &rows, |rows| rows[0].capture = None);
    let owner = Owner {
        pid: 1,
        host: "here".to_owned(),
        started: "now".to_owned(),
    };
    let lock = dir.lock(&owner).unwrap();
    let report = verify(&dir).unwrap();
    assert!(report.is_live);
    assert!(report.is_sound(), "{:#?}", report.problems);
    drop(lock);
    assert!(!verify(&dir).unwrap().is_sound());
}

#[test]
fn a_changed_byte_anywhere_in_a_small_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = sample::Crawl::start(folder.path(), 1 << 20);
    crawl.store(&sample::answers()[0]);
    let (dir, _) = crawl.finish(10);
    let path = &warc_files(&dir)[0];
    let sound = fs::read(path).unwrap();
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] = !bytes[at];
        fs::write(path, &bytes).unwrap();
        assert!(
            !verify(&dir).unwrap().is_sound(),
            "byte {at} of {}",
            sound.len()
        );
    }
}

/// One crawl for all cases of the property below.
static SOUND: LazyLock<(tempfile::TempDir, CrawlDir)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let (dir, _) = sample::crawl(folder.path(), 8 << 10);
    (folder, dir)
});

proptest! {
    #[test]
    fn a_changed_byte_in_any_file_is_noticed(file in 0_usize..2, at: prop::sample::Index) {
        let dir = &SOUND.1;
        let path = &warc_files(dir)[file];
        let sound = fs::read(path).unwrap();
        let mut bytes = sound.clone();
        let at = at.index(bytes.len());
        bytes[at] = !bytes[at];
        fs::write(path, &bytes).unwrap();
        let is_noticed = !verify(dir).unwrap().is_sound();
        fs::write(path, &sound).unwrap();
        prop_assert!(is_noticed, "byte {} of {}", at, path.display());
    }
}

/// A crawl of two partitions, of one host and of all others, without visits left over.
fn crawl_in_partitions(root: &std::path::Path) -> (CrawlDir, usize) {
    let mut crawl = sample::Crawl::start(root, 8 << 10);
    let answers = sample::answers();
    for answer in &answers {
        crawl.store(answer);
    }
    crawl.revisit(&answers[1], geomi_store::warc::RevisitProfile::NotModified);
    crawl.fail("http://www.example.com/none");
    let is_local = |row: &Visit| row.url.as_str().contains("127.0.1.5");
    let (dir, partitions) = crawl.finish_in_partitions(2, |row| if is_local(row) { 4 } else { 12 });
    let sizes: Vec<usize> = partitions.values().map(Vec::len).collect();
    assert_eq!(sizes, [3, 9]);
    (dir, 12)
}

fn problems(dir: &CrawlDir) -> Vec<String> {
    let report = verify(dir).unwrap();
    report.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn each_partition_numbers_its_visits_without_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, visits) = crawl_in_partitions(folder.path());
    let report = verify(&dir).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
    assert_eq!(report.counts.visits, visits as u64);
    let lost = segment::list_of(&dir, Some(12)).unwrap()[1];
    fs::remove_file(lost.table(&dir)).unwrap();
    let gap = Problem::VisitsMissing {
        partition: Some(12),
        first: 3,
        last: 4,
    };
    let report = verify(&dir).unwrap();
    assert!(report.problems.contains(&gap), "{:#?}", report.problems);
    let gaps = report.problems.iter().map(kind);
    assert_eq!(gaps.filter(|kind| kind == "VisitsMissing").count(), 1);
    assert_eq!(gap.to_string(), "visits 3 to 4 of partition 12 are missing");
}

#[test]
fn a_visit_is_named_with_its_partition() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, _) = crawl_in_partitions(folder.path());
    let table = segment::list_of(&dir, Some(4)).unwrap()[0].table(&dir);
    let rows = geomi_store::visits::read_visits(&table).unwrap();
    let mut rows: Vec<Visit> = rows.map(Result::unwrap).collect();
    rows[1].capture.as_mut().unwrap().length += 1;
    geomi_store::visits::write_visits(&table, &rows).unwrap();
    let problems = problems(&dir);
    let says = "the record is not what visit 2 of partition 4 says";
    assert!(
        problems.iter().any(|one| one.ends_with(says)),
        "{problems:#?}"
    );
}

#[test]
fn partitions_have_as_many_visits_as_the_crawl_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, visits) = crawl_in_partitions(folder.path());
    let status = |state: &str, visits: usize| {
        let text = format!(r#"{{"state":"{state}","counters":{{"visits":{visits}}}}}"#);
        fs::write(dir.status(), text).unwrap();
    };
    for (state, counted) in [("done", visits), ("done", 3), ("running", visits + 1)] {
        status(state, counted);
        assert_eq!(problems(&dir), [""; 0], "{state} {counted}");
    }
    status("done", visits + 1);
    assert_eq!(
        problems(&dir),
        ["status.json counts 13 visits, the tables of all partitions reach to 12"]
    );
}
