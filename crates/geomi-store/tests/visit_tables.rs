//! Visits go into tables and index lines and come back as they were.

mod sample;

use std::net::IpAddr;
use std::time::Duration;

use geomi_model::{
    Capture, CaptureKind, Change, CharsetSource, Digest, Fingerprint, LinkKind, LinkType,
    NetworkState, Phases, Timestamp, Visit,
};
use geomi_store::visits::{VisitWriter, read_visit_columns, read_visits, to_json, write_visits};
use geomi_store::warc::Captures;
use geomi_store::{CrawlDir, StoreError, cdxj, segment};
use geomi_url::CrawlUrl;
use proptest::prelude::*;

fn url() -> impl Strategy<Value = CrawlUrl> {
    "[a-z]{1,8}\\.(com|kr)(:[1-9][0-9]{2})?/[ -~가-힣]{0,30}"
        .prop_map(|rest| CrawlUrl::parse(&format!("http://{rest}")).expect("a URL"))
}

fn span() -> impl Strategy<Value = Option<Duration>> {
    prop::option::of((0_u64..1 << 40).prop_map(Duration::from_micros))
}

fn text() -> impl Strategy<Value = Option<String>> {
    prop::option::of("\\PC{0,20}")
}

prop_compose! {
    fn phases()(dns in span(), connect in span(), tls in span(), first_byte in span(), download in span(), total in 0_u64..1 << 40) -> Phases {
        Phases { dns, connect, tls, first_byte, download, total: Duration::from_micros(total) }
    }
}

prop_compose! {
    fn capture()(file in "[a-z]{1,9}\\.warc\\.gz", offset in 0_u64..1 << 50, length in 0_u64..1 << 30, is_revisit: bool) -> Capture {
        let kind = if is_revisit { CaptureKind::Revisit } else { CaptureKind::Response };
        Capture { file, offset, length, kind }
    }
}

prop_compose! {
    fn asked()(
        number in 1_u64..1 << 60, micros in 0_i64..1 << 52, url in url(), seed in prop::option::of(url()),
        topic in text(), via in prop::option::of(url()), depth: u16, priority: u8, attempt: u8, is_robots: bool,
        ip: Option<IpAddr>,
    ) -> Visit {
        Visit {
            number, time: Timestamp::from_micros(micros), seed, topic, via, depth, priority, attempt, is_robots, ip,
            ..sample::visit(1, url.as_str())
        }
    }
}

prop_compose! {
    fn any_visit()(
        asked in asked(), phases in phases(), capture in prop::option::of(capture()),
        state in prop::sample::select(NetworkState::ALL.to_vec()), code: Option<u16>, error in text(), mime in text(),
        charset in text(), charset_source in prop::option::of(prop::sample::select(vec![CharsetSource::Bom, CharsetSource::Meta, CharsetSource::Detected])),
        sizes: (u32, u32, Option<u32>), digest: Option<[u8; 20]>,
    ) -> Visit {
        Visit {
            phases, capture, state, code, error, mime, charset, charset_source,
            wire_bytes: sizes.0.into(), body_bytes: sizes.1.into(), text_bytes: sizes.2.map(Into::into),
            digest: digest.map(Digest),
            ..asked
        }
    }
}

prop_compose! {
    fn read_visit()(
        visit in any_visit(), fingerprint: Option<u64>, changed: Option<(bool, u32)>,
        location in prop::option::of(url()), title in text(), kinds: Option<(bool, bool)>, links: u32, links_admitted: u32,
    ) -> Visit {
        let link_type = kinds.map(|(anchor, frame)| {
            let some = LinkType::default().with(if anchor { LinkKind::Anchor } else { LinkKind::Other });
            if frame { some.with(LinkKind::Frame) } else { some }
        });
        Visit {
            fingerprint: fingerprint.map(Fingerprint),
            changed: changed.map(|(changed, size)| Change { changed, size: size.into() }),
            location, title, link_type, links, links_admitted,
            ..visit
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_come_back_as_they_were(rows in prop::collection::vec(read_visit(), 1..20)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visits.parquet");
        write_visits(&path, &rows).unwrap();
        let back: Vec<Visit> = read_visits(&path).unwrap().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(back, rows);
    }

    #[test]
    fn a_line_reads_back(visit in read_visit()) {
        let line = cdxj::line(&visit);
        prop_assert_eq!(line.is_some(), visit.capture.is_some());
        if let (Some(line), Some(capture)) = (line, visit.capture) {
            prop_assert!(line.is_ascii());
            let entry = cdxj::Entry::parse(&line).unwrap();
            prop_assert_eq!(entry.timestamp, visit.time.to_compact());
            prop_assert_eq!(entry.fields.url, visit.url.as_str());
            prop_assert_eq!(entry.fields.offset, capture.offset.to_string());
            if capture.kind == CaptureKind::Response {
                prop_assert_eq!(entry.fields.mime, visit.mime);
            }
        }
    }
}

#[test]
fn more_rows_than_a_group_stay_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("visits.parquet");
    let rows: Vec<Visit> = (1..=20_000)
        .map(|n| sample::visit(n, "http://example.com/"))
        .collect();
    write_visits(&path, &rows).unwrap();
    let numbers = read_visits(&path).unwrap().map(|row| row.unwrap().number);
    assert!(numbers.eq(1..=20_000));
}

#[test]
fn some_columns_alone_leave_the_rest_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("visits.parquet");
    let row = Visit {
        topic: Some("news".to_owned()),
        code: Some(200),
        ..sample::visit(7, "http://example.com/page")
    };
    write_visits(&path, std::slice::from_ref(&row)).unwrap();
    let mut rows = read_visit_columns(&path, &["url", "code"]).unwrap();
    let found = rows.next().unwrap().unwrap();
    assert_eq!((&found.url, found.code), (&row.url, Some(200)));
    assert_eq!((found.number, found.topic), (0, None));
    assert!(rows.next().is_none());
}

#[test]
fn every_capture_is_read_by_its_place_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rows) = sample::crawl(folder.path(), 8 << 10);
    let stored = rows
        .iter()
        .filter_map(|row| Some((row, row.capture.as_ref()?)));
    let captures = Captures::of(&dir);
    let mut kinds = [0, 0];
    for (row, capture) in stored {
        let record = captures.read(capture, 1 << 20).unwrap();
        assert_eq!(record.info.field("WARC-Target-URI"), Some(row.url.as_str()));
        assert_eq!(record.bytes.len() as u64, record.info.content_length);
        let is_revisit = capture.kind == CaptureKind::Revisit;
        assert_eq!(record.info.kind() == "revisit", is_revisit);
        kinds[usize::from(is_revisit)] += 1;
        let cut = captures.read(capture, 9).unwrap();
        assert_eq!((&cut.bytes[..], cut.truncated), (&record.bytes[..9], true));
        let info = captures.info(capture).unwrap();
        assert_eq!(info, record.info);
    }
    assert!(kinds[0] > 5 && kinds[1] > 0, "{kinds:?}");
}

#[test]
fn a_table_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = CrawlDir::create(folder.path()).unwrap();
    geomi_store::seeds::write_seeds(&dir, []).unwrap();
    assert_eq!(read_visits(&dir.seeds_table()).unwrap().count(), 0);
    std::fs::write(dir.status(), "{}").unwrap();
    let refused = read_visits(&dir.status()).err().unwrap();
    assert!(matches!(refused, StoreError::Table { .. }));
}

/// The expectation is what `cdxj-indexer --sort` prints for the same records;
/// offsets and lengths depend on the compressor and are left out.
#[test]
fn the_index_is_the_one_the_archives_tool_writes() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rows) = sample::crawl(folder.path(), 8 << 10);
    let index = std::fs::read_to_string(dir.cdxj()).unwrap();
    let lines: Vec<&str> = index
        .lines()
        .map(|line| line.split(", \"length\"").next().unwrap())
        .collect();
    let expected: Vec<&str> = include_str!("data/sample.cdxj").lines().collect();
    assert_eq!(lines, expected);
    let mut made: Vec<String> = rows.iter().filter_map(cdxj::line).collect();
    made.sort();
    assert!(made.iter().eq(index.lines()));
    let segments = segment::list(&dir).unwrap();
    let ranges: Vec<_> = segments
        .iter()
        .map(|segment| (segment.first, segment.last))
        .collect();
    assert_eq!(ranges, [(1, 7), (8, 14), (15, 21), (22, 22)]);
}

#[test]
fn a_table_written_row_by_row_is_the_same_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.parquet");
    // More than two groups of rows.
    let rows = || (1..20_000).map(|number| sample::visit(number, "http://e.com/"));
    let mut writer = VisitWriter::create(&path).expect("a table");
    for row in rows() {
        writer.push(row).expect("room");
    }
    assert!(!path.exists(), "it appears when it is complete");
    writer.finish().expect("room");
    let read = read_visits(&path)
        .expect("a table")
        .map(|row| row.expect("a row"));
    assert!(read.eq(rows()));
}

#[test]
fn json_has_every_column_that_has_a_value() {
    let answer = &sample::answers()[1];
    let object = to_json(&sample::answered(7, answer));
    assert_eq!(object["number"], 7);
    assert_eq!(object["time"], "2026-11-15T12:00:10.500000Z");
    assert_eq!(object["site"], "127.0.1.5:8080");
    assert_eq!(object["is_robots"], false);
    assert_eq!(object["fingerprint"], u64::MAX - 7);
    assert_eq!(object["rtt_us"], 1234);
    assert!(!object.contains_key("via") && !object.contains_key("capture_file"));
}
