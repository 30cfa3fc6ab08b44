//! What holds for every file.

use geomi_robots::{Robots, RobotsPolicy};
use proptest::prelude::*;

/// Lines as they are found, good and bad.
fn line() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        "(user-agent|User Agent|useragent)",
        "(allow|Allow|disallow|Disallow|disalow)",
        "(crawl-delay|sitemap|host)",
        "\\PC{0,4}",
    ];
    let value = prop_oneof![
        "(\\*|bot|bot-news|other/1\\.0|Ab C)",
        "/[a-c*$%?/]{0,8}",
        "/(index\\.html|%[0-9a-fA-F]{1,2}|%%3[0-9]|ツ|'| ){0,4}",
        "[0-9.]{0,4}",
        "\\PC{0,8}",
    ];
    (key, "(:|: | : | |)", value, "( ?#.{0,3})?")
        .prop_map(|(key, colon, value, comment)| format!("{key}{colon}{value}{comment}"))
}

fn file() -> impl Strategy<Value = String> {
    let ending = prop_oneof!["\n", "\r\n", "\r"];
    prop::collection::vec((line(), ending), 0..12)
        .prop_map(|lines| lines.into_iter().map(|(a, b)| a + &b).collect())
}

#[derive(Default)]
struct NaiveGroup<'a> {
    names: Vec<&'a str>,
    rules: Vec<(bool, &'a str)>,
}

/// The verdict from the printed lines and nothing else: every rule tried, the
/// longest kept.
fn naive_verdict(printed: &str, agent: &str, path: &str) -> bool {
    let mut groups: Vec<NaiveGroup<'_>> = Vec::new();
    for line in printed.lines() {
        match line.split_once(": ") {
            Some(("user-agent", name)) => {
                if groups.last().is_none_or(|group| !group.rules.is_empty()) {
                    groups.push(NaiveGroup::default());
                }
                let group = groups.last_mut().expect("a group was just made");
                group.names.push(name);
            }
            Some((key @ ("allow" | "disallow"), pattern)) => {
                let group = groups.last_mut().expect("rules are printed in groups only");
                group.rules.push((key == "allow", pattern));
            }
            _ => {}
        }
    }
    let name = if groups.iter().any(|group| group.names.contains(&agent)) {
        agent
    } else {
        "*"
    };
    let rules = groups
        .iter()
        .filter(|group| group.names.contains(&name))
        .flat_map(|group| &group.rules);
    rules
        .filter(|(_, pattern)| !pattern.is_empty() && glob(pattern.as_bytes(), path.as_bytes()))
        .max_by_key(|(allow, pattern)| (pattern.len(), *allow))
        .is_none_or(|(allow, _)| *allow)
}

fn glob(pattern: &[u8], path: &[u8]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((b'$', [])) => path.is_empty(),
        Some((b'*', rest)) => (0..=path.len()).any(|skip| glob(rest, &path[skip..])),
        Some((byte, rest)) => path.first() == Some(byte) && glob(rest, &path[1..]),
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400), path in "\\PC{0,20}") {
        let robots = Robots::parse(&bytes);
        let verdict = robots.verdict("bot", &path);
        prop_assert!(verdict.allowed || verdict.rule.is_some());
    }

    #[test]
    fn the_printed_form_is_the_file(file in file()) {
        let robots = Robots::parse(file.as_bytes());
        prop_assert_eq!(&Robots::parse(robots.to_string().as_bytes()), &robots);
    }

    #[test]
    fn the_stored_form_is_the_policy(file in file(), code in prop::sample::select(vec![200u16, 404, 503])) {
        let policy = RobotsPolicy::from_answer(code, file.as_bytes());
        let stored = serde_json::to_string(&policy).unwrap();
        prop_assert_eq!(serde_json::from_str::<RobotsPolicy>(&stored).unwrap(), policy);
    }

    #[test]
    fn verdicts_agree_with_a_naive_reading(file in file(), path in "/[a-c/?]{0,8}") {
        // The reference knows nothing of directories behind index.html.
        let robots = Robots::parse(file.replace("index", "page").as_bytes());
        prop_assert_eq!(
            robots.verdict("bot", &path).allowed,
            naive_verdict(&robots.to_string(), "bot", &path),
            "{}", robots
        );
    }

    #[test]
    fn the_named_line_is_where_the_rule_stands(file in file(), path in "/[a-c/?]{0,8}") {
        let robots = Robots::parse(file.as_bytes());
        if let Some(rule) = robots.verdict("bot", &path).rule {
            let printed = robots.to_string();
            let line = printed.lines().nth(rule.line as usize - 1).unwrap();
            prop_assert_eq!(format!("line {}: {line}", rule.line), rule.to_string());
        }
    }
}
