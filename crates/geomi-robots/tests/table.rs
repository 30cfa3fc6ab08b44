//! A table of cases: one file, one robot, one path, one answer.
//!
//! What RFC 9309 decides stands first, section by section; then what search
//! engines document beyond it. Each row stands for itself, so that one that fails
//! names what is broken.

use std::time::Duration;

use geomi_robots::Robots;

/// File, robot, path, whether it may be asked for.
type Case = (&'static [u8], &'static str, &'static str, bool);

const RFC_9309: [Case; 62] = [
    // 2.1, 2.2: groups and rules.
    (b"", "geomi", "/", true),
    (b"User-agent: *\nDisallow: /", "geomi", "/", false),
    (b"User-agent: *\nDisallow: /", "geomi", "/robots.txt", true),
    (
        b"User-agent: *\nDisallow: /",
        "geomi",
        "/any/page?x=1",
        false,
    ),
    (b"User-agent: *\nDisallow:", "geomi", "/x", true),
    (b"User-agent: *\nAllow:\nDisallow: /x", "geomi", "/x", false),
    (b"Disallow: /x\nUser-agent: *\n", "geomi", "/x", true),
    (
        b"User-agent: a\nUser-agent: geomi\nDisallow: /x",
        "geomi",
        "/x",
        false,
    ),
    (
        b"User-agent: a\nDisallow: /x\nUser-agent: geomi\nDisallow: /y",
        "geomi",
        "/x",
        true,
    ),
    (
        b"User-agent: a\nDisallow: /x\nUser-agent: geomi\nDisallow: /y",
        "geomi",
        "/y",
        false,
    ),
    (
        b"User-agent: a\n\n\nUser-agent: geomi\n\nDisallow: /x",
        "a",
        "/x",
        false,
    ),
    // 2.2.1: which group holds.
    (b"User-agent: geomi\nDisallow: /x", "GEOMI", "/x", false),
    (b"USER-AGENT: GeOmI\nDISALLOW: /x", "geomi", "/x", false),
    (
        b"User-agent: *\nDisallow: /\nUser-agent: geomi\nAllow: /",
        "geomi",
        "/x",
        true,
    ),
    (
        b"User-agent: geomi\nAllow: /\nUser-agent: *\nDisallow: /",
        "geomi",
        "/x",
        true,
    ),
    (
        b"User-agent: geomi\nDisallow: /x\nUser-agent: *\nDisallow: /y",
        "geomi",
        "/y",
        true,
    ),
    (
        b"User-agent: geomi\nDisallow: /x\nUser-agent: geomi\nDisallow: /y",
        "geomi",
        "/x",
        false,
    ),
    (
        b"User-agent: geomi\nDisallow: /x\nUser-agent: geomi\nDisallow: /y",
        "geomi",
        "/y",
        false,
    ),
    (
        b"User-agent: *\nDisallow: /x\nUser-agent: *\nDisallow: /y",
        "geomi",
        "/x",
        false,
    ),
    (b"User-agent: geo\nDisallow: /", "geomi", "/x", true),
    (b"User-agent: geomi2\nDisallow: /", "geomi", "/x", true),
    (b"User-agent: xgeomi\nDisallow: /", "geomi", "/x", true),
    (b"User-agent: geomi/1.0\nDisallow: /x", "geomi", "/x", false),
    (b"User-agent: geomi bot\nDisallow: /x", "geomi", "/x", false),
    (
        b"User-agent: geomi\nUser-agent: *\nDisallow: /",
        "other",
        "/x",
        false,
    ),
    // 2.2.2: the longest match, in octets, and allow in a tie.
    (
        b"User-agent: *\nDisallow: /a\nAllow: /a/b",
        "geomi",
        "/a/b/c",
        true,
    ),
    (
        b"User-agent: *\nAllow: /a/b\nDisallow: /a",
        "geomi",
        "/a/b/c",
        true,
    ),
    (
        b"User-agent: *\nAllow: /a\nDisallow: /a/b",
        "geomi",
        "/a/b/c",
        false,
    ),
    (
        b"User-agent: *\nDisallow: /a\nAllow: /a",
        "geomi",
        "/a",
        true,
    ),
    (
        b"User-agent: *\nAllow: /a\nDisallow: /a",
        "geomi",
        "/a",
        true,
    ),
    (
        b"User-agent: *\nDisallow: /\nAllow: /p",
        "geomi",
        "/page",
        true,
    ),
    (b"User-agent: *\nDisallow: /\nAllow: /$", "geomi", "/", true),
    (
        b"User-agent: *\nDisallow: /\nAllow: /$",
        "geomi",
        "/page",
        false,
    ),
    (
        b"User-agent: *\nAllow: /page\nDisallow: /*.htm",
        "geomi",
        "/page.htm",
        false,
    ),
    (
        b"User-agent: *\nAllow: /page\nDisallow: /*.ph",
        "geomi",
        "/page.php5",
        true,
    ),
    (b"User-agent: *\nDisallow: /Path", "geomi", "/path", true),
    (b"User-agent: *\nDisallow: /path", "geomi", "/PATH", true),
    (b"User-agent: *\nDisallow: /x", "geomi", "/a/x", true),
    (b"User-agent: *\nDisallow: /x", "geomi", "/xyz", false),
    (b"User-agent: *\nDisallow: /x/", "geomi", "/x", true),
    // 2.2.2: escapes are compared in one spelling.
    (b"User-agent: *\nDisallow: /%61", "geomi", "/a", false),
    (b"User-agent: *\nDisallow: /a", "geomi", "/%61", false),
    (b"User-agent: *\nDisallow: /a%3cd", "geomi", "/a%3Cd", false),
    (b"User-agent: *\nDisallow: /a%2fb", "geomi", "/a/b", true),
    (b"User-agent: *\nDisallow: /a/b", "geomi", "/a%2Fb", true),
    (
        "User-agent: *\nDisallow: /한글".as_bytes(),
        "geomi",
        "/%ED%95%9C%EA%B8%80",
        false,
    ),
    (
        b"User-agent: *\nDisallow: /%ed%95%9c",
        "geomi",
        "/%ED%95%9C%EA%B8%80",
        false,
    ),
    (
        "User-agent: *\nDisallow: /foo/bar/ツ".as_bytes(),
        "geomi",
        "/foo/bar/%E3%83%84",
        false,
    ),
    (
        b"User-agent: *\nDisallow: /foo/bar/%62%61%7A",
        "geomi",
        "/foo/bar/baz",
        false,
    ),
    // 2.2.3: the special characters.
    (b"User-agent: *\nDisallow: /*/x", "geomi", "/a/b/x", false),
    (b"User-agent: *\nDisallow: *x", "geomi", "/a/x", false),
    (
        b"User-agent: *\nDisallow: /a*b*c",
        "geomi",
        "/a1b2c3",
        false,
    ),
    (b"User-agent: *\nDisallow: /a*b*c", "geomi", "/a1c2b3", true),
    (
        b"User-agent: *\nDisallow: /*.gif$",
        "geomi",
        "/a.gif",
        false,
    ),
    (
        b"User-agent: *\nDisallow: /*.gif$",
        "geomi",
        "/a.gif?x",
        true,
    ),
    (b"User-agent: *\nDisallow: /a$b", "geomi", "/a", true),
    (b"User-agent: *\nDisallow: /a%24", "geomi", "/a$", false),
    (b"User-agent: *\nDisallow: /a%2A", "geomi", "/ab", true),
    (
        b"User-agent: *\nDisallow: /x # not this",
        "geomi",
        "/x",
        false,
    ),
    (b"User-agent: *#all\nDisallow: /x#y", "geomi", "/xz", false),
    // 2.2.4: other records do not end a group.
    (
        b"User-agent: geomi\nSitemap: /s\nDisallow: /x",
        "geomi",
        "/x",
        false,
    ),
    (
        b"User-agent: geomi\nNoindex: /y\nHost: e\nUser-agent: b\nDisallow: /x",
        "geomi",
        "/x",
        false,
    ),
];

const SEARCH_ENGINES: [Case; 40] = [
    // Line ends and marks.
    (
        b"\xEF\xBB\xBFUser-agent: *\nDisallow: /x",
        "geomi",
        "/x",
        false,
    ),
    (b"\xEF\xBBUser-agent: *\nDisallow: /x", "geomi", "/x", false),
    (b"User-agent: *\r\nDisallow: /x\r\n", "geomi", "/x", false),
    (b"User-agent: *\rDisallow: /x\r", "geomi", "/x", false),
    (b"User-agent: *\n\r\n\rDisallow: /x", "geomi", "/x", false),
    (b"User-agent: *\nDisallow: /x", "geomi", "/x", false),
    (
        b"  User-agent :\t*  \n\tDisallow\t: /x\t\n",
        "geomi",
        "/x",
        false,
    ),
    (b"User-agent: *\nDisallow:/x", "geomi", "/x", false),
    (b"\0\0User-agent: *\nDisallow: /x", "geomi", "/x", true),
    // Misspellings and missing colons.
    (b"useragent: *\nDisallow: /x", "geomi", "/x", false),
    (b"user agent: *\nDisallow: /x", "geomi", "/x", false),
    (b"User-agent: *\ndissallow: /x", "geomi", "/x", false),
    (b"User-agent: *\ndissalow: /x", "geomi", "/x", false),
    (b"User-agent: *\ndisalow: /x", "geomi", "/x", false),
    (b"User-agent: *\ndiasllow: /x", "geomi", "/x", false),
    (b"User-agent: *\ndisallaw: /x", "geomi", "/x", false),
    (b"User-agent: *\nDisallow /x", "geomi", "/x", false),
    (b"User-agent *\nDisallow /x", "geomi", "/x", false),
    (b"User-agent: *\nPlease disallow /x", "geomi", "/x", true),
    (b"User-agent: *\nDisallows: /x", "geomi", "/x", false),
    (b"User-agent: *\nDeny: /x", "geomi", "/x", true),
    // Names.
    (
        b"User-agent: * and others\nDisallow: /x",
        "geomi",
        "/x",
        false,
    ),
    (b"User-agent: geomi-news\nDisallow: /x", "geomi", "/x", true),
    (
        b"User-agent: geomi\nDisallow: /x",
        "geomi-news",
        "/x",
        false,
    ),
    (
        b"User-agent: geomi-news\nAllow: /\nUser-agent: geomi\nDisallow: /",
        "geomi-news",
        "/x",
        true,
    ),
    (b"User-agent: \nDisallow: /x", "geomi", "/x", true),
    (
        b"User-agent: *\nDisallow: /x",
        "geomi/0.1 (+https://e)",
        "/x",
        false,
    ),
    // Paths.
    (b"User-agent: *\nDisallow: x", "geomi", "/x", true),
    (b"User-agent: *\nDisallow: /x?", "geomi", "/x?y=1", false),
    (b"User-agent: *\nDisallow: /x?", "geomi", "/x", true),
    (b"User-agent: *\nDisallow: /*?", "geomi", "/a/b?c", false),
    (
        b"User-agent: *\nDisallow: /*?*id=",
        "geomi",
        "/a?x=1&id=2",
        false,
    ),
    (
        b"User-agent: *\nDisallow: /a/index.html",
        "geomi",
        "/a/",
        true,
    ),
    (
        b"User-agent: *\nDisallow: /\nAllow: /a/index.html",
        "geomi",
        "/a/",
        true,
    ),
    (b"User-agent: *\nDisallow: //x", "geomi", "/x", true),
    (b"User-agent: *\nDisallow: http://e/x", "geomi", "/x", true),
    (b"User-agent: *\nDisallow: /****x", "geomi", "/abx", false),
    (b"User-agent: *\nDisallow: /$", "geomi", "/x", true),
    (
        b"<html><body>Disallow: /</body></html>",
        "geomi",
        "/x",
        true,
    ),
    (
        b"User-agent: *\nDisallow: /\xC7\xD1",
        "geomi",
        "/%C7%D1%B1%DB",
        false,
    ),
];

fn check(cases: &[Case]) {
    let mut failed = Vec::new();
    for &(file, agent, path, expected) in cases {
        let robots = Robots::parse(file);
        let found = robots.verdict(agent, path);
        if found.allowed != expected {
            let file = String::from_utf8_lossy(file);
            failed.push(format!("{agent} at {path} by {file:?}: {found:?}"));
        }
        // What is kept of a file must decide as the file does.
        let kept = Robots::parse(robots.to_string().as_bytes());
        assert_eq!(kept.verdict(agent, path).allowed, found.allowed, "{robots}");
    }
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn what_the_rfc_decides() {
    check(&RFC_9309);
}

#[test]
fn what_search_engines_document() {
    check(&SEARCH_ENGINES);
}

#[test]
fn delays() {
    let delay = |value: &str| {
        let file = format!("User-agent: *\nCrawl-delay: {value}\nDisallow: /x");
        Robots::parse(file.as_bytes()).crawl_delay("geomi")
    };
    assert_eq!(delay("10"), Some(Duration::from_secs(10)));
    assert_eq!(delay("0.5"), Some(Duration::from_millis(500)));
    assert_eq!(delay(".25"), Some(Duration::from_millis(250)));
    assert_eq!(delay("1."), Some(Duration::from_secs(1)));
    assert_eq!(delay("0"), Some(Duration::ZERO));
    for nonsense in [
        "", "-1", "1e9", "ten", "10s", "1,5", "NaN", "inf", "0x10", "1 2", ".",
    ] {
        assert_eq!(delay(nonsense), None, "{nonsense}");
    }
    let huge = "9".repeat(400);
    let longest = Some(Duration::from_secs(u64::MAX));
    assert_eq!(delay(&huge), longest, "more seconds than there are");
}

#[test]
fn sitemaps_are_named_anywhere_and_for_everybody() {
    let file =
        b"Sitemap: http://e/1.xml\nUser-agent: other\nDisallow: /\nSITEMAP:http://e/2.xml # new\n\
                 site-map: /3.xml\nsitemap:\nsitemaps: http://e/4.xml\n";
    let expected = [
        "http://e/1.xml",
        "http://e/2.xml",
        "/3.xml",
        "http://e/4.xml",
    ];
    assert_eq!(Robots::parse(file).sitemaps(), expected);
}

#[test]
fn a_file_beyond_the_limit_counts_up_to_it() {
    let mut file = b"User-agent: *\nDisallow: /early\n".to_vec();
    file.resize(geomi_robots::ROBOTS_BYTES_MAX + 10, b'#');
    file.extend_from_slice(b"\nDisallow: /late\n");
    let robots = Robots::parse(&file);
    assert!(!robots.verdict("geomi", "/early").allowed);
    assert!(robots.verdict("geomi", "/late").allowed);
}
