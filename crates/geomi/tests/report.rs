//! `geomi report` against crawls of a web whose truth is known.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::OnceLock;

use common::{Done, Workplace};
use geomi_store::CrawlDir;
use geomi_testweb::{
    ChangeMix, Fault, Latency, PageId, Role, ServerOptions, ServerThread, Web, WebSpec,
};
use serde_json::{Value as Json, json};

/// A web with everything that ends a visit, and nothing that takes time or
/// differs from one fetch to the next.
fn lively_web() -> Web {
    let mut spec = WebSpec::lively(8, 60);
    let traits = &mut spec.traits;
    traits.missing = 0.06;
    traits.failing = 0.03;
    traits.faults = 0.05;
    traits.disallowed = 0.04;
    traits.busy = 0.0;
    traits.crawl_delay_sites = 0.0;
    traits.latency = Latency::None;
    traits.slow_sites = 0.0;
    traits.noise = 0.0;
    traits.resources = 0.0;
    traits.changes = ChangeMix::NEVER;
    Web::new(spec)
}

/// The lively web and a crawl of all of it; made once, for it takes a while.
struct Crawled {
    place: Workplace,
    server: ServerThread,
}

fn crawled() -> &'static Crawled {
    static CRAWLED: OnceLock<Crawled> = OnceLock::new();
    CRAWLED.get_or_init(|| {
        let server = ServerThread::start(lively_web(), ServerOptions::default()).unwrap();
        let place = Workplace::new();
        let topics = ["뉴스", "science"];
        let seeds = server.seeds().into_iter().enumerate();
        let seeds: Vec<String> = seeds
            .map(|(at, url)| format!("{url}\t{}", topics[at % 2]))
            .collect();
        place.write("seeds.txt", &seeds.join("\n"));
        let mut words = vec!["crawl", "--seeds", "seeds.txt", "-o", "out"];
        words.extend(["--scope", "any", "--no-progress", "--site-delay", "0s"]);
        words.extend(["--set", "crawl.retry_wait=10ms"]);
        let done = place.geomi(&words);
        assert_eq!(done.code, Some(0), "{done:#?}");
        assert!(done.last_line().ends_with("(finished) -> out"), "{done:#?}");
        Crawled { place, server }
    })
}

fn json_of(place: &Workplace, words: &[&str]) -> Json {
    let done = place.geomi(&[&["report", "out", "--format", "json"], words].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    serde_json::from_str(&done.out).unwrap()
}

fn rows(section: &Json) -> &[Json] {
    section["rows"].as_array().unwrap()
}

/// One column against another, row by row.
fn pairs(section: &Json, name: &str, value: &str) -> BTreeMap<String, u64> {
    let pair = |row: &Json| {
        let name = match &row[name] {
            Json::String(name) => name.clone(),
            number => number.to_string(),
        };
        (name, row[value].as_u64().unwrap())
    };
    rows(section).iter().map(pair).collect()
}

/// The content a page answers 200 with to a crawler that obeys robots.txt.
fn content_of(web: &Web, id: PageId) -> Option<u32> {
    match web.role(id.site, id.page) {
        Role::Page => Some(id.page),
        Role::DuplicateOf(original) => Some(original),
        _ => None,
    }
}

fn is_dead(web: &Web, id: PageId) -> bool {
    match web.role(id.site, id.page) {
        Role::Missing(_) | Role::Failing => true,
        // Half of a compressed page is a page.
        Role::Faulty(fault) => fault != Fault::TruncatedGzip,
        _ => false,
    }
}

/// Every dead page, with the pages that link to it.
fn dead_links(web: &Web) -> BTreeMap<String, BTreeSet<String>> {
    let url = |id: PageId| web.page_url(id.site, id.page).to_string();
    let dead = web.all_pages().filter(|id| is_dead(web, *id));
    let mut found: BTreeMap<_, BTreeSet<_>> = dead.map(|id| (url(id), BTreeSet::new())).collect();
    for id in web.all_pages() {
        let Some(content) = content_of(web, id) else {
            continue;
        };
        for target in web.links_of(id.site, content) {
            if let Some(linking) = found.get_mut(&url(target)) {
                linking.insert(url(id));
            }
        }
    }
    found
}

#[test]
fn counts_are_those_of_the_crawl_and_of_the_server() {
    let Crawled { place, server } = crawled();
    let report = json_of(place, &["--top", "0"]);
    let status: Json = serde_json::from_str(&place.read("out/status.json")).unwrap();
    let (overview, counters) = (&report["overview"], &status["counters"]);
    for name in [
        "visits",
        "captured",
        "revisits",
        "saved",
        "redirected",
        "failed",
        "retried",
        "refused",
        "links",
        "wire_bytes",
        "body_bytes",
    ] {
        assert_eq!(overview[name], counters[name], "{name}");
        assert!(overview[name].as_u64().unwrap() > 0, "{name} shows nothing");
    }
    let states: BTreeMap<String, u64> = serde_json::from_value(counters["states"].clone()).unwrap();
    assert_eq!(pairs(&report["states"], "state", "visits"), states);

    // The server's side: every request, and every code that no fault broke.
    let log = server.log();
    assert_eq!(report["measures"]["requests"], log.len());
    let codes = pairs(&report["codes"], "code", "visits");
    for (code, count) in log.count_by_status() {
        let told = codes[&code.to_string()];
        if code == 200 {
            assert!(told >= u64::from(count), "some broke after their header");
        } else {
            assert_eq!(told, u64::from(count), "{code}");
        }
    }

    let web = server.web();
    let asked: BTreeSet<String> = log.count_by_url().into_keys().collect();
    let urls = asked.iter().filter(|url| !url.ends_with("/robots.txt"));
    assert_eq!(report["overview"]["urls"], urls.count());
    let saved = web.all_pages().filter(|id| content_of(web, *id).is_some());
    let cut = web.all_pages();
    let cut = cut.filter(|id| web.role(id.site, id.page) == Role::Faulty(Fault::TruncatedGzip));
    assert_eq!(report["overview"]["saved"], saved.count() + cut.count());
    assert_eq!(report["servers"]["addresses"], 8);
    assert_eq!(report["servers"]["sites"], 8);
    assert_eq!(report["robots"]["sites_with_robots"], 8);
    assert_eq!(report["live"], false);
}

#[test]
fn tables_add_up_to_the_overview() {
    let Crawled { place, .. } = crawled();
    let report = json_of(place, &["--top", "0"]);
    let overview = &report["overview"];
    let sum = |section: &str, column: &str| -> u64 {
        let cells = rows(&report[section]).iter();
        cells.map(|row| row[column].as_u64().unwrap()).sum()
    };
    for section in ["depths", "topics", "sites"] {
        for column in ["saved", "failed"] {
            assert_eq!(overview[column], sum(section, column), "{section}");
        }
    }
    assert_eq!(overview["urls"], sum("sites", "pages"));
    assert_eq!(overview["visits"], sum("sites", "visits"));
    assert_eq!(overview["visits"], sum("servers", "visits"));
    assert_eq!(overview["wire_bytes"], sum("sites", "wire_bytes"));
    let topics = pairs(&report["topics"], "topic", "visits");
    assert_eq!(topics.keys().collect::<Vec<_>>(), ["science", "뉴스"]);
    let slowest = rows(&report["slowest_pages"]).iter();
    let times: Vec<f64> = slowest
        .map(|row| row["total_s"].as_f64().unwrap())
        .collect();
    assert!(times.is_sorted_by(|a, b| a >= b) && times.len() > 400);
    let fetched = &report["measures"]["fetched_pages"];
    assert_eq!(*fetched, times.len());
    assert_eq!(report["measures"]["change_rate"], Json::Null);
    assert_eq!(report["pages"]["visited_again"], 0);
}

#[test]
fn dead_links_are_those_of_the_webs_own_graph() {
    let Crawled { place, server } = crawled();
    let expected = dead_links(server.web());
    assert!(expected.len() > 30, "{}", expected.len());
    let report = json_of(place, &["--section", "dead-links", "--top", "0"]);
    let section = &report["dead_links"];
    assert_eq!(section["dead"], expected.len());
    assert_eq!(section["pages_unreadable"], 0);
    let texts =
        |value: &Json| -> BTreeSet<String> { serde_json::from_value(value.clone()).unwrap() };
    let found: BTreeMap<String, BTreeSet<String>> = rows(section)
        .iter()
        .map(|row| {
            let pages = texts(&row["linked_from"]);
            assert_eq!(row["linking_pages"], pages.len(), "{row:#}");
            (row["url"].as_str().unwrap().to_owned(), pages)
        })
        .collect();
    assert_eq!(found, expected);

    let short = json_of(place, &["--section", "dead_links", "--top", "3"]);
    let first = &rows(&short["dead_links"])[0];
    let most = expected.values().map(BTreeSet::len).max().unwrap();
    assert_eq!(first["linking_pages"], most);
    assert_eq!(first["linked_from"].as_array().unwrap().len(), 3);
    assert_eq!(short["dead_links"]["rows_in_all"], expected.len());
    assert_eq!(rows(&short["dead_links"]).len(), 3);
}

#[test]
fn duplicates_are_the_webs_own() {
    let Crawled { place, server } = crawled();
    let web = server.web();
    let mut pages: BTreeMap<PageId, u64> = BTreeMap::new();
    for id in web.all_pages() {
        if let Some(page) = content_of(web, id) {
            *pages.entry(PageId { page, ..id }).or_default() += 1;
        }
    }
    pages.retain(|_, count| *count > 1);
    let expected: u64 = pages.values().sum();
    let report = json_of(place, &["--section", "duplicates", "--top", "0"]);
    let section = &report["duplicates"];
    // Pages cut short by the same fault may be the same as well.
    let web_pages = rows(section).iter().filter(|row| {
        let url = row["first_url"].as_str().unwrap();
        let mut known = web.all_pages();
        known.any(|id| {
            content_of(web, id).is_some() && web.page_url(id.site, id.page).as_str() == url
        })
    });
    let told: Vec<u64> = web_pages
        .map(|row| row["pages"].as_u64().unwrap())
        .collect();
    assert_eq!(told.iter().sum::<u64>(), expected);
    assert_eq!(told.len(), pages.len());
}

#[test]
fn recall_is_the_share_of_a_known_list() {
    let Crawled { place, server } = crawled();
    let web = server.web();
    let of = |wanted: fn(Role) -> bool| {
        let ids = web.all_pages();
        let ids = ids.filter(move |id| wanted(web.role(id.site, id.page)));
        ids.map(|id| web.page_url(id.site, id.page).to_string())
    };
    let saved: Vec<String> = of(|role| role == Role::Page).take(30).collect();
    let gone: Vec<String> = of(|role| matches!(role, Role::Missing(_)))
        .take(4)
        .collect();
    let unknown = ["http://nowhere.test/a", "http://nowhere.test/b"];
    let mut lines: Vec<String> = vec!["# a list".to_owned()];
    // A second spelling of the same URL is the same URL.
    lines.push(saved[0].replace("http://", "HTTP://"));
    lines.extend(saved.iter().chain(&gone).cloned());
    lines.extend(unknown.map(str::to_owned));
    place.write("known.txt", &lines.join("\n"));
    let words = ["--known", "known.txt", "--section", "measures,known"];
    let report = json_of(place, &words);
    let measures = &report["measures"];
    assert_eq!(
        (&measures["known_urls"], &measures["known_saved"]),
        (&json!(36), &json!(30))
    );
    assert_eq!(measures["recall"], 30.0 / 36.0);
    let missing = rows(&report["known"]).iter();
    let missing: BTreeMap<&str, &str> = missing
        .map(|row| (row["url"].as_str().unwrap(), row["found"].as_str().unwrap()))
        .collect();
    let gone = gone.iter().map(|url| (url.as_str(), "not saved"));
    let expected = gone.chain(unknown.map(|url| (url, "not visited")));
    assert_eq!(missing, expected.collect());

    place
        .geomi(&["report", "out", "--known", "none.txt"])
        .fails(2, &["--known: cannot read none.txt"]);
    place
        .geomi(&["report", "out", "--section", "known"])
        .fails(2, &["--known FILE"]);
}

#[test]
fn accuracy_counts_what_the_include_patterns_want() {
    let server =
        ServerThread::start(Web::new(WebSpec::plain(1, 60)), ServerOptions::default()).unwrap();
    let place = Workplace::new();
    let seed = server.seeds()[0].to_string();
    let mut words = vec!["crawl", &seed, "-o", "out", "--include", "*/news/*"];
    words.extend(["--site-delay", "0s", "--no-progress"]);
    assert_eq!(place.geomi(&words).code, Some(0));
    let asked = server.log().count_by_url();
    let news = asked.keys().filter(|url| url.contains("/news/")).count();
    assert!(news > 0);
    let report = json_of(&place, &["--section", "measures"]);
    let measures = &report["measures"];
    assert_eq!(measures["wanted_by"], "include patterns");
    assert_eq!(measures["fetched_pages"], news + 1, "and the seed");
    assert_eq!(measures["wanted_pages"], news);
    let requests = asked.values().sum::<u32>();
    let load = f64::from(requests) / (news + 1) as f64;
    assert_eq!(measures["load_ratio"], load, "all of it in one day");
}

/// Fields of a line of CSV as RFC 4180 has them.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            char => field.push(char),
        }
    }
    fields.push(field);
    fields
}

#[test]
fn csv_is_one_section_and_says_what_json_says() {
    let Crawled { place, .. } = crawled();
    let csv = |section: &str| {
        let words = [
            "report",
            "out",
            "--format",
            "csv",
            "--top",
            "0",
            "--section",
        ];
        let done = place.geomi(&[&words[..], &[section]].concat());
        assert_eq!(done.code, Some(0), "{done:#?}");
        done.out
    };
    for section in ["sites", "dead_links", "topics", "robots"] {
        let text = csv(section);
        let mut lines = text.lines().map(fields);
        let names = lines.next().unwrap();
        let told = json_of(place, &["--section", section, "--top", "0"]);
        let told = rows(&told[section]);
        let found: Vec<Vec<String>> = lines.collect();
        assert_eq!(found.len(), told.len());
        for (line, row) in found.iter().zip(told) {
            assert_eq!(line.len(), names.len());
            for (name, field) in names.iter().zip(line) {
                let expected = match &row[name] {
                    Json::Null => String::new(),
                    Json::String(text) => text.clone(),
                    Json::Array(texts) => {
                        let texts = texts.iter().map(|text| text.as_str().unwrap());
                        texts.collect::<Vec<_>>().join(" ")
                    }
                    number => number.to_string(),
                };
                let is_same = match (field.parse::<f64>(), row[name].as_f64()) {
                    (Ok(field), Some(told)) => (field - told).abs() <= told.abs() * 1e-12,
                    _ => *field == expected,
                };
                assert!(is_same, "{name}: {field} is not {expected}");
            }
        }
    }
    let facts = csv("overview");
    assert!(
        facts.starts_with("name,value\nstate,done\nreason,finished\n"),
        "{facts}"
    );
    place
        .geomi(&["report", "out", "--format", "csv"])
        .fails(2, &["prints one section", "dead_links"]);
    place
        .geomi(&["report", "out", "--section", "deadlinks"])
        .fails(2, &["no section \"deadlinks\"", "dead_links"]);
}

#[test]
fn people_get_tables_and_programs_a_section_a_line() {
    let Crawled { place, .. } = crawled();
    let done = place.geomi(&["report", "out"]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    for heading in [
        "Overview",
        "Measures",
        "Network states",
        "Sites",
        "Dead links (",
    ] {
        let mut lines = done.out.lines();
        assert!(lines.any(|line| line.starts_with(heading)), "{heading}");
    }
    assert!(done.out.lines().all(|line| line.trim_end() == line));
    let done = place.geomi(&["report", "out", "--format", "jsonl"]);
    let names: Vec<Json> = done
        .out
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap()["section"].clone())
        .collect();
    assert_eq!(names.len(), 22, "all but the known list");
    assert_eq!(names[0], "overview");
}

#[test]
fn nothing_to_report_is_said() {
    let place = Workplace::new();
    place
        .geomi(&["report", "nowhere"])
        .fails(2, &["nowhere is no crawl directory"]);
    place
        .geomi(&["report", "."])
        .fails(2, &["no crawl directory"]);
    CrawlDir::create(place.path("out")).unwrap();
    let done = place.geomi(&["report", "out", "--format", "json"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.err.contains("no visits to report yet"), "{done:#?}");
    let report: Json = serde_json::from_str(&done.out).unwrap();
    assert_eq!(report["overview"]["visits"], 0);
    assert_eq!(report["measures"]["load_ratio"], Json::Null);
    assert_eq!(place.geomi(&["report", "out", "-q"]).err, "");
    place.write("out/geomi.toml", "[scope]\ninclude = [\"re:(\"]\n");
    place
        .geomi(&["report", "out"])
        .fails(2, &["out/geomi.toml:2", "include pattern \"re:(\""]);
}

#[test]
fn commands_without_a_table_refuse_csv_before_they_begin() {
    let place = Workplace::new();
    for words in [
        &["crawl", "http://127.0.0.1:1/", "-o", "x"][..],
        &["verify", "x"],
        &["config"],
    ] {
        place
            .geomi(&[words, &["--format", "csv"]].concat())
            .fails(2, &["--format csv", "choose human, json or jsonl"]);
    }
    assert!(!place.exists("x"));
}

#[test]
fn a_running_crawl_is_reported_up_to_its_closed_tables() {
    let mut spec = WebSpec::plain(1, 40);
    spec.traits.missing = 0.4;
    let server = ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap();
    let place = Workplace::new();
    let seed = server.seeds()[0].to_string();
    let mut words = vec!["crawl", &seed, "-o", "out", "--format", "jsonl", "-q"];
    words.extend(["--site-delay", "100ms", "--set", "output.segment_rows=4"]);
    let mut crawl = place
        .command(&words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(crawl.stdout.take().unwrap()).lines();
    let visits = lines.by_ref().take(16).count();
    assert_eq!(visits, 16);
    let done = place.geomi(&["report", "out", "--format", "json"]);
    // Nobody listens any more: the crawl stops.
    drop(lines);
    let crawl = Done::from(crawl.wait_with_output().unwrap());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let report: Json = serde_json::from_str(&done.out).unwrap();
    assert_eq!(report["live"], true, "{crawl:#?}");
    assert!(done.err.contains("is writing"), "{done:#?}");
    let read = report["visits_read"].as_u64().unwrap();
    assert!((4..40).contains(&read), "{read} of at least 16");
    // The stored pages lie in a file that is still open.
    let dead = &report["dead_links"];
    assert!(dead["dead"].as_u64().unwrap() > 0, "{dead:#}");
    assert!(dead["pages_read_again"].as_u64().unwrap() > 0, "{dead:#}");
    assert_eq!(dead["pages_unreadable"], 0);
}
