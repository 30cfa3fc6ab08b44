//! Presets and tables of sites, from what is written to what the server sees.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Done, Workplace};
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};

fn serve(sites: u32, pages: u32) -> ServerThread {
    let web = Web::new(WebSpec::plain(sites, pages));
    ServerThread::start(web, ServerOptions::default()).unwrap()
}

/// Pages asked of a site, robots.txt left out.
fn asked(server: &ServerThread, site: u32) -> usize {
    let entries = server.log().entries();
    let pages = entries.iter().filter(|entry| entry.target != "/robots.txt");
    pages.filter(|entry| entry.site == Some(site)).count()
}

/// Every value that `geomi config --format json` shows, with its origin.
fn shown(place: &Workplace, words: &[&str]) -> serde_json::Value {
    let done = place.geomi(&[&["config", "--format", "json"], words].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn the_robot_of_2003_has_all_its_numbers() {
    let all = shown(&Workplace::new(), &["--set", "preset=robot-2003"]);
    for (path, value) in [
        ("crawl.connections", "30"),
        ("crawl.sites_in_memory", "450"),
        ("crawl.tries", "1"),
        ("politeness.site_delay", "\"adaptive\""),
        ("politeness.adaptive_floor", "\"30s\""),
        ("politeness.adaptive_factor", "10"),
        ("fetch.connect_timeout", "\"5s\""),
        ("fetch.silence_timeout", "\"5s\""),
        ("fetch.body_max", "\"2MiB\""),
        ("scope.kind", "\"party\""),
        ("scope.depth", "5"),
        ("scope.url_chars_max", "255"),
        ("scope.seed_chars_max", "100"),
        ("scope.mimes_wanted", "[\"text/html\"]"),
        ("scope.party_urls_max", "640000"),
    ] {
        assert_eq!(all[path]["value"], value, "{path}");
        assert_eq!(all[path]["from"], "preset robot-2003", "{path}");
    }
    assert!(all["politeness.adaptive_ceiling"]["value"].is_null());
    assert_eq!(all["preset"]["value"], "\"robot-2003\"");
    assert_eq!(all["crawl.retry_wait"]["from"], "default");
}

#[test]
fn a_preset_is_named_anywhere_and_beaten_by_everything() {
    let place = Workplace::new();
    place.write(
        "geomi.toml",
        "preset = \"archive\"\n[output]\ngzip_level = 9\n",
    );
    let done = place.geomi(&["config"]);
    assert!(done.out.contains("preset = \"archive\"  # geomi.toml:1\n"));
    assert!(done.out.contains("gzip_level = 9  # geomi.toml:3\n"));
    assert!(done.out.contains("tries = 5  # preset archive\n"));
    let done = place.geomi(&["config", "fetch.body_max"]);
    assert!(done.out.contains("# Why: "), "{}", done.out);
    assert!(done.out.contains("\"128MiB\"  # preset archive"));
    let done = place
        .command(&["config", "crawl.tries", "--order", "fifo"])
        .env("GEOMI_PRESET", "search")
        .output()
        .unwrap();
    let done = Done::from(done);
    assert!(
        done.out.contains("crawl.tries = 2  # preset search"),
        "{done:#?}"
    );

    let server = serve(1, 3);
    let seed = server.seeds()[0].to_string();
    let quick = ["-q", "--site-delay", "0s"];
    let done = place
        .command(&[&["crawl", &seed, "-o", "a"], &quick[..]].concat())
        .env("GEOMI_PRESET", "search")
        .output();
    assert_eq!(Done::from(done.unwrap()).code, Some(0));
    let used = place.read("a/geomi.toml");
    assert!(used.contains("preset = \"search\"\n"), "{used}");
    assert!(used.contains("connections = 512\n") && used.contains("gzip_level = 9\n"));
    assert!(
        used.contains("site_delay = \"0s\"\n"),
        "the flag is stronger"
    );

    // The directory's file says everything: another preset has no say.
    let done = place.geomi(&[&["crawl", "-o", "a", "--preset", "polite"], &quick[1..]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(
        done.err.contains("preset polite changes nothing"),
        "{done:#?}"
    );
    assert_eq!(place.read("a/geomi.toml"), used);
}

#[test]
fn an_unknown_preset_gets_a_suggestion_and_the_list() {
    let place = Workplace::new();
    place.write("geomi.toml", "preset = \"robot2003\"\n");
    place.geomi(&["config", "--set", "preset=fast"]).fails(
        2,
        &[
            "geomi.toml:1: preset: \"robot2003\" is not one of robot-2003, archive, search, polite; \
             did you mean \"robot-2003\"?",
            "--set: preset: \"fast\" is not one of robot-2003, archive, search, polite",
        ],
    );
}

#[test]
fn tables_of_sites_take_effect_and_are_kept_for_the_next_run() {
    let (place, server) = (Workplace::new(), serve(2, 12));
    let site = |number| server.web().url(number, "/").site().to_string();
    let table = format!(
        "[[site]]\nmatch = \"{}\"\nmax_pages = 4\nsite_delay = \"20ms\"\nsite_connections = 2\n",
        site(0)
    );
    place.write("geomi.toml", &table);
    let seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    let crawl = ["crawl", &seeds[0], &seeds[1], "-o", "out", "-q"];
    let done = place.geomi(&[&crawl[..], &["--scope=any", "--site-delay=0s"]].concat());
    assert_eq!(done.code, Some(4), "8 pages are left: {done:#?}");
    assert_eq!(asked(&server, 0), 4);
    let other = asked(&server, 1);
    assert!(other > 4, "{other}");

    let used = place.read("out/geomi.toml");
    assert!(used.contains(&format!("[[site]]\nmatch = [\"{}\"]\n", site(0))));
    place.write("geomi.toml", "");
    let done = place.geomi(&["crawl", "-o", "out", "-q"]);
    assert_eq!(done.code, Some(4), "{done:#?}");
    assert_eq!(asked(&server, 0), 4, "the bound is remembered");

    let values = shown(&place, &["-o", "out", "--site", &seeds[0]]);
    assert_eq!(values["max_pages"]["value"], "4");
    let from = values["max_pages"]["from"].as_str().unwrap();
    assert!(from.starts_with("out/geomi.toml:"), "{from}");
    let words = ["config", "-o", "out", "--site", &seeds[1], "site_delay"];
    let done = place.geomi(&words);
    assert!(done.out.contains("site_delay = \"0s\"  # out/geomi.toml:"));
    let done = place.geomi(&["config", "--site", "x.example", "crawl.tries"]);
    assert!(done.out.contains("crawl.tries = 3  # default"), "{done:#?}");
}

#[test]
fn tables_of_sites_keep_the_rules_of_the_whole() {
    let place = Workplace::new();
    place.write(
        "geomi.toml",
        "[[site]]\nmatch = \"shop.example\"\nsite_delay = \"0s\"\nsite_connections = 3\nrobots = \"ignore\"\n\n\
         [[site]]\nmatch = \"127.0.0.1:81\"\nsite_delay = \"0s\"\nsite_connections = 3\n\n\
         [[site]]\nmatch = \"*.example/x\"\nmax_page = 3\n",
    );
    let done = place.geomi(&["crawl", "http://127.0.0.1:1/"]);
    done.fails(
        2,
        &[
            "geomi.toml:3: a delay under 100ms",
            "shop.example is not one",
            "geomi.toml:4: several connections",
            "geomi.toml:5: robots.txt may be ignored only on hosts of your own",
            "geomi.toml:13: site \"*.example/x\" is more than host and port",
            "geomi.toml:14: unknown key \"max_page\" in [[site]]; did you mean \"max_pages\"?",
        ],
    );
    assert!(!done.err.contains("geomi.toml:9"), "{}", done.err);
    place
        .geomi(&["config", "--set", "site.depth=1"])
        .fails(2, &["in a table [[site]]"]);
    place
        .geomi(&["config", "--site", "ftp://x"])
        .fails(2, &["--site: "]);
}
