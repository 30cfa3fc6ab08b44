//! The examples and requirements of RFC 9309, section by section.

use std::time::Duration;

use geomi_robots::{LINE_BYTES_MAX, ROBOTS_BYTES_MAX, Robots};

/// Asserts what `agent` may request; `+` before a path permits, `-` forbids.
fn check(robots_txt: &str, agent: &str, expected: &[&str]) {
    let robots = Robots::parse(robots_txt.as_bytes());
    for case in expected {
        let (sign, path) = case.split_at(1);
        let verdict = robots.verdict(agent, path);
        assert_eq!(
            verdict.allowed,
            sign == "+",
            "{agent} at {path} by {robots_txt:?}: {verdict:?}"
        );
    }
}

#[test]
fn section_2_1_rules_belong_to_groups() {
    let file = "disallow: /before\n\
                user-agent: a\nuser-agent: b\ndisallow: /ab\n\
                user-agent: c\n\ndisallow: /c\n";
    check(file, "a", &["-/ab", "+/c", "+/before"]);
    check(file, "b", &["-/ab", "+/c"]);
    check(file, "c", &["+/ab", "-/c", "+/before"]);
    check(file, "d", &["+/ab", "+/c", "+/before"]);
}

#[test]
fn section_2_2_1_groups_of_one_agent_are_merged() {
    let file = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\n\
                user-agent: ExampleBot\ndisallow: /baz\n";
    check(file, "ExampleBot", &["-/foo", "-/bar", "-/baz", "+/qux"]);
    check(file, "examplebot", &["-/foo", "-/baz"]);
}

#[test]
fn section_2_2_1_the_star_group_is_for_the_unnamed() {
    let file = "user-agent: *\ndisallow: /foo\ndisallow: /bar\n\n\
                user-agent: BazBot\ndisallow: /baz\n";
    check(file, "ExampleBot", &["-/foo", "-/bar", "+/baz"]);
    check(file, "BazBot", &["+/foo", "+/bar", "-/baz"]);
}

#[test]
fn section_2_2_1_without_a_matching_group_no_rule_applies() {
    check("", "a", &["+/", "+/x"]);
    check("user-agent: b\ndisallow: /", "a", &["+/", "+/x"]);
    check("user-agent: *\ndisallow: /\nuser-agent: a", "a", &["+/x"]);
}

#[test]
fn section_2_2_2_the_longest_match_decides() {
    let file = "user-agent: foobot\ndisallow: /\nallow: /example/page/\n\
                disallow: /example/page/disallowed.gif\n";
    check(
        file,
        "foobot",
        &[
            "-/",
            "-/example/",
            "+/example/page/",
            "+/example/page/a.html",
            "-/example/page/disallowed.gif",
        ],
    );
}

#[test]
fn section_2_2_2_allow_wins_a_tie_in_any_order() {
    check("user-agent: a\ndisallow: /x\nallow: /x", "a", &["+/x"]);
    check("user-agent: a\nallow: /x\ndisallow: /x", "a", &["+/x"]);
    let in_two_groups = "user-agent: a\nallow: /x\nuser-agent: a\ndisallow: /x";
    check(in_two_groups, "a", &["+/x"]);
    let the_other_way = "user-agent: a\ndisallow: /x\nuser-agent: a\nallow: /x";
    check(the_other_way, "a", &["+/x"]);
}

#[test]
fn section_2_2_2_paths_are_compared_escaped() {
    let permits = |rule: &str, path: &str| {
        let file = format!("user-agent: a\ndisallow: /\nallow: {rule}");
        check(&file, "a", &[&format!("+{path}"), "-/other"]);
    };
    permits("/foo/bar?baz=quz", "/foo/bar?baz=quz");
    permits(
        "/foo/bar?baz=https://foo.bar",
        "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
    );
    permits(
        "/foo/bar?baz=https%3a%2f%2ffoo.bar",
        "/foo/bar?baz=https://foo.bar",
    );
    permits("/foo/bar/ツ", "/foo/bar/%E3%83%84");
    permits("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84");
    permits("/foo/bar/%e3%83%84", "/foo/bar/ツ");
    permits("/foo/bar/%62%61%7A", "/foo/bar/baz");
    permits("/foo/bar/baz", "/foo/bar/%62%61%7A");
    check(
        "user-agent: a\ndisallow: /a%2Fb",
        "a",
        &["+/a/b", "-/a%2fb"],
    );
}

#[test]
fn section_2_2_2_case_matters_in_paths() {
    check("user-agent: a\ndisallow: /X/", "a", &["-/X/", "+/x/"]);
}

#[test]
fn section_2_2_3_special_characters() {
    check(
        "user-agent: a # not b\n# disallow: /\ndisallow: /x # nor y",
        "a",
        &["-/x", "+/y"],
    );
    check(
        "user-agent: a\ndisallow: /this/path/exactly$",
        "a",
        &["-/this/path/exactly", "+/this/path/exactly/not"],
    );
    check(
        "user-agent: a\ndisallow: /this/*/exactly",
        "a",
        &[
            "-/this/very/path/exactly?so",
            "-/this//exactly",
            "+/this/exactly",
        ],
    );
    check(
        "user-agent: a\ndisallow: /path/file-with-a-%2A.html",
        "a",
        &["-/path/file-with-a-*.html", "+/path/file-with-a-b.html"],
    );
    check(
        "user-agent: a\ndisallow: /path/foo-%24",
        "a",
        &["-/path/foo-$", "-/path/foo-$x", "+/path/foo-"],
    );
}

#[test]
fn section_2_2_4_other_lines_do_not_end_a_group() {
    for other in [
        "Sitemap: http://e/s.xml",
        "Crawl-delay: 1",
        "Unicorn: yes",
        "",
    ] {
        let file = format!("user-agent: a\n{other}\nuser-agent: b\ndisallow: /x\n");
        check(&file, "a", &["-/x"]);
        check(&file, "b", &["-/x"]);
        let file = format!("user-agent: a\ndisallow: /x\n{other}\ndisallow: /y\n");
        check(&file, "a", &["-/x", "-/y"]);
    }
}

#[test]
fn section_2_5_a_large_file_is_cut_between_lines() {
    let mut file = String::from("user-agent: *\n");
    while file.len() < 500 * 1024 {
        file.push_str("disallow: /filler\n");
    }
    file.push_str("disallow: /within\n");
    while file.len() < ROBOTS_BYTES_MAX - 12 {
        file.push_str("#\n");
    }
    file.push_str("disallow: /across\ndisallow: /beyond\n");
    check(&file, "a", &["-/within", "+/a", "+/across", "+/beyond"]);
}

#[test]
fn a_long_line_is_cut_and_its_neighbours_are_not() {
    let long = format!("/x/{}", "a".repeat(LINE_BYTES_MAX));
    let file = format!("user-agent: a\ndisallow: {long}/y\ndisallow: /z\n");
    check(&file, "a", &[&format!("-{long}/other"), "+/x/aaa", "-/z"]);
    let stored = serde_json::to_string(&Robots::parse(file.as_bytes())).unwrap();
    let back: Robots = serde_json::from_str(&stored).unwrap();
    assert_eq!(back, Robots::parse(file.as_bytes()));
}

#[test]
fn appendix_a_simple_example() {
    let file = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\n\
                Allow: /publications/\n\n\
                User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\n\
                Allow:/example/allowed.gif\n\n\
                User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n\
                User-Agent: quxbot\n";
    check(
        file,
        "foobot",
        &["+/example/page.html", "+/example/allowed.gif", "-/x"],
    );
    check(file, "barbot", &["-/example/page.html", "+/x.gif"]);
    check(file, "bazbot", &["-/example/page.html", "+/example/"]);
    check(file, "quxbot", &["+/example/page.html", "+/x.gif"]);
    check(
        file,
        "other",
        &["-/x.gif", "+/x.gif?", "-/example/x", "+/publications/"],
    );
}

#[test]
fn delays_are_seconds_and_anything_else_is_none() {
    let delay = |value: &str| {
        Robots::parse(format!("user-agent: *\ncrawl-delay: {value}").as_bytes()).crawl_delay("a")
    };
    assert_eq!(delay("10"), Some(Duration::from_secs(10)));
    assert_eq!(delay("0.5"), Some(Duration::from_millis(500)));
    assert_eq!(delay(".5 # half"), Some(Duration::from_millis(500)));
    assert_eq!(delay("0"), Some(Duration::ZERO));
    for bad in [
        "", "-1", "1s", "ten", "inf", "NaN", "1e3", "1,5", "1.2.3", ".",
    ] {
        assert_eq!(delay(bad), None, "{bad:?}");
    }
    assert_eq!(delay(&"9".repeat(60)), Some(Duration::from_secs(u64::MAX)));
}

#[test]
fn a_delay_is_asked_of_those_named_before_it() {
    let file = b"user-agent: a\ncrawl-delay: 99\n\nuser-agent: *\ncrawl-delay: 2\n\n\
                 user-agent: b\ndisallow: /x\ncrawl-delay: 1\n";
    let robots = Robots::parse(file);
    let delay = |agent| robots.crawl_delay(agent);
    assert_eq!(delay("a"), Some(Duration::from_secs(99)));
    assert_eq!(delay("anybody"), Some(Duration::from_secs(2)));
    assert_eq!(delay("b"), Some(Duration::from_secs(1)));
    // The rules are for all of them: no rule stands between their names.
    for agent in ["a", "anybody", "b"] {
        assert!(!robots.verdict(agent, "/x").allowed, "{agent}");
    }
}

#[test]
fn delays_belong_to_groups_and_the_longest_holds() {
    let file = b"crawl-delay: 99\nuser-agent: a\ncrawl-delay: 2\ncrawl-delay: 1\nallow: /\n\
                 user-agent: *\ncrawl-delay: 7\nallow: /\nuser-agent: a\ncrawl-delay: 3\n";
    let robots = Robots::parse(file);
    assert_eq!(robots.crawl_delay("A"), Some(Duration::from_secs(3)));
    assert_eq!(robots.crawl_delay("b"), Some(Duration::from_secs(7)));
    assert_eq!(Robots::parse(b"").crawl_delay("a"), None);
}
