//! Mistakes of the person at the keyboard: a clear message, the right exit
//! code, and nothing touched.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::Workplace;
use geomi_store::{CrawlDir, Owner};

#[test]
fn all_mistakes_are_told_at_once_with_place_and_remedy() {
    let place = Workplace::new();
    place.write(
        "geomi.toml",
        "[politeness]\nsite_dealy = \"1s\"\nmax_wait = 30\n\n[fetch]\nbody_max = 4096\n",
    );
    place.write("seeds.txt", "http://127.0.0.1/\nhttp://\n");
    let done = place
        .command(&[
            "crawl",
            "https://example.com",
            "--seeds",
            "seeds.txt",
            "-o",
            "x",
            "--site-delay",
            "5",
            "--exclude",
            "re:(unclosed",
            "--robots",
            "ignore",
            "--set",
            "crawl.conections=3",
        ])
        .env("GEOMI_ORDER", "sideways")
        .env("GEOMI_SET", "output.gzip_level=99\nscope.depth")
        .output()
        .unwrap();
    common::Done::from(done).fails(
        2,
        &[
            "geomi.toml:2: unknown key \"politeness.site_dealy\"; did you mean \"politeness.site_delay\"?",
            "geomi.toml:3: politeness.max_wait: 30 has no unit",
            "\"30s\"",
            "geomi.toml:6: fetch.body_max: 4096 has no unit",
            "seeds.txt:2:",
            "--site-delay: politeness.site_delay: 5 has no unit",
            "--exclude: exclude pattern \"re:(unclosed\" is not a regular expression",
            "--i-own-these-hosts",
            "did you mean \"crawl.connections\"?",
            "variable GEOMI_ORDER: crawl.order: \"sideways\" is not one of rtt, round-robin",
            "variable GEOMI_SET: output.gzip_level: 99 is out of range: give 1 to 12",
            "variable GEOMI_SET: \"scope.depth\" is not KEY=VALUE",
            "--contact https://example.org/about-our-crawler",
        ],
    );
    assert!(
        !place.exists("x"),
        "nothing is created for a crawl that cannot start"
    );
}

#[test]
fn a_public_host_needs_a_contact_and_a_pause() {
    let place = Workplace::new();
    let crawl = |more: &[&str]| place.geomi(&[&["crawl", "example.com"], more].concat());
    crawl(&[]).fails(2, &["example.com is not on this machine", "--contact"]);
    let contact = ["--contact", "mailto:me@example.org"];
    crawl(
        &[
            &contact[..],
            &["--site-delay", "0s", "--site-connections", "4"],
        ]
        .concat(),
    )
    .fails(
        2,
        &[
            "--site-delay: a delay under 100ms",
            "--site-connections: several connections",
        ],
    );
    crawl(&["--contact", "me"]).fails(2, &["\"me\" is no contact"]);
    assert!(!place.exists("geomi-example.com"));
}

#[test]
fn seeds_that_cannot_be_read_or_are_missing() {
    let place = Workplace::new();
    place
        .geomi(&["crawl", "--seeds", "nowhere.txt"])
        .fails(2, &["--seeds: cannot read nowhere.txt", "check the path"]);
    place.write("empty.txt", "# nothing yet\n");
    place
        .geomi(&["crawl", "--seeds", "empty.txt"])
        .fails(2, &["empty.txt has no seeds"]);
    place
        .geomi(&["crawl"])
        .fails(2, &["nothing to crawl: give a URL"]);
    place
        .geomi(&["crawl", "-o", "new"])
        .fails(2, &["nothing to crawl"]);
    place
        .geomi(&["crawl", "ftp://example.com/"])
        .fails(2, &["\"ftp\" is not http or https"]);
    assert!(!place.exists("new"));
}

#[test]
fn a_second_writer_is_told_who_is_first() {
    let place = Workplace::new();
    let dir = CrawlDir::create(place.path("busy")).unwrap();
    let owner = Owner {
        pid: 4711,
        host: "crawler-1".into(),
        started: "2026-11-15T09:42:00Z".into(),
    };
    let _lock = dir.lock(&owner).unwrap();
    place
        .geomi(&["crawl", "http://127.0.0.1:1/", "-o", "busy"])
        .fails(
            1,
            &["process 4711 on crawler-1", "or choose another with -o"],
        );
    assert!(!dir.config().exists(), "the refused process wrote nothing");
}

#[test]
fn unknown_flags_and_sections() {
    let place = Workplace::new();
    place
        .geomi(&["crawl", "x.test", "--dept", "3"])
        .fails(2, &["--depth"]);
    place.write("other.toml", "[fetsh]\nx = 1\n");
    place.geomi(&["--config", "other.toml", "config"]).fails(
        2,
        &["other.toml:1: unknown section [fetsh]; did you mean [fetch]?"],
    );
    place
        .geomi(&["--config", "none.toml", "config"])
        .fails(2, &["--config: cannot read none.toml"]);
    place
        .geomi(&["config", "site_delay"])
        .fails(2, &["politeness.site_delay"]);
}

#[test]
fn init_writes_every_key_and_never_twice() {
    let place = Workplace::new();
    assert_eq!(place.geomi(&["init"]).code, Some(0));
    let text = place.read("geomi.toml");
    assert!(text.contains("# site_delay = \"adaptive\""), "{text}");
    let shown = place.geomi(&["config"]);
    assert_eq!(shown.last_line(), "partitions = 1", "it reads back");
    place.geomi(&["init"]).fails(1, &["is there already"]);
}

#[test]
fn config_says_where_a_value_is_from() {
    let place = Workplace::new();
    place.write("geomi.toml", "[crawl]\ntries = 9\n");
    let done = place.geomi(&["config", "crawl.tries"]);
    assert!(
        done.out.contains("crawl.tries = 9  # geomi.toml:2"),
        "{done:?}"
    );
    let done = place.geomi(&[
        "config",
        "crawl.tries",
        "--set",
        "crawl.tries=4",
        "--format",
        "json",
    ]);
    assert_eq!(
        done.out.trim(),
        r#"{"crawl.tries":{"from":"--set","value":"4"}}"#
    );
}

#[test]
fn verify_needs_a_crawl_directory() {
    let place = Workplace::new();
    place
        .geomi(&["verify", "."])
        .fails(2, &["is no crawl directory"]);
}

#[test]
fn every_command_has_an_example_in_its_help() {
    let place = Workplace::new();
    for command in [
        "crawl", "demo", "verify", "report", "init", "config", "bench",
    ] {
        let done = place.geomi(&[command, "--help"]);
        assert_eq!(done.code, Some(0));
        assert!(done.out.contains("Example"), "{command}: {}", done.out);
        assert!(done.out.lines().count() < 80, "{}", done.out);
    }
}
