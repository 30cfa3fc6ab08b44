//! Reports on crawls of several visits a page, written by hand: what a crawl
//! of a test web cannot show in a minute.

use std::path::Path;
use std::time::Duration;

use geomi_crawler::CrawlConfig;
use geomi_model::{
    Capture, Change, CharsetSource, Digest, LinkType, NetworkState, Phases, Timestamp, Visit,
};
use geomi_store::warc::{
    Exchange, GzipLevel, Revisit, RevisitProfile, WarcConfig, WarcWriter, encode_exchange,
    encode_revisit, payload_digest,
};
use geomi_store::{CrawlDir, segment};
use geomi_url::CrawlUrl;
use serde_json::{Value as Json, json};

use crate::report::make_in_shares;
use crate::{Linking, Options, SectionKind};

const DAY: i64 = 86_400;
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

/// Writes visits as a crawl would.
struct Crawl {
    dir: CrawlDir,
    writer: WarcWriter,
    rows: Vec<Visit>,
}

impl Crawl {
    fn start(root: &Path) -> Self {
        let dir = CrawlDir::create(root).unwrap();
        let config = WarcConfig::new(dir.warc(), "test", "w0");
        Self {
            writer: WarcWriter::resume(config, None).unwrap(),
            dir,
            rows: Vec::new(),
        }
    }

    /// The next visit, still without an answer.
    fn visit(&self, day: i64, url: &str) -> Visit {
        Visit {
            number: self.rows.len() as u64 + 1,
            time: Timestamp::from_secs(day * DAY),
            priority: 1,
            attempt: 1,
            state: NetworkState::Ok,
            code: Some(200),
            ip: Some([127, 0, 0, 1].into()),
            mime: Some("text/html".to_owned()),
            charset: Some("UTF-8".to_owned()),
            charset_source: Some(CharsetSource::Header),
            wire_bytes: 100,
            body_bytes: 50,
            text_bytes: Some(5),
            link_type: Some(LinkType::default()),
            links: 1,
            phases: Phases {
                first_byte: Some(Duration::from_millis(20)),
                total: Duration::from_millis(30),
                ..Phases::default()
            },
            ..Visit::unknown(CrawlUrl::parse(url).unwrap())
        }
    }

    /// A page that is stored.
    fn page(&mut self, day: i64, url: &str, changed: Option<bool>, body: &str) {
        let mut visit = self.visit(day, url);
        visit.changed = changed.map(|changed| Change { changed, size: 0 });
        visit.digest = Some(payload_digest(HEAD, body.as_bytes()));
        let exchange = Exchange {
            url: &visit.url,
            time: visit.time,
            serial: visit.number,
            ip: None,
            protocol: geomi_model::Protocol::Http1,
            request: b"GET / HTTP/1.1\r\n\r\n",
            head: HEAD,
            wire_body: body.as_bytes(),
            truncated: None,
            payload_digest: payload_digest(HEAD, body.as_bytes()),
        };
        let encoded = encode_exchange(&exchange, GzipLevel::default());
        self.append(visit, &encoded);
    }

    /// A page whose content is that of the visit `first`.
    fn same(&mut self, day: i64, url: &str, first: usize) {
        let first = self.rows[first - 1].clone();
        let visit = Visit {
            digest: first.digest,
            ..self.visit(day, url)
        };
        let revisit = Revisit {
            url: &visit.url,
            time: visit.time,
            serial: visit.number,
            ip: None,
            protocol: geomi_model::Protocol::Http1,
            request: b"GET / HTTP/1.1\r\n\r\n",
            head: HEAD,
            profile: RevisitProfile::IdenticalPayload,
            payload_digest: visit.digest.unwrap_or(Digest([0; 20])),
            refers_to_url: &first.url,
            refers_to_time: first.time,
        };
        let encoded = encode_revisit(&revisit, GzipLevel::default());
        self.append(visit, &encoded);
    }

    fn append(&mut self, mut visit: Visit, encoded: &geomi_store::warc::Encoded) {
        let at = self.writer.append(&encoded.members, visit.time).unwrap();
        visit.capture = Some(Capture {
            file: at.file,
            offset: at.offset,
            length: encoded.capture_length,
            kind: encoded.kind,
        });
        self.rows.push(visit);
    }

    /// A visit that ends with a code, or with no answer at all.
    fn ends(&mut self, day: i64, url: &str, attempt: u8, code: Option<u16>) {
        let state = match code {
            Some(304) => NetworkState::Ok,
            Some(_) => NetworkState::Code,
            None => NetworkState::ConnectTimeout,
        };
        let visit = self.visit(day, url);
        self.rows.push(Visit {
            attempt,
            state,
            code,
            charset: None,
            links: 0,
            ..visit
        });
    }

    fn redirects(&mut self, day: i64, url: &str, to: &str) {
        self.ends(day, url, 1, Some(301));
        let visit = self.rows.last_mut().unwrap();
        visit.location = Some(CrawlUrl::parse(to).unwrap());
    }

    /// Writes the visits as a crawl of two partitions: one has the site `a.test`.
    fn write_in_partitions(&mut self) {
        self.writer.sync().unwrap();
        self.writer.close().unwrap();
        let is_a = |visit: &&Visit| visit.url.as_str().starts_with("http://a.test/");
        let (ours, others): (Vec<&Visit>, Vec<&Visit>) = self.rows.iter().partition(is_a);
        for (partition, visits) in [(9, ours), (2, others)] {
            let mut rows: Vec<Visit> = visits.into_iter().cloned().collect();
            for (row, number) in rows.iter_mut().zip(1..) {
                row.number = number;
            }
            for rows in rows.chunks(3) {
                segment::write(&self.dir, Some(partition), rows).unwrap();
            }
        }
    }

    /// The report, all of it, in shares of so many pages.
    fn report(&mut self, pages_per_pass: u64) -> Json {
        if segment::list(&self.dir).unwrap().is_empty() {
            self.writer.sync().unwrap();
            self.writer.close().unwrap();
            for rows in self.rows.chunks(4) {
                segment::write(&self.dir, None, rows).unwrap();
            }
        }
        let options = Options {
            sections: SectionKind::ALL.to_vec(),
            top: None,
            known: None,
            linking: Linking::Always,
        };
        let config = CrawlConfig::new(Vec::new());
        let report = make_in_shares(&self.dir, &config, &options, pages_per_pass).unwrap();
        let sections = report.sections.iter();
        let sections = sections.map(|part| (part.kind.as_str().to_owned(), part.to_json()));
        Json::Object(sections.collect())
    }
}

fn row<'a>(section: &'a Json, column: &str, value: &str) -> &'a Json {
    let mut rows = section["rows"].as_array().unwrap().iter();
    rows.find(|row| row[column] == value)
        .unwrap_or_else(|| panic!("no {value} in {section:#}"))
}

#[test]
fn rates_of_a_page_and_its_site() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::start(folder.path());
    let (steady, wild, once) = ("http://a.test/1", "http://a.test/2", "http://a.test/3");
    crawl.page(0, steady, None, "v0");
    crawl.page(0, wild, None, "w0");
    crawl.page(0, once, None, "only");
    for day in [2, 4, 6, 8] {
        crawl.page(day, steady, Some(true), &format!("v{day}"));
    }
    crawl.ends(9, steady, 1, Some(304));
    for day in [1, 2, 5] {
        crawl.page(day, wild, Some(true), &format!("w{day}"));
    }
    // One failure after a try that does not count, and one page that moved.
    crawl.ends(10, wild, 1, None);
    crawl.ends(10, wild, 3, None);
    crawl.redirects(10, once, "http://a.test/4");
    let report = crawl.report(1_000);

    let page = row(&report["pages"], "url", steady);
    assert_eq!(page["visits"], 6);
    assert_eq!(
        (&page["success_rate"], &page["change_rate"]),
        (&json!(1.0), &json!(0.8))
    );
    assert_eq!(page["age_variation"], 0.0, "it changes by the clock");
    assert_eq!(page["mean_age_s"], 2.0 * DAY as f64);
    let page = row(&report["pages"], "url", wild);
    assert_eq!(
        page["visits"], 5,
        "a try that comes again is no visit of its own"
    );
    assert_eq!(
        (&page["failed"], &page["success_rate"]),
        (&json!(1), &json!(0.8))
    );
    assert_eq!(page["age_variation"], 0.5, "ages of one and three days");
    let page = row(&report["pages"], "url", once);
    assert_eq!(page["success_rate"], 1.0, "a redirect is neither");
    assert_eq!(page["change_rate"], Json::Null, "nothing to compare");
    assert_eq!(page["age_variation"], Json::Null);

    let site = row(&report["sites"], "site", "a.test");
    assert_eq!(
        (&site["pages"], &site["age_variation"]),
        (&json!(3), &json!(0.25))
    );
    assert_eq!(site["change_rate"], 7.0 / 8.0);
    let measures = &report["measures"];
    assert_eq!(
        (&measures["urls"], &measures["requests"]),
        (&json!(3), &json!(12))
    );
    let days = measures["days"].as_f64().unwrap();
    assert!((days - 10.0).abs() < 1e-3, "{days}");
    let load = measures["load_ratio"].as_f64().unwrap();
    assert!(
        (load - 0.4).abs() < 1e-3,
        "12 requests, 10 days, 3 URLs: {load}"
    );
}

#[test]
fn dead_links_are_those_of_pages_as_they_are_now() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::start(folder.path());
    let dead = "http://a.test/dir/gone";
    let link = "<a href=gone>x</a>";
    crawl.page(0, "http://a.test/dir/links", None, link);
    crawl.page(0, "http://a.test/dir/mended", None, "<a href=gone>y</a>");
    crawl.page(0, "http://a.test/dir/lost", None, "<a href=gone>z</a>");
    crawl.same(0, "http://a.test/dir/copy", 1);
    crawl.same(0, "http://a.test/elsewhere/copy", 1);
    crawl.ends(0, dead, 1, Some(404));
    crawl.ends(0, "http://a.test/back", 1, Some(410));
    crawl.page(
        1,
        "http://a.test/dir/mended",
        Some(true),
        "nothing any more",
    );
    crawl.ends(1, "http://a.test/dir/lost", 1, Some(404));
    crawl.page(1, "http://a.test/back", None, "here again");
    crawl.ends(1, "http://a.test/dir/links", 1, Some(304));
    crawl.redirects(1, "http://a.test/moved", dead);
    let report = crawl.report(1_000);
    let section = &report["dead_links"];
    assert_eq!(
        (&section["dead"], &section["pages_unreadable"]),
        (&json!(2), &json!(0))
    );
    let found = row(section, "url", dead);
    let expected = [
        "http://a.test/dir/copy",
        "http://a.test/dir/links",
        "http://a.test/moved",
    ];
    assert_eq!(found["linked_from"], json!(expected), "{found:#}");
    assert_eq!(
        (&found["linking_pages"], &found["code"]),
        (&json!(3), &json!(404))
    );
    assert_eq!(
        row(section, "url", "http://a.test/dir/lost")["linking_pages"],
        0
    );

    let duplicates = &report["duplicates"];
    assert_eq!(
        (&duplicates["contents"], &duplicates["redundant_pages"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        duplicates["rows"][0]["first_url"],
        "http://a.test/dir/links"
    );
}

#[test]
fn captures_that_are_gone_are_counted_and_the_rest_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::start(folder.path());
    crawl.page(0, "http://a.test/", None, "<a href=gone>x</a>");
    crawl.ends(0, "http://a.test/gone", 1, Some(404));
    crawl.report(1_000);
    for file in std::fs::read_dir(crawl.dir.warc()).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    let section = &crawl.report(1_000)["dead_links"];
    assert_eq!(section["pages_unreadable"], 1);
    assert_eq!(section["rows"][0]["linking_pages"], 0);
}

#[test]
fn many_shares_tell_what_one_tells() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::start(folder.path());
    for day in 0..6 {
        for page in 0..15_i64 {
            let url = format!("http://{}.test/{page}", page % 4);
            let version = day / (1 + page % 3);
            let before = (day - 1) / (1 + page % 3);
            let changed = (day > 0).then_some(version != before);
            let body = format!("<a href=/gone{}>{version}</a>", page % 2);
            match (day + page) % 7 {
                0 => crawl.ends(day, &url, 1, Some(404)),
                _ => crawl.page(day, &url, changed, &body),
            }
        }
    }
    crawl.ends(6, "http://1.test/gone1", 1, Some(404));
    let whole = crawl.report(1_000);
    assert!(whole["duplicates"]["contents"].as_u64().unwrap() > 3);
    assert!(whole["pages"]["visited_again"].as_u64().unwrap() > 10);
    assert_eq!(crawl.report(10), whole);
    assert_eq!(crawl.report(1), whole);
}

#[test]
fn partitions_tell_what_one_numbering_tells() {
    let fill = |crawl: &mut Crawl| {
        for day in 0..6 {
            for page in 0..10_i64 {
                let site = ["a", "b"][page as usize % 2];
                let url = format!("http://{site}.test/{page}");
                let changed = (day > 0).then_some(day % (page + 1) == 0);
                let version = day / (page + 1);
                let body = format!("<a href=/gone>{site} {version}</a>");
                match (day + page) % 7 {
                    0 => crawl.ends(day, &url, 1, Some(404)),
                    _ => crawl.page(day, &url, changed, &body),
                }
            }
        }
        for site in ["a", "b"] {
            crawl.ends(6, &format!("http://{site}.test/gone"), 1, Some(404));
        }
    };
    // Which of equals stands first depends on the order of the visits.
    let sorted = |mut report: Json| {
        for section in report.as_object_mut().unwrap().values_mut() {
            if let Some(rows) = section["rows"].as_array_mut() {
                rows.sort_by_key(ToString::to_string);
            }
        }
        report
    };
    let (one, several) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut whole = Crawl::start(one.path());
    fill(&mut whole);
    let whole = sorted(whole.report(1_000));
    let mut partitions = Crawl::start(several.path());
    fill(&mut partitions);
    partitions.write_in_partitions();
    assert_eq!(sorted(partitions.report(1_000)), whole);
    assert_eq!(sorted(partitions.report(3)), whole);
    let dead = whole["dead_links"]["rows"].as_array().unwrap();
    assert!(
        dead.iter()
            .any(|row| row["linking_pages"].as_u64() > Some(1))
    );
}

#[test]
fn a_page_given_up_with_its_site_has_failed_without_a_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::start(folder.path());
    crawl.ends(0, "http://a.test/", 1, None);
    let visit = crawl.rows.last_mut().unwrap();
    visit.state = NetworkState::HeaderTimeout;
    visit.phases = Phases::default();
    let report = crawl.report(10);
    let overview = &report["overview"];
    assert_eq!(
        (&overview["failed"], &overview["retried"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(report["measures"]["requests"], 0);
    assert_eq!(report["dead_links"]["dead"], 1);
}
