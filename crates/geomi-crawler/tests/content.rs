//! What becomes of content: types that are not wanted, content that is broken, and
//! pages that break the reader.

mod house;

use std::sync::Arc;

use geomi_crawler::{Control, CrawlConfig, NoFaults, Surroundings, SystemClock, run_with};
use geomi_engine::{SeedInput, Silent, Status};
use geomi_model::{Document, NetworkState, Validity, Visit};
use geomi_page::{Content, Extractor, PageInput, ReadLimits, Readers};
use geomi_scope::ScopeKind;
use geomi_testweb::{FixedPage, SiteBehaviour, WebSpec};

use house::House;

fn page(body: &str) -> FixedPage {
    FixedPage::html(body.to_owned())
}

fn file(mime: &str, body: Vec<u8>) -> FixedPage {
    FixedPage::new(200, body).header("Content-Type", mime)
}

fn site(pages: Vec<(&str, FixedPage)>) -> (House, CrawlConfig) {
    let mut spec = WebSpec::plain(1, 1);
    let pages = pages.into_iter();
    let behaviour = SiteBehaviour {
        fixed: pages.map(|(path, page)| (path.to_owned(), page)).collect(),
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, behaviour)];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    let url = house.server.web().url(0, "/");
    config.seeds = vec![SeedInput { url, topic: None }];
    (house, config)
}

fn visit(house: &House, path: &str) -> Visit {
    let mut visits = house.visits().into_iter();
    let found = visits.rfind(|visit| visit.url.path() == path);
    found.expect("it was visited")
}

/// The verdict of the last visit to a page.
fn verdict(house: &House, path: &str) -> Option<Validity> {
    visit(house, path).validity
}

#[test]
fn bodies_of_unwanted_types_are_not_taken() {
    const FILM_BYTES: usize = 4 << 20;
    let film = || file("video/mp4", vec![7; FILM_BYTES]);
    let front = "<a href=/film>film</a><a href=/icon>icon</a><a href=/page>page</a>\
                 <a href=/feed>feed</a>";
    let feed = "<rss><channel><item><link>/listed</link></item></channel></rss>";
    let pages = || {
        vec![
            ("/", page(front)),
            ("/film", film()),
            ("/icon", file("image/x-icon", vec![0; 100])),
            ("/page", page("a page")),
            ("/feed", file("application/rss+xml", feed.into())),
            ("/listed", page("a page that a feed lists")),
        ]
    };
    let (house, config) = site(pages());
    assert_eq!(
        house.crawl(&config).counters.saved,
        6,
        "everything is wanted"
    );

    let (house, mut config) = site(pages());
    config.engine.scope.mimes_wanted = vec!["text/html".to_owned()];
    let status = house.crawl(&config);
    assert_eq!(status.counters.saved, 3, "the pages");
    assert_eq!(status.counters.failed, 0);
    assert!(status.counters.wire_bytes < FILM_BYTES as u64 / 2);
    for path in ["/film", "/icon"] {
        let visit = visit(&house, path);
        assert_eq!(
            (visit.state, visit.code),
            (NetworkState::Code, Some(200)),
            "{path}"
        );
        assert_eq!(
            (visit.body_bytes, visit.capture, visit.validity),
            (0, None, None),
            "{path}"
        );
        assert!(
            visit
                .error
                .is_some_and(|error| error.contains("not wanted")),
            "{path}"
        );
    }
    assert!(
        visit(&house, "/listed").capture.is_some(),
        "feeds are a way to pages"
    );
    house.verify();
}

#[test]
fn every_visit_has_a_verdict() {
    let front = "<a href=/picture>x</a><a href=/fake>x</a><a href=/long>x</a><a href=/gone>x</a>";
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    let pages = || {
        vec![
            ("/", page(front)),
            ("/picture", file("image/png", picture.clone())),
            ("/fake", file("text/html", picture.clone())),
            ("/long", page(&"x".repeat(100_000))),
        ]
    };
    let (house, mut config) = site(pages());
    config.fetch.body_bytes_max = 50_000;
    let status = house.crawl(&config);
    assert_eq!(verdict(&house, "/"), Some(Validity::WellFormed));
    assert_eq!(verdict(&house, "/picture"), Some(Validity::NotText));
    assert_eq!(verdict(&house, "/fake"), Some(Validity::Broken));
    assert_eq!(verdict(&house, "/long"), Some(Validity::Cut));
    assert_eq!(verdict(&house, "/robots.txt"), None);
    assert!(
        visit(&house, "/fake").capture.is_some(),
        "stored by default"
    );
    let saved = status.counters.saved;

    let (house, mut config) = site(pages());
    config.fetch.body_bytes_max = 50_000;
    config.engine.store_broken = false;
    let status = house.crawl(&config);
    assert_eq!(visit(&house, "/fake").capture, None);
    assert_eq!(
        status.counters.saved,
        saved - 1,
        "what is not stored is not saved"
    );
    house.verify();
}

/// Reads one type, and panics over it.
struct Clumsy;

impl Extractor for Clumsy {
    fn mime(&self) -> &'static str {
        "text/x-clumsy"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        content.mime == self.mime()
    }

    fn read(&self, _: &PageInput<'_>, _: &ReadLimits) -> Document {
        panic!("a page that nobody thought of")
    }
}

fn crawl_clumsily(house: &House, config: &CrawlConfig) -> Status {
    let surroundings = Surroundings {
        clock: Arc::new(SystemClock::default()),
        control: Control::default(),
        observer: &mut Silent,
        steps: &mut NoFaults,
    };
    let readers = || Readers::standard().with(Clumsy);
    run_with(config, &house.dir, surroundings, None, readers).expect("the crawl goes on")
}

#[test]
fn a_page_that_breaks_the_reader_is_put_aside() {
    let front = "<a href=/odd>odd</a><a href=/a>a</a><a href=/b>b</a>";
    let (house, mut config) = site(vec![
        ("/", page(front)),
        ("/odd", file("text/x-clumsy", b"<a href=/never>".to_vec())),
        ("/a", page("a")),
        ("/b", page("b")),
    ]);
    let status = crawl_clumsily(&house, &config);
    assert_eq!(status.counters.saved, 4, "the others, and its bytes");
    let odd = visit(&house, "/odd");
    assert_eq!(odd.validity, Some(Validity::Quarantined));
    assert!(odd.capture.is_some() && odd.links == 0);
    let error = odd.error.expect("it says what happened");
    assert!(error.contains("a page that nobody thought of"), "{error}");
    let files: Vec<_> = std::fs::read_dir(house.dir.quarantine())
        .expect("there is a quarantine")
        .map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text"))
        .collect();
    let [file] = &files[..] else {
        panic!("one file, not {}", files.len());
    };
    assert!(file.contains("/odd\nversion: ") && file.ends_with("\r\n\r\n<a href=/never>"));
    house.verify();

    config.again = true;
    let requests = || {
        house
            .server
            .log()
            .entries()
            .iter()
            .filter(|e| e.target == "/odd")
            .count()
    };
    let status = crawl_clumsily(&house, &config);
    assert_eq!(requests(), 1, "the same version does not ask again");
    assert_eq!(status.counters.refusals.get("quarantined"), Some(&1));
    std::fs::remove_dir_all(house.dir.quarantine()).expect("it can be removed");
    crawl_clumsily(&house, &config);
    assert_eq!(requests(), 2, "once it is released");
}
