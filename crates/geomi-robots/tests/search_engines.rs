//! What search engines document beyond the RFC, as cases of our own.

use geomi_robots::Robots;

/// As in `rfc9309.rs`: `+` before a path permits, `-` forbids.
fn check(robots_txt: impl AsRef<[u8]>, agent: &str, expected: &[&str]) {
    let robots_txt = robots_txt.as_ref();
    let robots = Robots::parse(robots_txt);
    for case in expected {
        let (sign, path) = case.split_at(1);
        let verdict = robots.verdict(agent, path);
        let file = String::from_utf8_lossy(robots_txt);
        assert_eq!(
            verdict.allowed,
            sign == "+",
            "{agent} at {path} by {file:?}: {verdict:?}"
        );
    }
}

/// Everything forbidden but what one rule permits.
fn permits(rule: &str, expected: &[&str]) {
    let file = format!("user-agent: bot\ndisallow: /\nallow: {rule}\n");
    check(file, "bot", expected);
}

#[test]
fn a_path_is_a_prefix() {
    for rule in ["/tea", "/tea*"] {
        permits(
            rule,
            &[
                "+/tea",
                "+/tea.html",
                "+/tea/green.html",
                "+/teapots",
                "+/teapots/blue.html",
                "+/tea.html?id=anything",
                "-/Tea.asp",
                "-/green-tea",
                "-/?id=tea",
                "-/desert/tea",
            ],
        );
    }
}

#[test]
fn a_final_slash_means_the_directory() {
    permits(
        "/tea/",
        &[
            "+/tea/",
            "+/tea/?id=anything",
            "+/tea/green.html",
            "-/tea",
            "-/tea.html",
            "-/Tea/Green.asp",
        ],
    );
}

#[test]
fn a_wildcard_matches_across_segments_and_into_the_query() {
    permits(
        "/*.php",
        &[
            "+/index.php",
            "+/folder/file.php",
            "+/folder/file.php?parameters",
            "+/folder/any.php.file.html",
            "+/file.php/",
            "+/index?f=file.php/",
            "-/",
            "-/windows.PHP",
            "-/php/",
            "-/index?php",
        ],
    );
    permits(
        "/*.php$",
        &[
            "+/file.php",
            "+/folder/file.php",
            "-/file.php?parameters",
            "-/file.php/",
            "-/file.php5",
            "-/windows.PHP",
        ],
    );
    permits(
        "/tea*.php",
        &["+/tea.php", "+/teapots/blue.php?parameters", "-/Tea.PHP"],
    );
}

#[test]
fn the_more_specific_rule_holds() {
    let one = |rules: &str, case: &str| check(format!("user-agent: bot\n{rules}"), "bot", &[case]);
    one("allow: /p\ndisallow: /", "+/page");
    one("allow: /folder\ndisallow: /folder", "+/folder/page");
    one("allow: /page\ndisallow: /*.htm", "-/page.htm");
    one("allow: /page\ndisallow: /*.ph", "+/page.php5");
    one("allow: /$\ndisallow: /", "+/");
    one("allow: /$\ndisallow: /", "-/page.htm");
    one("disallow: /x\nallow: /x/", "+/x/");
    one("disallow: /x\nallow: /x/", "-/x");
}

#[test]
fn an_empty_or_bare_pattern_matches_nothing() {
    check("user-agent: bot\ndisallow:\n", "bot", &["+/", "+/x"]);
    check("user-agent: bot\ndisallow: \nallow: \n", "bot", &["+/x"]);
    check("user-agent: bot\ndisallow: x\n", "bot", &["+/x"]);
    check("user-agent: bot\ndisallow: $\n", "bot", &["+/"]);
    check("user-agent: bot\ndisallow: *\n", "bot", &["-/", "-/x"]);
}

#[test]
fn the_most_specific_name_of_a_family_of_robots_holds() {
    let file = "user-agent: bot-news\nallow: /\n\
                user-agent: *\ndisallow: /\n\
                user-agent: bot\ndisallow: /bot\n";
    check(file, "bot-news", &["+/bot", "+/x"]);
    check(file, "bot", &["-/bot", "+/x"]);
    check(file, "Bot-Images", &["-/bot", "+/x"]);
    check(file, "botany", &["-/bot", "-/x"]);
    check(file, "otherbot", &["-/bot", "-/x"]);
    assert_eq!(
        Robots::parse(file.as_bytes())
            .verdict("bot-video", "/x")
            .agent,
        Some("bot")
    );
}

#[test]
fn names_end_at_the_version_or_the_first_space() {
    let file = "user-agent: *\ndisallow: /\n\
                user-agent: Foo Bar\nallow: /x/\ndisallow: /\n\
                user-agent: Qux/2.1\nallow: /q/\ndisallow: /\n";
    check(file, "Foo", &["+/x/y", "-/q/"]);
    check(file, "Foo Bar", &["-/x/y"]);
    check(file, "qux", &["+/q/", "-/x/"]);
    check(file, "qux/7 (+http://e)", &["+/q/", "-/x/"]);
}

#[test]
fn a_star_with_more_words_is_still_everybody() {
    check("user-agent: * for all\ndisallow: /x", "bot", &["-/x"]);
    check("user-agent: *bot\ndisallow: /x", "bot", &["+/x"]);
}

#[test]
fn a_name_nobody_has_takes_its_rules_with_it() {
    let file = "user-agent: bot\nallow: /\nuser-agent: ツ\ndisallow: /x\n";
    check(file, "bot", &["+/x"]);
    check("user-agent:\ndisallow: /", "bot", &["+/x"]);
}

#[test]
fn keys_are_read_in_any_case_and_in_known_misspellings() {
    for agent in [
        "USER-AGENT:",
        "uSeR-aGeNt :",
        "useragent:",
        "User Agent:",
        "user-agent",
    ] {
        for rule in [
            "Disallow:",
            "DISALLOW :",
            "disallow",
            "Dissallow:",
            "dissalow:",
            "Disalow:",
            "diasllow:",
            "disallaw:",
        ] {
            check(format!("{agent} bot\n{rule} /x"), "bot", &["-/x", "+/y"]);
        }
        for not_a_rule in ["dsallow:", "no:", "please disallow", "disallow all of", ":"] {
            check(format!("{agent} bot\n{not_a_rule} /x"), "bot", &["+/x"]);
        }
    }
}

#[test]
fn a_rule_for_index_html_covers_its_directory() {
    permits(
        "/dir/index.html",
        &[
            "+/dir/",
            "+/dir/index.html",
            "-/dir/index.htm",
            "-/dir/x",
            "-/dir",
            "-/",
        ],
    );
    permits("/*/index.htm", &["+/a/b/", "+/a/index.htm", "-/a/b"]);
    check(
        "user-agent: bot\ndisallow: /dir/index.html",
        "bot",
        &["+/dir/", "-/dir/index.html"],
    );
}

#[test]
fn every_line_ending_counts_one_line() {
    for ending in ["\n", "\r\n", "\r"] {
        let file = ["user-agent: bot", "", "", "disallow: /x", ""].join(ending);
        let robots = Robots::parse(file.as_bytes());
        let rule = robots.verdict("bot", "/x").rule.unwrap();
        assert_eq!(rule.line, 4, "with {ending:?}");
    }
    let mixed = Robots::parse(b"user-agent: bot\r\n\n\rdisallow: /x\r\nallow: /y");
    assert_eq!(mixed.verdict("bot", "/x").rule.unwrap().line, 4);
    assert_eq!(mixed.verdict("bot", "/y").rule.unwrap().line, 5);
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    let rules = b"user-agent: bot\ndisallow: /x".as_slice();
    for mark in [&b"\xEF\xBB\xBF"[..], b"\xEF\xBB", b"\xEF"] {
        check([mark, rules].concat(), "bot", &["-/x"]);
    }
    check([b"\xEF\x11\xBF", rules].concat(), "bot", &["+/x"]);
    check(
        b"user-agent: bot\n\xEF\xBB\xBFdisallow: /x",
        "bot",
        &["+/x"],
    );
}

#[test]
fn rules_in_other_encodings_match_urls_in_those_encodings() {
    // "가" in EUC-KR.
    check(
        b"user-agent: bot\ndisallow: /\xB0\xA1",
        "bot",
        &["-/%B0%A1/x", "+/%B0%A2"],
    );
}

#[test]
fn rules_with_characters_that_urls_escape_still_match() {
    check(
        "user-agent: bot\ndisallow: /a b\ndisallow: /?q='|'\n",
        "bot",
        &["-/a%20b", "-/?q=%27|%27", "-/?q=%27%7C%27"],
    );
}

#[test]
fn sitemaps_may_stand_anywhere() {
    let robots = Robots::parse(
        b"Sitemap: http://e/1.xml\nuser-agent: bot\nsite-map: http://e/2.xml # two\n\
          disallow: /\nSITEMAP:http://e/3.xml\nSitemap:\n",
    );
    assert_eq!(
        robots.sitemaps(),
        ["http://e/1.xml", "http://e/2.xml", "http://e/3.xml"]
    );
}

#[test]
fn a_page_in_place_of_a_file_has_no_rules() {
    check(
        "<html><body>Allow: us to disallow: /</body></html>",
        "bot",
        &["+/"],
    );
}
