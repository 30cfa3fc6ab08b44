//! Freshness as it is reported, against what the test web knows.

use std::fmt::Write as _;

use super::*;

/// When each page was visited by the crawl's own clock, in days, by URL.
fn told_times(place: &Workplace) -> HashMap<String, Vec<f64>> {
    let dir = CrawlDir::new(place.path("c"));
    let mut told: HashMap<String, Vec<f64>> = HashMap::new();
    for segment in segment::list(&dir).unwrap() {
        for visit in read_visits(&segment.table(&dir)).unwrap() {
            let visit = visit.unwrap();
            if visit.capture.is_some() && !visit.is_robots {
                let times = told.entry(visit.url.to_string()).or_default();
                times.push(days(visit.time));
            }
        }
    }
    told
}

/// A crawl and its web, whose clocks differ.
struct Watched {
    /// By URL: when it was copied and when it changed, in days of the web.
    pages: HashMap<String, (Vec<f64>, Vec<f64>)>,
    /// The days that the clock of the refresh run was ahead of the web's.
    ahead: f64,
    /// When all pages had been copied once, by the crawl's clock.
    begun: f64,
}

impl Watched {
    fn new(place: &Workplace, server: &ServerThread) -> Self {
        let (copies, told) = (copies(server), told_times(place));
        // A run that was stopped may not know of its very last requests.
        let pairs = told
            .iter()
            .flat_map(|(url, told)| told.iter().zip(&copies[url]).skip(1));
        let mut ahead: Vec<f64> = pairs.map(|(told, copied)| told - copied).collect();
        ahead.sort_by(f64::total_cmp);
        let page = |page: PageId| {
            let url = server.web().page_url(page.site, page.page).to_string();
            let (from, to) = (START, START + DAY * 60);
            let changes = server.web().changes_between(page.site, page.page, from, to);
            let copies = copies[&url].clone();
            (url, (copies, changes.into_iter().map(days).collect()))
        };
        Self {
            pages: server.web().all_pages().map(page).collect(),
            ahead: ahead[ahead.len() / 2],
            begun: told.values().map(|times| times[0]).fold(0.0, f64::max) + 0.01,
        }
    }

    /// The changes by the crawl's clock, as a history. The time between the two runs
    /// did not pass for the crawl: what happened then happened when the second began.
    fn history(&self) -> String {
        let mut text = String::from("url,time\n");
        for (url, (copies, changes)) in &self.pages {
            writeln!(text, "{url},").unwrap();
            for change in changes.iter().filter(|change| **change > copies[0]) {
                let at = START + DAY.mul_f64((change + self.ahead).max(self.begun));
                writeln!(text, "{url},{}", at.to_rfc3339_millis()).unwrap();
            }
        }
        text
    }

    /// The share of fresh copies and their mean age in hours at a time of the crawl.
    fn truth_at(&self, at: f64) -> (f64, f64) {
        let (at, count) = (at - self.ahead, self.pages.len() as f64);
        let mut ages = 0.0;
        let mut fresh = 0.0;
        for (copies, changes) in self.pages.values() {
            let copy = copies.iter().rfind(|copy| **copy <= at).unwrap();
            let lacks = changes
                .iter()
                .find(|change| *change > copy && **change <= at);
            fresh += if lacks.is_none() { 1.0 } else { 0.0 };
            ages += lacks.map_or(0.0, |change| (at - change) * 24.0);
        }
        (fresh / count, ages / count)
    }
}

#[test]
fn the_report_tells_the_truth_where_it_is_known() {
    let (place, server) = (Workplace::new(), changing_web(12));
    first_crawl(&place, &server, 60);
    let words = ["refresh", "run", "c", "--budget", "1.5", "--max-time", "5d"];
    let done = place.geomi(&[&words[..], &FLAGS].concat());
    assert_eq!(done.code, Some(4), "{done:#?}");

    let watched = Watched::new(&place, &server);
    place.write("changes.csv", &watched.history());
    let words = ["refresh", "report", "c", "--truth", "changes.csv"];
    let report = json(&place, &[&words[..], &["--html", "r.html"]].concat());
    let (mut points, mut off, mut off_h, mut age_h) = (0.0, 0.0, 0.0, 0.0);
    let mut least: f64 = 1.0;
    for point in report["over_time"].as_array().unwrap() {
        let at = Timestamp::parse_rfc3339(point["time"].as_str().unwrap()).unwrap();
        // Some minutes pass between a request and its answer.
        if days(at) < watched.begun + 0.05 {
            continue;
        }
        let (fresh, age) = watched.truth_at(days(at));
        points += 1.0;
        off += (point["true_freshness"].as_f64().unwrap() - fresh).abs();
        off_h += (point["true_age_h"].as_f64().unwrap() - age).abs();
        age_h += age;
        least = least.min(fresh);
    }
    assert!(points > 40.0, "{report:#}");
    assert!(least < 0.95, "there is something to tell: {least}");
    assert!(off / points < 0.015, "{}", off / points);
    assert!(off_h < 0.03 * age_h, "{off_h} of {age_h}");
    assert!(place.read("r.html").contains("</i>true</span>"));

    let human = place.geomi(&words).out;
    assert!(human.contains("(estimated); true "), "{human}");
    let csv = place
        .geomi(&[&words[..], &["--format", "csv"]].concat())
        .out;
    assert!(csv.starts_with("time,freshness,age_h,true_freshness,true_age_h\n"));
    let without = json(&place, &["refresh", "report", "c"]);
    assert!(without["true_freshness"].is_null(), "{without:#}");
    assert!(without["over_time"][9]["true_age_h"].is_null());

    // That a page never changed is a history too; one of other pages is none.
    let url = server.seeds()[0].to_string();
    place.write("one.csv", &format!("url,time\n{url},\n"));
    let one = json(&place, &["refresh", "report", "c", "--truth", "one.csv"]);
    assert_eq!(one["true_freshness"], 1.0, "{one:#}");
    place.write("other.csv", "url,time\nhttp://other.test/,5\n");
    place
        .geomi(&["refresh", "report", "c", "--truth", "other.csv"])
        .fails(2, &["other.csv names no page of this crawl"]);
}
