//! URLs of which a crawl has no copy: asked for again while it is kept fresh.

use geomi_testweb::{FixedPage, ServerOptions, ServerThread, SiteBehaviour, Web, WebSpec};

use crate::common::Workplace;
use crate::{FLAGS, visits};

/// A site with a page that is closed for its first two requests and leads to another, one
/// that is not there, and one that is elsewhere.
fn site() -> ServerThread {
    let closed = FixedPage::new(403, "closed").first_only(2);
    let fixed = vec![
        (
            "/".into(),
            FixedPage::html(
                "<p>All. <a href=/later>1</a> <a href=/gone>2</a> <a href=/moved>3</a>",
            ),
        ),
        ("/later".into(), closed),
        (
            "/later".into(),
            FixedPage::html("<p>Open at last. <a href=/behind>behind</a>"),
        ),
        ("/behind".into(), FixedPage::html("<p>Nobody knew of this.")),
        ("/gone".into(), FixedPage::new(404, "no")),
        ("/moved".into(), FixedPage::redirect(302, "/")),
    ];
    let mut spec = WebSpec::plain(1, 1);
    let behaviour = SiteBehaviour {
        fixed,
        ..SiteBehaviour::default()
    };
    spec.site_overrides.push((0, behaviour));
    ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap()
}

/// How often a path was asked for.
fn asked(server: &ServerThread, path: &str) -> usize {
    let log = server.log();
    log.entries()
        .iter()
        .filter(|one| one.target == path)
        .count()
}

#[test]
fn what_did_not_come_at_first_is_asked_for_again() {
    let (place, server) = (Workplace::new(), site());
    let seed = server.seeds()[0].to_string();
    let done = place.geomi(&[&["crawl", &seed, "-o", "c"][..], &FLAGS].concat());
    assert!(
        done.last_line().starts_with("done: 1 saved, 2 failed"),
        "{done:#?}"
    );
    let plan = place.geomi(&["refresh", "plan", "c"]);
    assert!(plan.out.contains("Beside them 3 URLs"), "{plan:#?}");
    let gone = format!("{seed}gone");
    place.geomi(&["refresh", "explain", "c", &gone]).fails(
        2,
        &["no visit to it has brought one", "asks for it again at"],
    );
    // After a day, two more, and four more: the page comes with the second of them.
    let words = ["refresh", "run", "c", "--max-time", "6d"];
    let done = place.geomi(&[&words[..], &FLAGS].concat());
    assert_eq!(done.code, Some(4), "{done:#?}");
    assert_eq!(
        asked(&server, "/gone"),
        1,
        "it is left alone for the longest gap"
    );
    assert_eq!(asked(&server, "/moved"), 3, "it may lead elsewhere by now");
    assert!(asked(&server, "/later") >= 3);
    assert!(
        asked(&server, "/behind") >= 1,
        "links of what came are followed"
    );
    let mut pages: Vec<String> = visits(&place).into_keys().collect();
    pages.sort();
    let expected = ["", "behind", "later"].map(|path| format!("{seed}{path}"));
    assert_eq!(pages, expected, "nothing else is a page of the plan");
    assert_eq!(place.geomi(&["verify", "c"]).code, Some(0));
}
