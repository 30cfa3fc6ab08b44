//! WARC files as they are written, torn, resumed and read back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sample;

use std::fs;
use std::path::Path;

use geomi_model::{Capture, Digest, Protocol, Timestamp, Truncation};
use geomi_store::warc::{
    Captures, Copied, Damage, Encoded, Exchange, GzipLevel, Position, ReadError, RecordInfo,
    WarcConfig, WarcReader, WarcWriter, encode_exchange, payload_digest,
};
use geomi_store::{CrawlDir, StoreError};
use geomi_url::CrawlUrl;
use proptest::prelude::*;

use sample::START;

fn encode(url: &str, body: &[u8]) -> Encoded {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let exchange = Exchange {
        url: &CrawlUrl::parse(url).unwrap(),
        time: START,
        serial: 1,
        ip: None,
        protocol: Protocol::Http1,
        request: b"GET / HTTP/1.1\r\n\r\n",
        head,
        wire_body: body,
        truncated: None,
        payload_digest: payload_digest(head, body),
    };
    encode_exchange(&exchange, GzipLevel::default())
}

fn writer(folder: &Path, committed: Option<&Position>) -> Result<WarcWriter, StoreError> {
    WarcWriter::resume(WarcConfig::new(folder, "test", "w0"), committed)
}

/// Header and block of every record.
fn read_all(path: &Path) -> Result<Vec<(RecordInfo, Vec<u8>)>, ReadError> {
    let mut reader = WarcReader::open(path)?;
    let mut records = Vec::new();
    while let Some(info) = reader.next_record()? {
        let mut block = Vec::new();
        let mut chunk = [0; 1000];
        loop {
            match reader.read_block(&mut chunk)? {
                0 => break,
                len => block.extend_from_slice(&chunk[..len]),
            }
        }
        reader.finish_record()?;
        records.push((info, block));
    }
    Ok(records)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn whatever_was_torn_off_after_the_commit_is_gone_after_resuming() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = writer(folder.path(), None).unwrap();
    first
        .append(&encode("http://example.com/1", b"one").members, START)
        .unwrap();
    let committed = first.sync().unwrap().unwrap();
    first
        .append(&encode("http://example.com/2", b"two").members, START)
        .unwrap();
    first.sync().unwrap();
    drop(first);
    let open = folder.path().join(format!("{}.open", committed.file));
    let whole = fs::read(&open).unwrap();
    for torn_len in committed.offset as usize..=whole.len() {
        fs::write(&open, &whole[..torn_len]).unwrap();
        let mut again = writer(folder.path(), Some(&committed)).unwrap();
        assert_eq!(again.position().as_ref(), Some(&committed));
        let at = again
            .append(&encode("http://example.com/3", b"three").members, START)
            .unwrap();
        assert_eq!(at, committed);
        again.sync().unwrap();
        let records = read_all(&open).unwrap();
        let urls: Vec<_> = records
            .iter()
            .filter_map(|(info, _)| info.field("WARC-Target-URI"))
            .collect();
        assert_eq!(
            urls,
            [
                "http://example.com/1",
                "http://example.com/1",
                "http://example.com/3",
                "http://example.com/3"
            ]
        );
    }
}

#[test]
fn a_file_cut_anywhere_is_noticed_by_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.warc.gz");
    let encoded = encode("http://example.com/", b"content");
    for len in 0..=encoded.members.len() {
        fs::write(&path, &encoded.members[..len]).unwrap();
        let read = read_all(&path);
        let whole = match len as u64 {
            0 => Some(0),
            len if len == encoded.capture_length => Some(1),
            len if len == encoded.members.len() as u64 => Some(2),
            _ => None,
        };
        match (whole, read) {
            (Some(count), Ok(records)) => assert_eq!(records.len(), count),
            (None, Err(ReadError::Damaged { .. })) => {}
            (_, other) => panic!("cut at {len}: {other:?}"),
        }
    }
}

#[test]
fn resuming_follows_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let file = |serial: u32, worker: &str, suffix: &str| {
        format!("test-20261115120000-{serial:05}-{worker}.warc.gz{suffix}")
    };
    let committed = Position {
        file: file(2, "w0", ""),
        offset: 3,
    };
    for name in [
        file(1, "w0", ".open"),
        file(2, "w0", ""),
        file(3, "w0", ""),
        file(4, "w0", ".open"),
        file(7, "w1", ".open"),
        "notes.txt".to_owned(),
    ] {
        fs::write(folder.path().join(name), "12345").unwrap();
    }
    let mut resumed = writer(folder.path(), Some(&committed)).unwrap();
    assert_eq!(
        names(folder.path()),
        [
            "notes.txt".to_owned(),
            file(1, "w0", ""),
            file(2, "w0", ""),
            file(7, "w1", ".open")
        ]
    );
    assert_eq!(
        fs::read(folder.path().join(file(2, "w0", ""))).unwrap(),
        b"123"
    );
    let at = resumed
        .append(&encode("http://example.com/", b"x").members, START)
        .unwrap();
    assert_eq!(at.file, file(3, "w0", ""));
}

#[test]
fn with_nothing_committed_open_files_go_and_closed_ones_stay() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("old-20260101000000-00004-w0.warc.gz"),
        "kept",
    )
    .unwrap();
    fs::write(
        folder
            .path()
            .join("old-20260101000000-00005-w0.warc.gz.open"),
        "lost",
    )
    .unwrap();
    let mut fresh = writer(folder.path(), None).unwrap();
    assert_eq!(
        names(folder.path()),
        ["old-20260101000000-00004-w0.warc.gz"]
    );
    let at = fresh
        .append(&encode("http://example.com/", b"x").members, START)
        .unwrap();
    assert_eq!(at.file, "test-20261115120000-00005-w0.warc.gz");
}

#[test]
fn less_than_was_committed_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let file = "test-20261115120000-00001-w0.warc.gz".to_owned();
    fs::write(folder.path().join(format!("{file}.open")), "123").unwrap();
    let committed = Position { file, offset: 4 };
    let refused = writer(folder.path(), Some(&committed)).err().unwrap();
    assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
}

#[test]
fn a_large_body_is_streamed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.warc.gz");
    let body: Vec<u8> = (0..3_000_000_u32)
        .map(|i| (i.wrapping_mul(i) >> 7) as u8)
        .collect();
    fs::write(&path, encode("http://example.com/", &body).members).unwrap();
    let records = read_all(&path).unwrap();
    assert!(records[0].1.ends_with(&body));
}

#[test]
fn a_false_content_length_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("false.warc.gz");
    for (stated, block) in [(4, "12345"), (6, "12345"), (12, "12345")] {
        let record = format!(
            "WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: {stated}\r\n\r\n{block}\r\n\r\n"
        );
        let mut gzip = flate2::write::DeflateEncoder::new(
            vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff],
            flate2::Compression::fast(),
        );
        std::io::Write::write_all(&mut gzip, record.as_bytes()).unwrap();
        let mut member = gzip.finish().unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(record.as_bytes());
        member.extend(crc.sum().to_le_bytes());
        member.extend(crc.amount().to_le_bytes());
        fs::write(&path, &member).unwrap();
        let error = read_all(&path).unwrap_err();
        assert!(
            matches!(
                error,
                ReadError::Damaged {
                    damage: Damage::ContentLength,
                    offset: 0,
                    ..
                }
            ),
            "{stated}: {error}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_encoded_is_read_back(
        path in "[ -~]{0,60}",
        micros in 0_i64..4_000_000_000_000_000,
        serial: u64,
        ip: Option<std::net::IpAddr>,
        is_http2: bool,
        field in "[!-~]{1,10}: [ -~]{0,40}",
        body in prop::collection::vec(any::<u8>(), 0..5000),
        cut in prop::option::of(prop::sample::select(vec![Truncation::Length, Truncation::Time, Truncation::Disconnect])),
        level in 1_u8..=12,
    ) {
        let url = CrawlUrl::parse(&format!("http://example.com/{path}")).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\n{field}\r\n\r\n");
        let digest: Digest = payload_digest(head.as_bytes(), &body);
        let time = Timestamp::from_micros(micros);
        let protocol = if is_http2 { Protocol::Http2 } else { Protocol::Http1 };
        let exchange = Exchange {
            url: &url, time, serial, ip, protocol, request: b"GET / HTTP/1.1\r\n\r\n",
            head: head.as_bytes(), wire_body: &body, truncated: cut, payload_digest: digest,
        };
        let encoded = encode_exchange(&exchange, GzipLevel::new(level).unwrap());
        prop_assert_eq!(&encoded, &encode_exchange(&exchange, GzipLevel::new(level).unwrap()));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.warc.gz");
        fs::write(&file, &encoded.members).unwrap();
        let records = read_all(&file).unwrap();
        prop_assert_eq!(records.len(), 2);
        let (response, block) = &records[0];
        let (request, asked) = &records[1];
        prop_assert_eq!(response.kind(), "response");
        prop_assert_eq!(response.field("warc-target-uri"), Some(url.as_str()));
        prop_assert_eq!(response.field("WARC-Date").unwrap(), time.to_rfc3339_secs());
        prop_assert_eq!(response.field("WARC-Payload-Digest").unwrap(), digest.to_string());
        prop_assert_eq!(response.field("WARC-Truncated"), cut.map(Truncation::as_str));
        prop_assert_eq!(response.field("WARC-IP-Address").map(str::to_owned), ip.map(|ip| ip.to_string()));
        prop_assert_eq!(response.field("WARC-Protocol"), is_http2.then_some("h2"));
        prop_assert_eq!(request.field("WARC-Protocol"), is_http2.then_some("h2"));
        prop_assert_eq!(block, &[head.as_bytes(), &body].concat());
        prop_assert_eq!(request.kind(), "request");
        prop_assert_eq!(request.offset, encoded.capture_length);
        prop_assert_eq!(request.field("WARC-Concurrent-To"), response.field("WARC-Record-ID"));
        prop_assert_eq!(asked.as_slice(), b"GET / HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn foreign_bytes_do_not_upset_the_reader(bytes in prop::collection::vec(any::<u8>(), 1..400), is_ours: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.warc.gz");
        let mut file = if is_ours { vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff] } else { Vec::new() };
        file.extend(bytes);
        fs::write(&path, &file).unwrap();
        prop_assert!(read_all(&path).is_err());
    }
}

/// Two captures in a directory, the file still being written.
fn two_captures() -> (tempfile::TempDir, CrawlDir, [(Capture, Encoded); 2]) {
    let folder = tempfile::tempdir().unwrap();
    let dir = CrawlDir::create(folder.path()).unwrap();
    let mut writer = writer(&dir.warc(), None).unwrap();
    let captures = ["http://e.com/1", "http://e.com/2"].map(|url| {
        let encoded = encode(url, format!("body of {url}").repeat(50).as_bytes());
        let at = writer.append(&encoded.members, START).unwrap();
        let capture = Capture {
            file: at.file,
            offset: at.offset,
            length: encoded.capture_length,
            kind: encoded.kind,
        };
        (capture, encoded)
    });
    writer.sync().unwrap();
    (folder, dir, captures)
}

#[test]
fn single_captures_are_copied_with_their_requests() {
    let (_folder, dir, captures) = two_captures();
    for (capture, encoded) in &captures {
        let mut out = Vec::new();
        let copied = Captures::of(&dir)
            .copy(capture, &mut out, Path::new("out"))
            .unwrap();
        assert_eq!(out, encoded.members);
        assert_eq!(
            copied,
            Copied {
                bytes: encoded.members.len() as u64,
                has_request: true
            }
        );
    }
    let block = Captures::of(&dir).read(&captures[1].0, 1 << 20).unwrap();
    assert_eq!(block.info.field("WARC-Target-URI"), Some("http://e.com/2"));
    let bytes = block.bytes;
    assert!(bytes.starts_with(b"HTTP/1.1 200 OK\r\n") && bytes.ends_with(b"http://e.com/2"));
    let block = Captures::of(&dir).read(&captures[0].0, 10).unwrap();
    assert!(block.truncated, "longer than wanted");
}

#[test]
fn a_capture_that_is_not_what_was_said_is_an_error() {
    let (_folder, dir, [(capture, _), _]) = two_captures();
    let fails = |capture: &Capture| {
        let mut out = Vec::new();
        let error = Captures::of(&dir)
            .copy(capture, &mut out, Path::new("out"))
            .unwrap_err();
        assert_eq!(out, b"", "nothing is copied");
        error.to_string()
    };
    let length = capture.length + 1;
    let longer = Capture {
        length,
        ..capture.clone()
    };
    assert!(fails(&longer).contains("no capture of"));
    let request = Capture {
        offset: capture.offset + capture.length,
        ..capture.clone()
    };
    assert!(fails(&request).contains("no capture of"));
    let gone = Capture {
        file: "none.warc.gz".to_owned(),
        ..capture.clone()
    };
    assert!(fails(&gone).contains("none.warc.gz"));
    let path = dir.warc().join(format!("{}.open", capture.file));
    let mut bytes = fs::read(&path).unwrap();
    bytes[(capture.offset + capture.length) as usize - 20] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(fails(&capture).contains("is damaged at"));
}
