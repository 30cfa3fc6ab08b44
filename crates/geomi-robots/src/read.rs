//! Bytes to [`Robots`].
//!
//! Each line is recognised, rewritten in one spelling and appended to the kept
//! text; a line that means nothing leaves an empty line, so that line numbers
//! stay those of the site's file. Rules and agents then point into that text.
//!
//! A group is a run of `user-agent` lines with the rules after it. Only `allow`
//! and `disallow` end such a run; a `sitemap`, a `crawl-delay` or an unknown line
//! must not (RFC 9309 §2.2.4). So a file that gives `*` nothing but a delay and
//! then names one robot to shut it out has shut everybody out: search engines
//! document that reading too, and it errs on the side of the site. A delay is no
//! rule of the RFC, and what it says is for the agents named before it only:
//! many files ask one robot to go slowly and then address all others.

use std::collections::HashMap;
use std::time::Duration;

use crate::agent::leading_token;
use crate::pattern;
use crate::robots::{Agent, Group, ROBOTS_BYTES_MAX, Robots, Rule};

/// The part of a file that is read: no more than the limit, in whole lines.
pub(crate) fn capped(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= ROBOTS_BYTES_MAX {
        return bytes;
    }
    // Half a rule could forbid or permit more than the whole one.
    let end = memchr::memrchr2(b'\n', b'\r', &bytes[..ROBOTS_BYTES_MAX]);
    &bytes[..end.unwrap_or(0)]
}

/// Reads all of `bytes`, and of each line at most `line_bytes_max`.
pub(crate) fn read(bytes: &[u8], line_bytes_max: usize) -> Robots {
    let mut reader = Reader::default();
    let mut rest = without_bom(bytes);
    while !rest.is_empty() {
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        reader.line(&rest[..end.min(line_bytes_max)]);
        let is_crlf = rest[end..].starts_with(b"\r\n");
        rest = rest.get(end + 1 + usize::from(is_crlf)..).unwrap_or(&[]);
    }
    reader.finish()
}

/// A byte order mark, whole or cut short, is not part of the first key.
fn without_bom(bytes: &[u8]) -> &[u8] {
    let mark = b"\xEF\xBB\xBF";
    let len = bytes.iter().zip(mark).take_while(|(a, b)| a == b).count();
    &bytes[len..]
}

#[derive(Default)]
struct Reader {
    text: String,
    line: u32,
    robots: Robots,
    agents: HashMap<String, Named>,
    runs: Vec<Run>,
    /// No rule has come since the last `user-agent`: another one joins it.
    naming: bool,
}

/// Where a token is named.
#[derive(Default)]
struct Named {
    groups: Vec<u32>,
    runs: Vec<u32>,
}

/// `user-agent` lines of one group up to a `crawl-delay`, and that delay; what
/// is asked of later runs of the group is asked of this one too.
struct Run {
    group: u32,
    delay: Option<Duration>,
}

/// The keys that mean something.
#[derive(Clone, Copy)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

impl Reader {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        if let Some((key, value)) = split(line) {
            match key {
                Key::UserAgent => self.user_agent(value),
                Key::Allow => self.rule(true, value),
                Key::Disallow => self.rule(false, value),
                Key::CrawlDelay => self.crawl_delay(value),
                Key::Sitemap => self.sitemap(value),
            }
        }
        self.text.push('\n');
    }

    fn user_agent(&mut self, value: &[u8]) {
        let value = String::from_utf8_lossy(value);
        // `*` with more words after it is still meant for everybody.
        let is_everybody = value.split_ascii_whitespace().next() == Some("*");
        let token = if is_everybody {
            "*".to_owned()
        } else {
            leading_token(&value).to_ascii_lowercase()
        };
        self.text.push_str("user-agent: ");
        self.text.push_str(&token);
        if !self.naming {
            self.robots.groups.push(Group::default());
        }
        let group = self.robots.groups.len() as u32 - 1;
        if !self.naming || self.runs.last().is_some_and(|run| run.delay.is_some()) {
            self.runs.push(Run { group, delay: None });
        }
        self.naming = true;
        // A name nobody can have still starts a group: its rules are for a
        // robot that is not us.
        if !token.is_empty() {
            let named = self.agents.entry(token).or_default();
            push_new(&mut named.groups, group);
            push_new(&mut named.runs, self.runs.len() as u32 - 1);
        }
    }

    fn rule(&mut self, allow: bool, value: &[u8]) {
        let Some(group) = self.robots.groups.last_mut() else {
            return;
        };
        self.naming = false;
        self.text
            .push_str(if allow { "allow: " } else { "disallow: " });
        let start = self.text.len();
        pattern::push_normalised_pattern(&mut self.text, value);
        let pattern = &self.text[start..];
        // Paths start with a slash, so any other pattern matches none; the
        // empty one is the customary way to say that nothing is forbidden.
        if !pattern.starts_with(['/', '*']) {
            return;
        }
        let whole = Rule {
            allow,
            line: self.line,
            start: start as u32,
            end: self.text.len() as u32,
            literal_end: (start + pattern::literal_len(pattern)) as u32,
            directory_end: None,
        };
        let directory_len = pattern.rfind('/').map_or(0, |slash| slash + 1);
        if allow && pattern[directory_len..].starts_with("index.htm") && directory_len > 0 {
            let end = (start + directory_len) as u32;
            group.rules.push(Rule {
                literal_end: whole.literal_end.min(end),
                directory_end: Some(end),
                ..whole
            });
        }
        group.rules.push(whole);
    }

    fn crawl_delay(&mut self, value: &[u8]) {
        let Some(run) = self.runs.last_mut() else {
            return;
        };
        self.text.push_str("crawl-delay: ");
        if let Some((written, delay)) = parse_delay(value) {
            self.text.push_str(written);
            run.delay = run.delay.max(Some(delay));
        }
    }

    fn sitemap(&mut self, value: &[u8]) {
        let value = String::from_utf8_lossy(value).into_owned();
        if value.is_empty() {
            return;
        }
        self.text.push_str("sitemap: ");
        self.text.push_str(&value);
        self.robots.sitemaps.push(value);
    }

    fn finish(mut self) -> Robots {
        let end = self.text.trim_end_matches('\n').len();
        self.text.truncate((end + 1).min(self.text.len()));
        if end == 0 {
            self.text.clear();
        }
        for group in &mut self.robots.groups {
            // Stable, so that of two equal rules the earlier line is named.
            group
                .rules
                .sort_by_key(|rule| std::cmp::Reverse(rule.rank()));
        }
        for later in (1..self.runs.len()).rev() {
            if self.runs[later - 1].group == self.runs[later].group {
                self.runs[later - 1].delay = self.runs[later - 1].delay.max(self.runs[later].delay);
            }
        }
        let runs = self.runs;
        let delay = |named: &Named| {
            let delays = named.runs.iter().map(|&run| runs[run as usize].delay);
            delays.max().flatten()
        };
        let mut agents: Vec<Agent> = (self.agents.into_iter())
            .map(|(token, named)| Agent {
                token: token.into(),
                crawl_delay: delay(&named),
                groups: named.groups,
            })
            .collect();
        agents.sort_unstable_by(|a, b| a.token.cmp(&b.token));
        Robots {
            text: self.text.into(),
            agents,
            ..self.robots
        }
    }
}

/// Appends what is not the last already.
fn push_new(list: &mut Vec<u32>, number: u32) {
    if list.last() != Some(&number) {
        list.push(number);
    }
}

/// Key and value of a line, without comment and surrounding white space.
fn split(line: &[u8]) -> Option<(Key, &[u8])> {
    let line = match memchr::memchr(b'#', line) {
        Some(comment) => &line[..comment],
        None => line,
    };
    let line = line.trim_ascii();
    let (key, value) = match memchr::memchr(b':', line) {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => split_without_colon(line)?,
    };
    Some((Key::recognise(key.trim_ascii())?, value.trim_ascii()))
}

/// People forget the colon. Two words and nothing else are a key and a value;
/// more of them are prose.
fn split_without_colon(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let blank = line.iter().position(is_blank)?;
    let (key, value) = (&line[..blank], line[blank..].trim_ascii());
    (!value.iter().any(is_blank)).then_some((key, value))
}

impl Key {
    /// Keys count from their start on (`Disallowed`, `Sitemaps`), in any case,
    /// and in the misspellings that search engines publish as accepted.
    fn recognise(key: &[u8]) -> Option<Self> {
        const SPELLINGS: [(&str, Key); 14] = [
            ("disallow", Key::Disallow),
            ("allow", Key::Allow),
            ("user-agent", Key::UserAgent),
            ("sitemap", Key::Sitemap),
            ("crawl-delay", Key::CrawlDelay),
            ("useragent", Key::UserAgent),
            ("user agent", Key::UserAgent),
            ("site-map", Key::Sitemap),
            ("crawldelay", Key::CrawlDelay),
            ("dissallow", Key::Disallow),
            ("dissalow", Key::Disallow),
            ("disalow", Key::Disallow),
            ("diasllow", Key::Disallow),
            ("disallaw", Key::Disallow),
        ];
        let starts_with = |spelling: &str| {
            key.get(..spelling.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(spelling.as_bytes()))
        };
        SPELLINGS
            .iter()
            .find(|(spelling, _)| starts_with(spelling))
            .map(|&(_, key)| key)
    }
}

/// Seconds, whole or with a fraction. Anything else, units included, is no
/// delay: guessing could stall a site for a day.
fn parse_delay(value: &[u8]) -> Option<(&str, Duration)> {
    let text = str::from_utf8(value).ok()?;
    let is_number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds: f64 = text.parse().ok().filter(|_| is_number)?;
    // More seconds than there are: the site wants to be left alone.
    let delay = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(u64::MAX));
    Some((text, delay))
}
