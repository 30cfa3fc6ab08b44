//! One robots.txt, read: groups, rules and the verdict over a path.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{agent, pattern, read};

/// Bytes of a robots.txt that are read; whole lines after that are ignored.
/// RFC 9309 §2.5 asks for at least 500 KiB.
pub const ROBOTS_BYTES_MAX: usize = 512 * 1024;

/// Bytes of one line that are read. Eight times the longest URL browsers take.
pub const LINE_BYTES_MAX: usize = 16 * 1024;

/// A robots.txt as understood.
///
/// It keeps the lines that mean something, in one spelling and at their line
/// numbers, and an index over them. [`fmt::Display`] prints those lines, and
/// parsing the print gives an equal value; that text is also its stored form.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Robots {
    pub(crate) text: Box<str>,
    /// Sorted by token, so that a file naming thousands of robots is no slower.
    pub(crate) agents: Vec<Agent>,
    pub(crate) groups: Vec<Group>,
    pub(crate) sitemaps: Vec<String>,
}

/// One product token and the groups that name it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Agent {
    /// In lower case; `*` for every robot without a group of its own.
    pub(crate) token: Box<str>,
    pub(crate) groups: Vec<u32>,
    /// The longest that was asked of it.
    pub(crate) crawl_delay: Option<Duration>,
}

/// A run of `user-agent` lines and the rules after it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Group {
    /// Strongest first: the first that matches decides.
    pub(crate) rules: Vec<Rule>,
}

/// One `allow` or `disallow` line; its pattern is a piece of [`Robots::text`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    pub(crate) allow: bool,
    pub(crate) line: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Where the pattern's literal start ends, to dismiss most rules quickly.
    pub(crate) literal_end: u32,
    /// For the directory form of an `allow: …/index.html` line: just after its
    /// last slash, where the path must end.
    pub(crate) directory_end: Option<u32>,
}

impl Rule {
    /// Octets of the pattern: the longer of two matching rules holds, and of
    /// two as long the `allow` (RFC 9309 §2.2.2).
    pub(crate) fn rank(&self) -> (u32, bool) {
        // The directory form is short for `…/$`.
        let end = self.directory_end.map_or(self.end, |end| end + 1);
        (end - self.start, self.allow)
    }

    fn matches(&self, text: &str, path: &str) -> bool {
        let piece = |end: u32| &text[self.start as usize..end as usize];
        path.starts_with(piece(self.literal_end))
            && match self.directory_end {
                Some(end) => pattern::matches_whole(piece(end), path),
                None => pattern::matches(piece(self.end), path),
            }
    }
}

/// Whether a robot may request a path, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict<'a> {
    /// Whether the request is permitted.
    pub allowed: bool,
    /// The line that decided; `None` where no rule matches.
    pub rule: Option<MatchedRule<'a>>,
    /// The product token, in lower case, whose groups hold for the robot: its
    /// own name or `*`; `None` where no group does.
    pub agent: Option<&'a str>,
}

impl Verdict<'_> {
    pub(crate) const fn without_rule(allowed: bool) -> Self {
        Self {
            allowed,
            rule: None,
            agent: None,
        }
    }
}

/// The line of a robots.txt that decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchedRule<'a> {
    /// Its line, from 1.
    pub line: u32,
    /// Its pattern, escapes normalised.
    pub text: &'a str,
    /// Whether it permits.
    pub allow: bool,
}

impl fmt::Display for MatchedRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = if self.allow { "allow" } else { "disallow" };
        write!(f, "line {}: {key}: {}", self.line, self.text)
    }
}

impl Robots {
    /// What it takes of the memory, about.
    pub fn memory_bytes(&self) -> usize {
        let agent_bytes = |agent: &Agent| {
            size_of::<Agent>() + agent.token.len() + agent.groups.len() * size_of::<u32>()
        };
        let group_bytes =
            |group: &Group| size_of::<Group>() + group.rules.len() * size_of::<Rule>();
        let sitemap_bytes = |sitemap: &String| size_of::<String>() + sitemap.len();
        self.text.len()
            + self.agents.iter().map(agent_bytes).sum::<usize>()
            + self.groups.iter().map(group_bytes).sum::<usize>()
            + self.sitemaps.iter().map(sitemap_bytes).sum::<usize>()
    }

    /// Reads a robots.txt: at most [`ROBOTS_BYTES_MAX`] of it, and what it does
    /// not understand is passed over.
    pub fn parse(bytes: &[u8]) -> Self {
        read::read(read::capped(bytes), LINE_BYTES_MAX)
    }

    /// Whether the robot with product token `agent` may request
    /// `path_and_query`, which starts with `/`.
    ///
    /// Upper and lower case are the same in `agent`. Its own groups hold, all
    /// of them together; failing those, the groups of `my-bot` for
    /// `my-bot-news`; failing those, the groups of `*`.
    pub fn verdict(&self, agent: &str, path_and_query: &str) -> Verdict<'_> {
        if path_and_query == "/robots.txt" {
            return Verdict::without_rule(true);
        }
        let Some(named) = self.agent(agent) else {
            return Verdict::without_rule(true);
        };
        let path = pattern::normalise_path(path_and_query);
        let rule = named
            .groups
            .iter()
            .filter_map(|&group| {
                let mut rules = self.groups[group as usize].rules.iter();
                rules.find(|rule| rule.matches(&self.text, &path))
            })
            .max_by_key(|rule| rule.rank());
        Verdict {
            allowed: rule.is_none_or(|rule| rule.allow),
            rule: rule.map(|rule| MatchedRule {
                line: rule.line,
                text: &self.text[rule.start as usize..rule.end as usize],
                allow: rule.allow,
            }),
            agent: Some(&named.token),
        }
    }

    /// The pause between requests that the site asks of `agent`; the longest
    /// where its groups name several.
    pub fn crawl_delay(&self, agent: &str) -> Option<Duration> {
        self.agent(agent)?.crawl_delay
    }

    /// The `user-agent` lines, from 1, of the groups that hold for `agent`: those
    /// that name the token [`Verdict::agent`] gives. For explanations; it walks
    /// the whole file.
    pub fn agent_lines(&self, agent: &str) -> Vec<u32> {
        let Some(named) = self.agent(agent) else {
            return Vec::new();
        };
        let names_it = |line: &str| line.strip_prefix("user-agent: ") == Some(&*named.token);
        (1..)
            .zip(self.text.lines())
            .filter_map(|(number, line)| names_it(line).then_some(number))
            .collect()
    }

    /// The sitemaps the file names, as written, in its order.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    fn agent(&self, agent: &str) -> Option<&Agent> {
        let find = |name: &str| {
            let lower = || name.bytes().map(|byte| byte.to_ascii_lowercase());
            self.agents
                .binary_search_by(|entry| entry.token.bytes().cmp(lower()))
                .ok() // The error is only where a new entry would go.
                .map(|at| &self.agents[at])
        };
        agent::names(agent).find_map(find).or_else(|| find("*"))
    }
}

impl fmt::Display for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Robots({:?})", self.text)
    }
}

impl Serialize for Robots {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Robots {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // The limits held when the file was first read; escaping may have made
        // the text longer since, and must not cut it a second time.
        Ok(read::read(text.as_bytes(), usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_its_line_and_group() {
        let robots =
            Robots::parse(b"# hello\nUser-Agent: Geomi\n\nDisallow: /%7eprivate # not you\n");
        let verdict = robots.verdict("GEOMI", "/~private/x");
        assert!(!verdict.allowed);
        assert_eq!(verdict.agent, Some("geomi"));
        let rule = verdict.rule.unwrap();
        assert_eq!((rule.line, rule.text, rule.allow), (4, "/~private", false));
        assert_eq!(robots.verdict("other", "/~private/x").agent, None);
    }

    #[test]
    fn the_lines_that_address_a_robot_can_be_named() {
        let robots = Robots::parse(
            b"# x\nUser-agent: *\nDisallow: /a\n\nuser-agent: Geomi/1\nuseragent: b\nallow: /\nUSER-AGENT: geomi\n",
        );
        assert_eq!(robots.agent_lines("geomi"), [5, 8]);
        assert_eq!(robots.agent_lines("other"), [2]);
        assert!(Robots::default().agent_lines("geomi").is_empty());
    }

    #[test]
    fn the_printed_form_keeps_meaning_and_line_numbers() {
        let robots = Robots::parse(
            b"Hello\nUSERAGENT: A/1\r\n\r\nDissallow /x\nSite-map: http://e/s\n\n#\n",
        );
        let printed = robots.to_string();
        assert_eq!(
            printed,
            "\nuser-agent: a\n\ndisallow: /x\nsitemap: http://e/s\n"
        );
        assert_eq!(Robots::parse(printed.as_bytes()), robots);
    }

    #[test]
    fn robots_txt_itself_is_always_allowed() {
        let robots = Robots::parse(b"user-agent: *\ndisallow: /");
        assert!(robots.verdict("geomi", "/robots.txt").allowed);
        assert!(!robots.verdict("geomi", "/robots.txt.gz").allowed);
    }
}
