//! What `geomi export` writes, held against what the crawl knows.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use common::{Done, Workplace};
use geomi_model::{CaptureKind, Visit};
use geomi_store::cdxj::Entry;
use geomi_store::visits::read_visits;
use geomi_store::warc::WarcReader;
use geomi_store::{CrawlDir, Owner, segment};
use geomi_testweb::{
    FixedPage, ServerOptions, ServerThread, SiteBehaviour, SiteCharset, Web, WebSpec,
};

/// Three Korean sites with all that makes an export difficult, at loopback speed.
fn spec() -> WebSpec {
    let mut spec = WebSpec::plain(3, 30);
    let traits = &mut spec.traits;
    (traits.missing, traits.redirects, traits.duplicates) = (0.1, 0.15, 0.15);
    (traits.korean, traits.resources, traits.disallowed) = (1.0, 0.5, 0.05);
    (traits.gzip, traits.chunked) = (0.5, 0.5);
    let charsets = SiteCharset::KOREAN_MIX;
    for (site, charset) in [charsets[0], charsets[4], charsets[7]]
        .into_iter()
        .enumerate()
    {
        let mut behaviour = SiteBehaviour {
            charset: Some(charset),
            ..SiteBehaviour::default()
        };
        if site == 0 {
            behaviour.fixed = special_pages();
        }
        spec.site_overrides.push((site as u32, behaviour));
    }
    spec
}

fn special_pages() -> Vec<(String, FixedPage)> {
    let page = "<!doctype html><html><head><base href=\"/special/\">\
        <link rel=stylesheet href=style.css></head><body background=bg.png>\
        <a href=file>f</a> <a href=\"../special/#here\">self</a> <a href=old>moved</a>\
        <a href=gone>gone</a> <a href=\"?q=1&amp;r=2\">query</a>\
        <img src=bg.png srcset=\"bg.png 1x, /special/none.png 2x\">\
        <form action=file></form></body></html>";
    let css =
        FixedPage::new(200, "body{background:url(bg.png)}").header("Content-Type", "text/css");
    let png = FixedPage::new(200, "not really a picture").header("Content-Type", "image/png");
    let text = FixedPage::new(200, &b"\xC7\xD1\xB1\xDB\n"[..])
        .header("Content-Type", "text/plain; charset=euc-kr");
    let pages = [
        ("/special/", FixedPage::html(page)),
        (
            "/special/?q=1&r=2",
            FixedPage::html("<title>by query</title><a href=/special/>up</a>"),
        ),
        ("/special/style.css", css),
        ("/special/bg.png", png),
        ("/special/file", text),
        (
            "/special/file/below",
            FixedPage::html("<a href='../file'>up</a>"),
        ),
        (
            "/special/old",
            FixedPage::redirect(301, "/special/file/below"),
        ),
        (
            "/special/gone",
            FixedPage::new(410, "gone").header("Content-Type", "text/html"),
        ),
    ];
    pages.map(|(path, page)| (path.to_owned(), page)).into()
}

/// A finished crawl in `out`.
fn crawled() -> (Workplace, ServerThread) {
    let server = ServerThread::start(Web::new(spec()), ServerOptions::default()).unwrap();
    let place = Workplace::new();
    let mut seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    seeds.push(format!("{}special/", seeds[0]));
    place.write("seeds.txt", &seeds.join("\n"));
    let words = "crawl --seeds seeds.txt -o out --site-delay 0s --site-connections 4 --no-progress --scope any";
    let done = place.geomi(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, Some(0), "{done:#?}");
    (place, server)
}

fn rows(place: &Workplace) -> Vec<Visit> {
    let dir = CrawlDir::new(place.path("out"));
    segment::rows(&dir).unwrap().map(Result::unwrap).collect()
}

#[track_caller]
fn export(place: &Workplace, words: &str) -> Done {
    let words = format!("export out --as {words}");
    let done = place.geomi(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, Some(0), "{done:#?}");
    done
}

fn objects(text: &str) -> Vec<serde_json::Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn lines_and_rows_say_what_the_crawl_knows() {
    let (place, _server) = crawled();
    let rows = rows(&place);
    let done = export(&place, "jsonl");
    let counted = format!(
        "exported {0} of {0} visits as jsonl -> standard output\n",
        rows.len()
    );
    assert_eq!(done.err, counted);
    let mut logged = objects(&place.read("out/log.jsonl"));
    logged.sort_by_key(|line| line["n"].as_u64());
    for (object, (row, line)) in objects(&done.out).iter().zip(rows.iter().zip(&logged)) {
        assert_eq!(object["number"], row.number);
        assert_eq!(object["total_us"], row.phases.total.as_micros() as u64);
        assert_eq!(
            object["fingerprint"].as_u64(),
            row.fingerprint.map(|print| print.0)
        );
        for (name, value) in line.as_object().unwrap() {
            match (name.as_str(), value.as_f64()) {
                ("time", _) => {
                    let millis = value.as_str().unwrap().trim_end_matches('Z');
                    assert!(object["time"].as_str().unwrap().starts_with(millis));
                }
                // The log rounds to the microsecond, the table cuts off.
                ("rtt_ms" | "total_ms", Some(millis)) => {
                    let off = (object[name].as_f64().unwrap() - millis).abs();
                    assert!(off < 0.0015, "{name} is off by {off}");
                }
                _ => assert_eq!(&object[name], value, "{name}"),
            }
        }
    }

    let done = export(&place, "urls -o urls.txt --format json");
    let urls: BTreeSet<&str> = rows.iter().map(|row| row.url.as_str()).collect();
    let urls: Vec<&str> = urls.into_iter().collect();
    assert_eq!(place.read("urls.txt").lines().collect::<Vec<_>>(), urls);
    let summary: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(summary["exported"], rows.len());
    assert_eq!(summary["urls"], urls.len());

    export(&place, "parquet -o rows.parquet");
    let read = read_visits(&place.path("rows.parquet")).unwrap();
    assert_eq!(read.map(Result::unwrap).collect::<Vec<_>>(), rows);

    let done = export(&place, "cdxj");
    assert_eq!(done.out, place.read("out/index/index.cdxj"));
    assert!(!place.exists("rows.parquet.tmp"));
}

/// Makes the crawl one of three partitions, each with numbers from 1.
fn split(place: &Workplace) {
    let dir = CrawlDir::new(place.path("out"));
    let mut partitions = BTreeMap::<u16, Vec<Visit>>::new();
    for mut row in rows(place) {
        let partition = (row.url.hash64().0 % 3) as u16;
        let rows = partitions.entry(partition).or_default();
        row.number = rows.len() as u64 + 1;
        rows.push(row);
    }
    for segment in segment::list(&dir).unwrap() {
        std::fs::remove_file(segment.table(&dir)).unwrap();
    }
    for (partition, rows) in partitions {
        segment::write(&dir, Some(partition), &rows).unwrap();
    }
    segment::merge_index(&dir).unwrap();
}

#[test]
fn visits_of_several_partitions_are_exported_by_time() {
    let (place, _server) = crawled();
    let lines = |words: &str| -> Vec<String> {
        let mut lines: Vec<String> = export(&place, words)
            .out
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort_unstable();
        lines
    };
    let formats = ["crawl-log", "changes", "cdxj", "urls"];
    let whole = formats.map(lines);
    split(&place);
    assert_eq!(formats.map(lines), whole);
    let objects = objects(&export(&place, "jsonl").out);
    let mut next: BTreeMap<u64, u64> = BTreeMap::new();
    for object in &objects {
        let next = next.entry(object["p"].as_u64().unwrap()).or_insert(1);
        assert_eq!(object["number"], *next);
        *next += 1;
    }
    assert_eq!(next.len(), 3);
    let few = export(&place, "jsonl --limit 7");
    assert_eq!(few.out.lines().count(), 7);
    let done = place.geomi(&["verify", "out"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
}

#[test]
fn the_crawl_log_has_heritrixs_fields() {
    let (place, server) = crawled();
    let rows = rows(&place);
    let done = export(&place, "crawl-log -o crawl.log");
    assert_eq!(done.out, "");
    let log = place.read("crawl.log");
    assert_eq!(log.lines().count(), rows.len());
    let mut redirected = 0;
    for (line, row) in log.lines().zip(&rows) {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        assert_eq!(fields.len(), 12, "{line}");
        assert_eq!(fields[1], row.code.unwrap().to_string());
        assert_eq!(fields[2], row.body_bytes.to_string());
        assert_eq!(fields[3], row.url.as_str());
        assert!(fields[4] == "-" || fields[4].bytes().all(|hop| b"LREP".contains(&hop)));
        assert_eq!(fields[5], row.via.as_ref().map_or("-", |via| via.as_str()));
        assert_eq!(fields[6], row.mime.as_deref().unwrap_or("-"));
        assert_eq!(fields[7], "#000");
        let began = format!("{}+", row.time.to_compact_millis());
        assert!(fields[8].starts_with(&began), "{line}");
        assert_eq!(fields[9], row.digest.unwrap().to_string());
        assert_eq!(
            fields[10],
            row.seed.as_ref().map_or("-", |seed| seed.as_str())
        );
        assert!(
            fields[0] >= &*row.time.to_rfc3339_millis(),
            "logged after it began"
        );
        redirected += usize::from(fields[4].ends_with('R'));
    }
    assert!(redirected > 0, "{log}");
    let moved = format!("http://127.0.1.1:{}/special/file/below LR ", server.port());
    assert!(log.contains(&moved), "{log}");
}

/// A site with a page that grows after its first visit and one that goes away.
fn changing_site() -> ServerThread {
    let front = "<p>All is well. <a href=/news>news</a> <a href=/gone,now>gone</a>";
    let (short, long) = ("<p>The price is one.", "<p>Bicycles and rain, at length.");
    let pages = [
        ("/", FixedPage::html(front)),
        ("/news", FixedPage::html(short).first_only(1)),
        ("/news", FixedPage::html(long)),
        ("/gone,now", FixedPage::html("<p>Here.").first_only(1)),
        ("/gone,now", FixedPage::new(410, "no more")),
    ];
    let behaviour = SiteBehaviour {
        fixed: pages.map(|(path, page)| (path.to_owned(), page)).into(),
        ..SiteBehaviour::default()
    };
    let mut spec = WebSpec::plain(1, 1);
    spec.site_overrides.push((0, behaviour));
    ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap()
}

#[test]
fn the_change_table_says_what_each_visit_of_a_page_found() {
    let (place, server) = (Workplace::new(), changing_site());
    let seed = server.seeds()[0].to_string();
    for more in [&[][..], &["--again"]] {
        let words = ["crawl", &seed, "-o", "out", "--site-delay", "0s"];
        let done = place.geomi(&[&words[..], &["--no-progress"], more].concat());
        assert_eq!(done.code, Some(0), "{done:#?}");
    }
    let done = export(&place, "changes");
    let mut lines = done.out.lines();
    let header = "time,url,size_fetched,size_changed,changed,found";
    assert_eq!(lines.next(), Some(header));
    let rows: Vec<Visit> = rows(&place).into_iter().filter(|r| !r.is_robots).collect();
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), rows.len(), "{done:#?}");
    let counted = format!("exported {} of ", lines.len());
    assert!(done.err.starts_with(&counted), "{done:#?}");
    for (line, row) in lines.iter().zip(&rows) {
        let start = row.time.to_rfc3339_millis();
        assert!(line.starts_with(&start), "{line}");
    }
    let of = |path: &str| -> Vec<&str> {
        let own = lines.iter().filter(|line| line.contains(path));
        own.map(|line| line.split_once(path).unwrap().1).collect()
    };
    assert_eq!(of("/news,"), ["20,,,first", "32,12,true,changed"]);
    assert_eq!(of("/gone,now\","), ["8,,,first", "7,,,gone"]);
    let front = of(&format!("{seed},"));
    assert!(front[1].ends_with(",0,false,same"), "{front:?}");

    // What is left out is compared with all the same.
    let again = export(&place, "changes --url */news --since 2000-01-01 --limit 2");
    assert_eq!(again.out.lines().count(), 3, "{again:#?}");
    let second = rows.iter().rfind(|row| row.url.path() == "/news");
    let since = second.unwrap().time.to_rfc3339_micros();
    let last = export(&place, &format!("changes --url */news --since {since}"));
    let last: Vec<&str> = last.out.lines().skip(1).collect();
    assert_eq!(last.len(), 1, "{last:?}");
    assert!(last[0].ends_with("32,12,true,changed"), "{last:?}");
}

/// Type, URL and length of each record, by our own reader.
fn records(path: &Path) -> Vec<(String, String, u64)> {
    let mut reader = WarcReader::open(path).unwrap();
    let mut records = Vec::new();
    while let Some(info) = reader.next_record().unwrap() {
        let url = info.field("WARC-Target-URI").unwrap_or("-").to_owned();
        let kind = info.kind().to_owned();
        let length = reader.finish_record().unwrap();
        records.push((kind, url, length));
    }
    records
}

#[test]
fn a_warc_export_has_the_selected_records_as_they_were() {
    let (place, server) = crawled();
    export(&place, "warc -o all.warc.gz");
    let rows = rows(&place);
    let captured: Vec<&Visit> = rows.iter().filter(|row| row.capture.is_some()).collect();
    assert!(
        captured
            .iter()
            .any(|row| row.capture.as_ref().unwrap().kind == CaptureKind::Revisit)
    );
    let all = records(&place.path("all.warc.gz"));
    assert_eq!(all.len(), 1 + 2 * captured.len());
    assert_eq!(all[0].0, "warcinfo");
    for (row, pair) in captured.iter().zip(all[1..].chunks(2)) {
        let capture = row.capture.as_ref().unwrap();
        let kind = match capture.kind {
            CaptureKind::Response => "response",
            CaptureKind::Revisit => "revisit",
        };
        assert_eq!(
            pair[0],
            (kind.to_owned(), row.url.to_string(), capture.length)
        );
        assert_eq!((&*pair[1].0, &*pair[1].1), ("request", row.url.as_str()));
    }

    let site = format!("127.0.1.2:{}", server.port());
    let piped = place
        .command(&[
            "export",
            "out",
            "--as",
            "warc",
            "--site",
            &site,
            "--type",
            "text/html",
        ])
        .output()
        .unwrap();
    place.write("some.warc.gz", "");
    let mut some = std::fs::File::create(place.path("some.warc.gz")).unwrap();
    some.write_all(&piped.stdout).unwrap();
    let some = records(&place.path("some.warc.gz"));
    let expected: BTreeSet<String> = captured
        .iter()
        .filter(|row| row.url.site().as_str() == site && row.mime.as_deref() == Some("text/html"))
        .map(|row| row.url.to_string())
        .collect();
    let found: BTreeSet<String> = some[1..].iter().map(|record| record.1.clone()).collect();
    assert_eq!(found, expected);
    assert_eq!(some.len(), 1 + 2 * expected.len());
}

#[test]
fn index_lines_point_at_records() {
    let (place, _server) = crawled();
    let done = export(&place, "cdxj --code 4xx");
    let lines: Vec<Entry> = done
        .out
        .lines()
        .map(|line| Entry::parse(line).unwrap())
        .collect();
    assert!(!lines.is_empty() && done.out.lines().is_sorted());
    for line in lines {
        let fields = line.fields;
        assert!(fields.status.unwrap().starts_with('4'));
        let path = place.path(&format!("out/warc/{}", fields.filename));
        let mut reader = WarcReader::open_at(&path, fields.offset.parse().unwrap()).unwrap();
        let info = reader.next_record().unwrap().unwrap();
        assert_eq!(info.field("WARC-Target-URI"), Some(&*fields.url));
        assert_eq!(reader.finish_record().unwrap().to_string(), fields.length);
    }
}

#[test]
fn filters_select_exactly() {
    let (place, server) = crawled();
    let rows = rows(&place);
    let middle = rows.iter().map(|row| row.time).max().unwrap();
    let middle = rows
        .iter()
        .filter(|row| row.time < middle)
        .map(|row| row.time)
        .max()
        .unwrap();
    let port = server.port();
    let check = |words: &str, wanted: &dyn Fn(&Visit) -> bool| {
        let found: Vec<u64> = objects(&export(&place, &format!("jsonl {words}")).out)
            .iter()
            .map(|object| object["number"].as_u64().unwrap())
            .collect();
        let expected: Vec<u64> = rows
            .iter()
            .filter(|row| wanted(row))
            .map(|row| row.number)
            .collect();
        assert_eq!(found, expected, "{words}");
        found.len()
    };
    let on = |row: &Visit, host: &str| row.url.host() == host;
    let mime = |row: &Visit, start: &str| row.mime.as_deref().is_some_and(|m| m.starts_with(start));
    assert!(
        check(&format!("--site 127.0.1.1:{port}"), &|row| on(
            row,
            "127.0.1.1"
        )) > 0
    );
    assert_eq!(
        check("--site 127.0.1.1", &|_| false),
        0,
        "another port is another site"
    );
    check("--site *.127.0.1.1 --site *.127.0.1.3", &|row| {
        !on(row, "127.0.1.2")
    });
    assert!(check("--type image/*", &|row| mime(row, "image/")) > 0);
    check("--type text/css --type image/png", &|row| {
        mime(row, "text/css") || mime(row, "image/png")
    });
    assert!(
        check("--code 404 --code 3xx", &|row| {
            row.code.is_some_and(|code| code == 404 || code / 100 == 3)
        }) > 0
    );
    check("--state code", &|row| row.state.as_str() == "code");
    check("--url */special/* --type text/html --state ok", &|row| {
        row.url.path().starts_with("/special/") && mime(row, "text/html") && row.code == Some(200)
    });
    check("--url re:[?]q=", &|row| row.url.as_str().contains("?q="));
    let at = middle.to_rfc3339_micros();
    assert!(check(&format!("--since {at}"), &|row| row.time >= middle) > 0);
    check(&format!("--until {at}"), &|row| row.time < middle);
    check("--since 1h --until 2100-01-01", &|_| true);
    check("--until 1d", &|_| false);
    check("--limit 7", &|row| row.number <= 7);
}

/// Files of a folder by their names with `/`.
fn files(root: &Path, under: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(root.join(under)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{under}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            files(root, &format!("{name}/"), found);
        } else {
            found.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
}

mod mirror;

#[test]
fn what_is_in_the_way_or_missing_is_said() {
    let (place, _server) = crawled();
    let fails = |words: &str, said: &[&str]| {
        place
            .geomi(&words.split(' ').collect::<Vec<_>>())
            .fails(2, said);
    };
    fails(
        "export nowhere --as urls",
        &["nowhere is no crawl directory"],
    );
    fails("export out --as parquet", &["-o"]);
    fails("export out --as files -o -", &["folder"]);
    fails("export out --as wacz", &["wacz"]);
    fails(
        "export out --as urls -o out/urls.txt",
        &["inside the crawl directory"],
    );
    place.write("full.txt", "mine");
    fails("export out --as urls -o full.txt", &["not empty"]);
    assert_eq!(place.read("full.txt"), "mine");
    fails("export out --as files -o .", &["not empty"]);
    fails(
        "export out --as urls --type html --code 4x --since never",
        &["text/html", "4xx", "2h"],
    );
    place.write("empty.txt", "");
    export(&place, "urls -o empty.txt");
    assert!(place.read("empty.txt").starts_with("http://"));
    let none = export(&place, "urls --code 599");
    assert_eq!(none.out, "");
    assert!(none.err.starts_with("exported 0 of "), "{none:#?}");
    assert_eq!(none.last_line(), "");
}

#[test]
fn a_crawl_that_runs_or_was_interrupted_is_exported_with_a_note() {
    let (place, _server) = crawled();
    let dir = CrawlDir::new(place.path("out"));
    let owner = Owner {
        pid: 1,
        host: "elsewhere".into(),
        started: "now".into(),
    };
    let lock = dir.lock(&owner).unwrap();
    let done = export(&place, "urls");
    assert!(
        done.err.starts_with("note: the crawl is running;"),
        "{done:#?}"
    );
    drop(lock);
    assert!(export(&place, "urls").err.starts_with("exported "));
    let mut status: serde_json::Value =
        serde_json::from_str(&place.read("out/status.json")).unwrap();
    let visits = status["counters"]["visits"].as_u64().unwrap();
    status["counters"]["visits"] = (visits + 3).into();
    place.write("out/status.json", &status.to_string());
    let done = export(&place, "urls");
    assert!(
        done.err
            .contains("interrupted and 3 visits are not in visits/"),
        "{done:#?}"
    );
}

#[test]
fn a_full_disk_has_its_own_code() {
    let (place, _server) = crawled();
    for kind in ["jsonl", "urls", "cdxj", "crawl-log", "warc"] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut export = place.command(&["export", "out", "--as", kind]);
        let done = Done::from(export.stdout(full.unwrap()).output().unwrap());
        done.fails(5, &["no space left to write", "run the same command again"]);
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let (place, _server) = crawled();
    let mut child = place
        .command(&["export", "out", "--as", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = Done::from(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert_eq!(done.err, "");
}
