//! What a page asks of robots, in `meta` elements and `X-Robots-Tag` headers.
//!
//! Only `noindex`, `nofollow` and `none` are understood; everything else
//! (`noarchive`, `max-snippet: 20`, `unavailable_after: ...`) concerns search
//! results and is passed over. Wishes only ever add up: one "no" is a no.

use geomi_model::RobotsMeta;

/// Reads one `X-Robots-Tag` value for a robot called `agent`.
///
/// A directive after `name:` is for the robot of that name, and so are those
/// that follow it in the same value; directives before any name are for all.
///
/// ```
/// use geomi_page::robots_tag;
/// assert!(robots_tag("noindex, nofollow", "geomi").nofollow);
/// assert!(!robots_tag("googlebot: noindex", "geomi").noindex);
/// assert!(robots_tag("googlebot: noindex, geomi: nofollow", "geomi").nofollow);
/// ```
pub fn robots_tag(value: &str, agent: &str) -> RobotsMeta {
    let agent = agent.split('/').next().unwrap_or(agent).trim();
    let mut wishes = RobotsMeta::default();
    let mut for_us = true;
    for part in value.split(',') {
        let directive = match part.split_once(':') {
            None => part,
            Some((name, rest)) => match scope(name.trim(), agent) {
                Scope::Robot { ours } => {
                    for_us = ours;
                    rest
                }
                Scope::ValuedDirective => continue,
            },
        };
        if for_us {
            wishes = wishes.or(wish(directive));
        }
    }
    wishes
}

/// Reads the `content` of a `meta` element that is for us.
pub(crate) fn meta_content(content: &str) -> RobotsMeta {
    content
        .split([',', ' ', '\t', '\n', '\r', '\x0c', ';'])
        .fold(RobotsMeta::default(), |all, word| all.or(wish(word)))
}

/// What stands before a colon.
enum Scope {
    /// A robot's name.
    Robot { ours: bool },
    /// A directive with a value, or a piece of a date.
    ValuedDirective,
}

fn scope(name: &str, agent: &str) -> Scope {
    const VALUED: [&str; 4] = [
        "unavailable_after",
        "max-snippet",
        "max-image-preview",
        "max-video-preview",
    ];
    let is_token = !name.is_empty() && !name.contains(char::is_whitespace);
    if !is_token || VALUED.iter().any(|word| name.eq_ignore_ascii_case(word)) {
        return Scope::ValuedDirective;
    }
    Scope::Robot {
        ours: name == "*" || name.eq_ignore_ascii_case(agent),
    }
}

fn wish(word: &str) -> RobotsMeta {
    let word = word.trim();
    let none = word.eq_ignore_ascii_case("none");
    RobotsMeta {
        noindex: none || word.eq_ignore_ascii_case("noindex"),
        nofollow: none || word.eq_ignore_ascii_case("nofollow"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: &str) {
        let wishes = robots_tag(value, "geomi/1.0");
        let found = match (wishes.noindex, wishes.nofollow) {
            (false, false) => "",
            (true, false) => "noindex",
            (false, true) => "nofollow",
            (true, true) => "none",
        };
        assert_eq!(found, expected, "from {value:?}");
    }

    #[test]
    fn plain_directives_are_for_everyone() {
        check("noindex", "noindex");
        check(" NoFollow ", "nofollow");
        check("noindex,nofollow", "none");
        check("none", "none");
        check("all", "");
        check("noarchive, noindexing", "");
        check("", "");
    }

    #[test]
    fn a_name_before_a_colon_limits_what_follows() {
        check("googlebot: noindex", "");
        check("GEOMI: nofollow", "nofollow");
        check("*: noindex", "noindex");
        check("noindex, googlebot: nofollow", "noindex");
        check("googlebot: noindex, nofollow", "");
        check("googlebot: noindex, geomi: nofollow", "nofollow");
    }

    #[test]
    fn directives_with_values_are_passed_over() {
        check("unavailable_after: Wed, 25 Jun 2030 15:00:00 PST", "");
        check(
            "max-snippet: 20, noindex, max-image-preview: large",
            "noindex",
        );
        check(":::, : noindex", "");
    }

    #[test]
    fn meta_content_is_a_list_of_words() {
        let wishes = meta_content("NOINDEX nofollow;noarchive");
        assert!(wishes.noindex && wishes.nofollow);
        assert_eq!(meta_content("index, follow"), RobotsMeta::default());
    }
}
