//! Probes: whether a part of a site has an end, asked of the server itself.
//!
//! A list of a thousand days and an endless calendar look the same for their first
//! hundred pages. What tells them apart is a URL that no page links to: a generator
//! answers it like any other, a site that has so many pages and no more does not. So
//! where a template or section is suspect, one such URL is made from a page that leads
//! on, and asked for:
//!
//! | the page | the probe |
//! |---|---|
//! | leads further down, or to a URL that contains its own | the step from the page to its link, eight more times |
//! | bears a date | the same date in the years 2090 and 1850 |
//! | leads to combinations of filters or words | those of two of its links together, in another order |
//! | has numbers | each number that steps from page to page, a thousand times larger |
//! | nothing of that, or names that differ from page to page, too | two URLs with another name of the same form |
//!
//! It **leads on** if its answer is a page with a link, not known yet, that goes further
//! in the same direction: beyond the number, with as many query pairs. Then there is no end, and the template is deferred at once.
//! Otherwise, and if all probes of the page say so, there is an end: nothing the pages
//! say is held against the template any more, until it has grown four times as large: then
//! the server is asked again. Links of a probe are not followed.
//!
//! Redirects of a combination, failures and what robots.txt forbids decide nothing.

use std::cmp::Ordering;
use std::fmt::Write as _;

use geomi_url::CrawlUrl;
use geomi_url::template::{Template, contains_id, is_id};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Years in which no site has events, and every calendar has days.
const FUTURE: u16 = 2_090;
const PAST: u16 = 1_850;
/// Links of a page that are combined.
const LINKS_MAX: usize = 32;
/// Digits of a number that is multiplied; longer ones are names.
const DIGITS_MAX: usize = 6;
/// Probes of one subject, those that decide nothing included.
const ASKED_MAX: u8 = 6;
/// Numbers of one URL that are moved.
const NUMBERS_MAX: usize = 3;
/// A longer part of a URL may be a name.
const NAME_MIN: usize = 3;
/// How often a step is repeated: further than the levels of a tree whose levels have the
/// same names.
const STEPS: usize = 8;
/// Numbers of pages alike that are this far apart count nothing.
const DRAWN_MIN: u64 = 10_000;
/// How many times as many pages must lead on, and how many at least, before an end that
/// was found is doubted again.
const DOUBT_FACTOR: u32 = 4;
const DOUBT_MIN: u32 = 240;

/// What is known of whether there is an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum End {
    /// Nobody asked, or the answers decided nothing.
    #[default]
    Unknown,
    /// There is one.
    Exists,
    /// There is none.
    Missing,
}

/// What has no end, where that is not all of a template or section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Paths from so many segments on.
    Grows(usize),
    /// Combinations of query pairs or words.
    Combines,
}

/// How a probe was made, and so what its links must be like to lead on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Form {
    Date(u16),
    /// Which of the URL's numbers is far out.
    Far(usize),
    /// The same of a number that does not count.
    Drawn(usize),
    Combined,
    /// With the segments from which on paths grow.
    Grown(usize),
    Token,
    /// Another name where all known ones redirect to known pages.
    Redirect,
}

/// The probes of a template or a section.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Probes {
    pub(crate) end: End,
    /// Probes made so far.
    asked: u8,
    /// Of the last page, probes that found an end.
    ended: u8,
    /// The probe under way.
    awaited: Option<(u64, Form)>,
    /// What a first probe with another name led to.
    led_to: Option<u64>,
    /// Whether an answer is wanted, even if evidence is no longer against the part.
    has_begun: bool,
    /// Pages that led on after which it is asked (again).
    doubt_at: u32,
}

/// A page that leads on, and of which a probe may be made.
#[derive(Clone, Copy)]
pub(crate) struct Suspect<'a> {
    pub(crate) url: &'a CrawlUrl,
    pub(crate) template: &'a Template,
    /// The page it was found on.
    pub(crate) via: Option<&'a CrawlUrl>,
    /// Its links in the same section.
    pub(crate) links: &'a [&'a CrawlUrl],
    /// Whether it is or leads to combinations of what other URLs have.
    pub(crate) combines: bool,
    /// Whether its year may be a number: pages whose URLs have a number there are known.
    pub(crate) is_number: bool,
    /// Whether a URL of the site was found before.
    pub(crate) is_known: &'a dyn Fn(&CrawlUrl) -> bool,
}

impl Probes {
    /// Whether another probe may be made.
    pub(crate) fn may_ask(&self) -> bool {
        self.end != End::Missing && self.awaited.is_none() && self.asked < ASKED_MAX
    }

    /// Whether it is asked or to be asked, whatever the evidence says.
    pub(crate) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Doubts that there is an end, found or not, when its part has grown several times as
    /// large: another page may show another way in which it grows.
    pub(crate) fn doubt(&mut self, led_on: u32) {
        if led_on >= self.doubt_at.max(DOUBT_MIN) && self.awaited.is_none() {
            self.doubt_at = led_on.saturating_mul(DOUBT_FACTOR);
            (self.asked, self.ended, self.led_to) = (0, 0, None);
            self.has_begun = true;
        }
    }

    /// The next probe, if one can be made of this page. If all were answered, there is
    /// an end.
    pub(crate) fn next(&mut self, suspect: Suspect<'_>) -> Option<CrawlUrl> {
        if !self.may_ask() {
            return None;
        }
        let probes = candidates(suspect);
        let grows = (probes.iter()).any(|(_, form)| matches!(form, Form::Grown(_)));
        let needs_combining = !grows && needs_combining(suspect);
        let done = usize::from(self.ended) + usize::from(self.led_to.is_some());
        let Some((url, form)) = probes.into_iter().nth(done) else {
            if done == 0 && needs_combining {
                // Another page may have links that can be combined.
                return None;
            }
            // Paths combine by growing, or by joined words: both make a probe.
            let is_open = needs_combining && suspect.url.query().is_some();
            if self.ended > 0 && !is_open {
                self.end = End::Exists;
            }
            self.asked = ASKED_MAX;
            self.has_begun = false;
            return None;
        };
        self.asked += 1;
        self.has_begun = true;
        self.awaited = Some((url.hash64().0, form));
        Some(url)
    }

    /// A probe with another name, where a template only redirects to known pages.
    pub(crate) fn next_redirect(&mut self, url: &CrawlUrl) -> Option<CrawlUrl> {
        if !self.may_ask() {
            return None;
        }
        let text = url.path_and_query();
        let other = far(text, None).map_or_else(|| renamed(text, 1), |(text, _)| Some(text));
        let probe = parse(url, &other?)?;
        self.asked = ASKED_MAX;
        self.awaited = Some((probe.hash64().0, Form::Redirect));
        Some(probe)
    }

    /// Whether this URL is the probe under way.
    pub(crate) fn awaits(&self, url: &CrawlUrl) -> bool {
        self.awaited
            .is_some_and(|(probe, _)| probe == url.hash64().0)
    }

    /// Whether a link of the probe, not known yet, goes further in its direction.
    pub(crate) fn leads_on(&self, probe: &CrawlUrl, link: &CrawlUrl) -> bool {
        let Some((_, form)) = self.awaited else {
            return false;
        };
        let (own, other) = (probe.path_and_query(), link.path_and_query());
        match form {
            Form::Date(year) => {
                let towards = if year == PAST {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
                step(own, other) == Some(towards)
            }
            Form::Far(at) | Form::Drawn(at) => is_further(own, other, at),
            Form::Redirect => false,
            Form::Token => Template::of(link) == Template::of(probe),
            Form::Combined => {
                let (probe, link) = (Template::of(probe), Template::of(link));
                // Fewer pairs are no more combined than what the page links to anyway.
                link.section() == probe.section() && link.pairs() >= probe.pairs()
            }
            Form::Grown(_) => Template::of(link).section() == Template::of(probe).section(),
        }
    }

    /// Takes in the answer. If paths grow or combinations are made without an end, that
    /// concerns these only.
    pub(crate) fn answered(&mut self, answer: ProbeAnswer<'_>) -> Option<Verdict> {
        let (_, form) = self.awaited.take()?;
        match (answer, form) {
            (ProbeAnswer::Redirect, Form::Redirect) => self.end = End::Missing,
            (_, Form::Redirect) => self.end = End::Exists,
            (ProbeAnswer::Undecided, _) | (ProbeAnswer::Redirect, Form::Combined) => {}
            // A page for any number: other names tell whether they mean anything.
            (ProbeAnswer::Page([]), Form::Drawn(_)) => self.ended += 1,
            (ProbeAnswer::NoPage | ProbeAnswer::Redirect | ProbeAnswer::Page([]), form) => {
                let is_number = matches!(form, Form::Drawn(_));
                self.ended += if is_number { ASKED_MAX } else { 1 };
            }
            (ProbeAnswer::Page(_), Form::Grown(segments)) => {
                // A server that answers any path says nothing by other answers.
                self.asked = ASKED_MAX;
                return Some(Verdict::Grows(segments));
            }
            (ProbeAnswer::Page(_), Form::Combined) => {
                self.asked = ASKED_MAX;
                return Some(Verdict::Combines);
            }
            (ProbeAnswer::Page(onward), Form::Token) => {
                // A site that shows its newest pages under any name shows the same twice.
                let first = onward.iter().map(|link| link.hash64().0).min();
                match (self.led_to, first) {
                    (None, first) => self.led_to = first,
                    (Some(before), Some(now)) if before != now => self.end = End::Missing,
                    _ => self.ended += 2,
                }
            }
            (ProbeAnswer::Page(_), _) => self.end = End::Missing,
        }
        None
    }
}

/// What came of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProbeAnswer<'a> {
    /// A page, with the links by which it leads on.
    Page(&'a [CrawlUrl]),
    /// No page: an error, or words to that effect.
    NoPage,
    /// A redirect.
    Redirect,
    /// Nothing that decides.
    Undecided,
}

/// The probes that can be made of a page, in order.
fn candidates(suspect: Suspect<'_>) -> Vec<(CrawlUrl, Form)> {
    let Suspect { url, template, .. } = suspect;
    let text = url.path_and_query();
    let mut probes = Vec::new();
    let mut add = |text: Option<String>, form| {
        let url = text.and_then(|text| parse(url, &text));
        probes.extend(url.map(|url| (url, form)));
    };
    let links = suspect.links.iter().map(|link| link.path_and_query());
    let is_known = |text: &str| parse(url, text).is_some_and(|url| (suspect.is_known)(&url));
    if let Some((grown, from)) = growth(text, &links.collect::<Vec<_>>(), is_known) {
        add(Some(grown), Form::Grown(from));
        if suspect.combines && url.query().is_none() {
            // Folders that are filters may stand in one order only, and once.
            let steps = steps(text, suspect.links);
            if steps.len() >= STEPS {
                let folder = &text[..=text.rfind('/').unwrap_or(0)];
                let in_order = steps[..STEPS].concat();
                let reversed: String = steps[..STEPS].iter().rev().copied().collect();
                add(Some(format!("{folder}{in_order}")), Form::Grown(from));
                add(Some(format!("{folder}{reversed}")), Form::Grown(from));
            }
        }
    }
    let is_dated = template.year().is_some() && !suspect.is_number;
    if is_dated {
        add(in_year(text, FUTURE), Form::Date(FUTURE));
        add(in_year(text, PAST), Form::Date(PAST));
    }
    if suspect.combines {
        add(combined(suspect.links), Form::Combined);
    }
    if !is_dated {
        let mut all = all_far(suspect);
        all.sort_by_key(|(_, at)| is_drawn(suspect, *at));
        for (far, at) in all {
            let form = if is_drawn(suspect, at) {
                Form::Drawn(at)
            } else {
                Form::Far(at)
            };
            add(Some(far), form);
        }
    }
    let has_drawn = probes
        .last()
        .is_some_and(|(_, form)| matches!(form, Form::Drawn(_)));
    let is_named =
        probes.is_empty() || has_drawn || has_id(text) || (!suspect.combines && has_name(suspect));
    if is_named && !needs_combining(suspect) {
        let probe = |turn| Some((parse(url, &renamed(text, turn)?)?, Form::Token));
        probes.extend((1..=2).filter_map(probe));
    }
    probes
}

/// The page with each of its numbers far out that steps from page to page: first the one
/// that [`far`] finds, then those in which its links of the same template differ from it.
fn all_far(suspect: Suspect<'_>) -> Vec<(String, usize)> {
    let text = suspect.url.path_and_query();
    let via = suspect.via.map(CrawlUrl::path_and_query);
    let is_alike = |link: &&&CrawlUrl| Template::of(link) == *suspect.template;
    let links = suspect.links.iter().take(LINKS_MAX).filter(is_alike);
    let links = links.map(|link| link.path_and_query());
    let mut found: Vec<(String, usize)> = Vec::new();
    found.extend(far(text, via));
    for link in links {
        let (own, theirs): (Vec<_>, Vec<_>) = (counted(text).collect(), counted(link).collect());
        if own.len() != theirs.len() {
            continue;
        }
        let moving = own.iter().zip(&theirs).filter(|(a, b)| a.0 != b.0);
        for (number, _) in moving {
            let new = moved(text, *number);
            found.extend(new.filter(|(_, at)| found.iter().all(|(_, known)| known != at)));
        }
    }
    found.truncate(NUMBERS_MAX);
    found
}

/// Whether a number of the page is far from that of pages like it: it counts nothing, and
/// may mean nothing.
fn is_drawn(suspect: Suspect<'_>, at: usize) -> bool {
    let is_alike = |other: &&CrawlUrl| Template::of(other) == *suspect.template;
    let alike = suspect.via.into_iter().chain(suspect.links.iter().copied());
    let of = |url: &CrawlUrl| nth_number(url.path_and_query(), at).map(|(number, _)| number);
    let is_far = |own: u64| {
        let mut others = alike.filter(is_alike).filter_map(of);
        others.any(|other| other.abs_diff(own) >= DRAWN_MIN)
    };
    of(suspect.url).is_some_and(is_far)
}

/// The folders right below a page, each once, where its links end in a slash.
fn steps<'a>(page: &str, links: &[&'a CrawlUrl]) -> Vec<&'a str> {
    let folder = &page[..=page.rfind('/').unwrap_or(0)];
    let mut steps: Vec<&str> = Vec::new();
    for link in links {
        let step = link.path_and_query().strip_prefix(folder);
        let is_folder = |step: &&str| step.find('/').is_some_and(|at| at + 1 == step.len());
        steps.extend(step.filter(is_folder).filter(|step| !steps.contains(step)));
    }
    steps
}

/// Whether a part of a URL was drawn by a machine.
fn has_id(text: &str) -> bool {
    text.split(is_mark).any(contains_id)
}

/// Whether words tell the pages of a template apart, too, whatever their numbers: the last
/// part of a page has other letters than that of a page like it.
fn has_name(suspect: Suspect<'_>) -> bool {
    let last = |url: &CrawlUrl| {
        let part = url.path_and_query().rsplit(is_mark).next();
        part.unwrap_or_default().to_owned()
    };
    let letters = |part: &str| part.replace(|c: char| c.is_ascii_digit(), "");
    let is_alike = |other: &&CrawlUrl| Template::of(other) == *suspect.template;
    let via = suspect.via.into_iter();
    let mut alike = via.chain(suspect.links.iter().copied()).filter(is_alike);
    let own = last(suspect.url);
    let is_other = |other: &CrawlUrl| letters(&last(other)) != letters(&own);
    own.len() > NAME_MIN && alike.any(is_other)
}

/// Whether only a combination could tell whether there is an end, and none was made: the
/// page leads to combinations of other names than its own, of repeated names, or of
/// words. A table, whose pages all have the same names, is none.
fn needs_combining(suspect: Suspect<'_>) -> bool {
    let names = |url: &CrawlUrl| {
        let pairs = url.query().into_iter().flat_map(|query| query.split('&'));
        let name = |pair: &str| pair.split('=').next().unwrap_or(pair).to_owned();
        let mut names: Vec<String> = pairs.map(name).collect();
        names.sort_unstable();
        names
    };
    let own = names(suspect.url);
    let is_table = |link: &&CrawlUrl| {
        let theirs = names(link);
        !theirs.is_empty() && theirs == own && theirs.windows(2).all(|pair| pair[0] != pair[1])
    };
    let is_table = !suspect.links.is_empty() && suspect.links.iter().all(is_table);
    suspect.combines && !is_table
}

fn parse(base: &CrawlUrl, path_and_query: &str) -> Option<CrawlUrl> {
    let url = CrawlUrl::parse(&format!("{}{path_and_query}", base.origin())).ok()?;
    (url != *base).then_some(url)
}

/// The numbers in a text, each with where its digits begin and how many they are. Digits
/// of escaped bytes (`%20`) are none.
fn numbers(text: &str) -> impl Iterator<Item = (u64, (usize, usize))> {
    let bytes = text.as_bytes();
    let mut from = 0;
    let runs = std::iter::from_fn(move || {
        while !bytes.get(from)?.is_ascii_digit() {
            from += if bytes[from] == b'%' { 3 } else { 1 };
        }
        let rest = bytes[from..].iter();
        let (start, len) = (from, rest.take_while(|byte| byte.is_ascii_digit()).count());
        from += len;
        Some((start, len))
    });
    runs.filter_map(|(start, len)| Some((text[start..start + len].parse().ok()?, (start, len))))
}

/// In which direction one URL goes on from another: by the first number in which they
/// differ, if they have as many.
fn step(from: &str, to: &str) -> Option<Ordering> {
    let numbers = |text| numbers(text).map(|(value, _)| value).collect::<Vec<u64>>();
    let (from, to) = (numbers(from), numbers(to));
    if from.len() != to.len() {
        return None;
    }
    let steps = from.iter().zip(&to).map(|(from, to)| to.cmp(from));
    steps.into_iter().find(|step| step.is_ne())
}

/// Whether one URL goes further out than another in a number: by that number itself, or by
/// one behind it. A page that ignores the number and repeats it in links to its neighbours
/// (`?post=13&page=3007`) does neither.
fn is_further(from: &str, to: &str, at: usize) -> bool {
    let before = |text| -> Vec<u64> { numbers(text).take(at).map(|(value, _)| value).collect() };
    match nth_number(to, at).cmp(&nth_number(from, at)) {
        Ordering::Greater => true,
        Ordering::Equal => before(from) == before(to) && step(from, to) == Some(Ordering::Greater),
        Ordering::Less => false,
    }
}

/// The URL with its year replaced.
fn in_year(text: &str, year: u16) -> Option<String> {
    let is_year = |start: usize, len: usize| {
        let digits = &text[start..start + len];
        matches!(len, 4 | 6 | 8) && (digits.starts_with("19") || digits.starts_with("20"))
    };
    let (_, (start, _)) = numbers(text).find(|(_, (start, len))| is_year(*start, *len))?;
    Some(format!("{}{year}{}", &text[..start], &text[start + 4..]))
}

/// The number that stands at a place among the numbers of a text, with its decimals.
fn nth_number(text: &str, at: usize) -> Option<(u64, Option<u64>)> {
    let mut all = numbers(text).skip(at);
    let (value, (start, len)) = all.next()?;
    let is_decimal = |from: usize| text[start + len..from] == *".";
    let decimals = all.next().filter(|(_, (from, _))| is_decimal(*from));
    Some((value, decimals.map(|(value, _)| value)))
}

/// The URL with the number far out that steps from the page before it: the last that
/// differs, or else the last of all. With the place of that number among all of them.
fn far(text: &str, via: Option<&str>) -> Option<(String, usize)> {
    let own: Vec<_> = counted(text).collect();
    let before: Vec<_> = via.map(|via| counted(via).collect()).unwrap_or_default();
    let steps = own.len() == before.len();
    let differs = own.iter().zip(&before).rev().find(|(a, b)| a.0 != b.0);
    let number = *match differs.filter(|_| steps) {
        Some((moving, _)) => moving,
        None => own.last()?,
    };
    moved(text, number)
}

/// The URL with one of its numbers far out, and the place of that number.
fn moved(text: &str, (value, (start, len)): (u64, (usize, usize))) -> Option<(String, usize)> {
    if len > DIGITS_MAX {
        return None;
    }
    let far = (value + 1) * 1_000 + 7;
    let far = format!("{}{far}{}", &text[..start], &text[start + len..]);
    Some((far, numbers(&text[..start]).count()))
}

/// The numbers in a text that are not part of a name drawn by a machine.
fn counted(text: &str) -> impl Iterator<Item = (u64, (usize, usize))> {
    numbers(text).filter(|(_, (start, len))| {
        let from = text[..*start].rfind(is_mark).map_or(0, |at| at + 1);
        let rest = &text[start + len..];
        let to = rest.find(is_mark).map_or(text.len(), |at| start + len + at);
        !is_id(&text[from..to])
    })
}

/// Whether a character separates parts of a URL.
const fn is_mark(c: char) -> bool {
    matches!(c, '/' | '?' | '&' | '=')
}

/// The step from a page to a link that contains it, or that is further down, some more
/// times; and from which [depth](Template::depth) on such URLs grow.
fn growth(page: &str, links: &[&str], is_known: impl Fn(&str) -> bool) -> Option<(String, usize)> {
    let (path, _) = page.split_once('?').unwrap_or((page, ""));
    let appended = links.iter().find_map(|link| link.strip_prefix(page));
    if let Some(step) = appended.filter(|step| step.starts_with(';')) {
        // Parameters of a segment, one after the other.
        let segments = path.matches('/').count();
        return Some((format!("{page}{}", step.repeat(STEPS)), segments + 2));
    }
    if path.len() > 1 {
        let quoted = quote(page);
        let step = links.iter().find_map(|link| link.split_once(&*quoted));
        if let Some((before, after)) = step {
            // What a page gives itself to come back to.
            let once = format!(
                "{before}{}{after}",
                quote(&format!("{before}{quoted}{after}"))
            );
            let depth = 1 + before.matches('/').count();
            return Some((format!("{before}{}{after}", quote(&once)), depth));
        }
        let step = links.iter().find_map(|link| link.strip_suffix(page));
        if let Some(before) = step.filter(|before| before.len() > 1) {
            // A language before the path, whatever is there already.
            let is_step = |segment: &&str| {
                links.iter().any(|link| {
                    let first = link.trim_start_matches('/').split('/').next();
                    link.ends_with(page) && first == Some(*segment)
                })
            };
            let own: Vec<&str> = path.split('/').skip(1).collect();
            let stepped = own.iter().copied().take_while(is_step).count();
            let added = before.matches('/').count();
            let from = own.len() - stepped + 2 * added;
            return Some((format!("{}{page}", before.repeat(STEPS)), from));
        }
    }
    let only_path = |text: &'_ str| text.find('?').unwrap_or(text.len());
    let paths: Vec<&str> = links.iter().map(|link| &link[..only_path(link)]).collect();
    let grows = |link: &&str| grown(path, link).is_some();
    let growing: Vec<&str> = paths.iter().copied().filter(grows).collect();
    let probe = grown(path, growing.first()?)?;
    let from = grows_from(path, &growing);
    Some((
        probe,
        from.min(combined_from(path, is_known).unwrap_or(from)),
    ))
}

/// From how many segments on paths combine filters: two more than are left when every
/// segment is dropped without which the URL is known, too. `None` if there is none.
fn combined_from(page: &str, is_known: impl Fn(&str) -> bool) -> Option<usize> {
    let own: Vec<&str> = page.split('/').collect();
    let is_dropped = |at: &usize| {
        let mut rest = own.clone();
        rest.remove(*at);
        is_known(&rest.join("/"))
    };
    let named = (1..own.len()).filter(|at| !own[*at].is_empty());
    let dropped = named.filter(is_dropped).count();
    (dropped > 0).then(|| own.len() - 1 - dropped + 2)
}

/// A text as the value of a parameter.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            quoted.push(char::from(byte));
        } else {
            write!(quoted, "%{byte:02X}").expect("a string takes everything");
        }
    }
    quoted
}

/// The step from a page to a link further down, some more times: what a link that is
/// relative by mistake leads to.
fn grown(page: &str, link: &str) -> Option<String> {
    let folder = |path: &str| path.rfind('/').map_or(0, |at| at + 1);
    let (above, step) = link.split_at_checked(folder(page))?;
    let is_further = step.matches('/').count() > page[folder(page)..].matches('/').count();
    if !page.starts_with(above) || !is_further {
        return None;
    }
    let mut grown = link.to_owned();
    for _ in 0..STEPS {
        grown.truncate(folder(&grown));
        grown.push_str(step);
    }
    Some(grown)
}

/// From how many segments on the paths of growing links grow: where the segments begin
/// of which their steps are made, and the shortest step.
fn grows_from(page: &str, growing: &[&str]) -> usize {
    let folder = page.rfind('/').map_or(0, |at| at + 1);
    let last = &page[folder..];
    let steps = growing.iter().filter_map(|path| path.get(folder..));
    // A step below the page itself begins with the page.
    let below = |step: &'_ str| {
        step.strip_prefix(last)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    let is_below = !last.is_empty() && steps.clone().all(below);
    let skipped = usize::from(is_below);
    let steps: Vec<Vec<&str>> = steps
        .map(|step| step.split('/').skip(skipped).collect())
        .collect();
    let is_number = |segment: &str| segment.bytes().all(|byte| byte.is_ascii_digit());
    let is_step = |segment: &&&str| {
        let mut made_of = steps.iter().flatten();
        made_of.any(|made| made == *segment || (is_number(made) && is_number(segment)))
    };
    let own: Vec<&str> = page.split('/').skip(1).collect();
    let stepped = own.iter().rev().take_while(is_step).count();
    let replaced = usize::from(!is_below && stepped == 0);
    let shortest = steps.iter().map(Vec::len).min().unwrap_or(1);
    own.len() - stepped - replaced + shortest
}

/// The parts of two links together, in the opposite order, if that is more than each of
/// them has: a table of rows and columns answers any row and column, but not three.
fn combined(links: &[&CrawlUrl]) -> Option<String> {
    let texts = links
        .iter()
        .take(LINKS_MAX)
        .map(|link| link.path_and_query());
    let texts: Vec<&str> = texts.collect();
    let pairs = texts.iter().enumerate();
    let mut pairs = pairs.flat_map(|(at, one)| texts[..at].iter().map(move |other| (one, other)));
    pairs.find_map(|(one, other)| together(one, other))
}

fn together(one: &str, other: &str) -> Option<String> {
    let word_start = |text: &str| text.rfind(['/', '=']).map_or(0, |at| at + 1);
    let queries = one.split_once('?').zip(other.split_once('?'));
    if let Some(((path, own), (_, others))) = queries.filter(|(one, other)| one.0 == other.0) {
        let name = |pair: &str| pair.split('=').next().unwrap_or(pair).to_owned();
        let is_repeated = |query: &str| {
            let names: Vec<String> = query.split('&').map(name).collect();
            (1..names.len()).any(|at| names[..at].contains(&names[at]))
        };
        let repeats = is_repeated(own) || is_repeated(others);
        let same = |a: &str, b: &str| a == b || (!repeats && name(a) == name(b));
        let pairs = union(own, others, "&", same);
        if let Some(pairs) = pairs {
            return Some(format!("{path}?{pairs}"));
        }
    }
    let from = word_start(one);
    if from != word_start(other) || one[..from] != other[..from] {
        return None;
    }
    let (before, words) = one.split_at(from);
    let marks = ["%20", "+", ",", "%2B", "%2C", "-", "_", "."];
    let mark = marks.into_iter().find(|mark| words.contains(mark))?;
    let words = union(words, &other[from..], mark, |a, b| a == b)?;
    Some(format!("{before}{words}"))
}

/// All parts of two texts, in the opposite order; `None` if one of them has all.
fn union(one: &str, other: &str, mark: &str, same: impl Fn(&str, &str) -> bool) -> Option<String> {
    let mut parts: Vec<&str> = one.split(mark).collect();
    let (own, others) = (parts.len(), other.split(mark).count());
    let more = other
        .split(mark)
        .filter(|part| !one.split(mark).any(|known| same(known, part)));
    parts.extend(more);
    parts.reverse();
    (parts.len() > own.max(others)).then(|| parts.join(mark))
}

/// The URL with the last name that a machine drew, or else the last word, replaced by
/// another of the same form.
fn renamed(text: &str, turn: u8) -> Option<String> {
    let mut parts = Vec::new();
    let mut from = 0;
    for part in text.split(is_mark) {
        parts.push((from, part));
        from += part.len() + 1;
    }
    let is_name = |part: &str| contains_id(part) || part.len() > NAME_MIN;
    let (start, part) = parts.into_iter().rev().find(|(_, part)| is_name(part))?;
    let (stem, rest) = part
        .rsplit_once('.')
        .map_or((part, ""), |(stem, _)| (stem, &part[stem.len()..]));
    let mut seed = xxh3_64(stem.as_bytes()) ^ u64::from(turn);
    let mut other = |from: u8, len: u8| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(from + ((seed >> 33) % u64::from(len)) as u8)
    };
    let is_hex = stem
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let name: String = stem
        .chars()
        .map(|c| match c {
            '0'..='9' => other(b'0', 10),
            'a'..='z' => other(b'a', if is_hex { 6 } else { 26 }),
            'A'..='Z' => other(b'A', if is_hex { 6 } else { 26 }),
            c => c,
        })
        .collect();
    Some(format!(
        "{}{name}{rest}{}",
        &text[..start],
        &text[start + part.len()..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://e.com{text}")).unwrap()
    }

    /// The probes of a page.
    fn probes(page: &str, via: &str, links: &[&str]) -> Vec<String> {
        let (page, via) = (url(page), url(via));
        let links: Vec<CrawlUrl> = links.iter().map(|link| url(link)).collect();
        let links: Vec<&CrawlUrl> = links.iter().collect();
        let probes = candidates(Suspect {
            url: &page,
            template: &Template::of(&page),
            via: Some(&via),
            links: &links,
            combines: !links.is_empty(),
            is_number: false,
            is_known: &|_| false,
        });
        let probes = probes.into_iter();
        probes
            .map(|(url, _)| url.path_and_query().to_owned())
            .collect()
    }

    #[test]
    fn probes_are_far_out() {
        for (page, via, links, expected) in [
            (
                "/day/2024/05/07",
                "/day/2024/05/06",
                &[][..],
                &["/day/2090/05/07", "/day/1850/05/07"][..],
            ),
            (
                "/tide?port=3&y=2024&m=5",
                "/",
                &[],
                &["/tide?port=3&y=2090&m=5", "/tide?port=3&y=1850&m=5"],
            ),
            (
                "/s?code=593&page=7",
                "/s?code=593&page=6",
                &[],
                &["/s?code=593&page=8007"],
            ),
            ("/win?no=12", "/win?no=13", &[], &["/win?no=13007"]),
            (
                "/shop?f1=a",
                "/",
                &["/shop?f1=a&f2=b", "/shop?f1=a&f7=c"],
                &["/shop?f2=b&f7=c&f1=a", "/shop?f2007=a"],
            ),
            (
                "/tag/red",
                "/",
                &["/tag/red+wool", "/tag/red+big"],
                &["/tag/wool+big+red"],
            ),
            (
                "/search?q=red",
                "/",
                &["/search?q=red%20wool", "/search?q=red%20big"],
                &["/search?q=wool%20big%20red"],
            ),
            (
                "/p/x/related/3",
                "/p/x",
                &["/p/x/related/3/related/4"],
                &[
                    "/p/x/related/3/related/3/related/3/related/3/related/3/related/3/related/3/\
                     related/3/related/3/related/4",
                    "/p/x/related/4007",
                ],
            ),
            (
                "/map?x=5&y=7",
                "/",
                &["/map?x=6&y=7", "/map?x=5&y=8"],
                &["/map?x=5&y=8007", "/map?x=6007&y=7"],
            ),
            (
                "/list?year=2021&dept=CS",
                "/",
                &["/list?year=2021&dept=EE", "/list?year=2020&dept=CS"],
                &["/list?year=2090&dept=CS", "/list?year=1850&dept=CS"],
            ),
        ] {
            assert_eq!(probes(page, via, links), expected, "{page}");
        }
        let sessions = probes("/s~9f8a7b6c5d/doc/7", "/s~1a2b3c4d5e/doc/6", &[]);
        assert_eq!(sessions[0], "/s~9f8a7b6c5d/doc/8007");
        assert!(sessions.len() == 3 && sessions[1].ends_with("/doc/7"));
        let words = probes("/party-winter-31", "/time-year-7", &[]);
        assert_eq!((&*words[0], words.len()), ("/party-winter-32007", 3));
        let tokens = probes("/maze/9f8a7b6c5d", "/maze/1a2b3c4d5e", &[]);
        assert_eq!(tokens.len(), 2);
        assert!(
            tokens
                .iter()
                .all(|it| it.starts_with("/maze/") && it.len() == 16)
        );
        assert_ne!(tokens[0], tokens[1]);
    }

    #[test]
    fn filters_in_a_path_are_also_asked_for_once_each() {
        let links: Vec<String> = (0..9).map(|at| format!("/by/red/f{at}/")).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let probes = probes("/by/red/", "/by/", &links);
        assert!(probes[0].starts_with("/by/red/f0/f0/f0/"));
        assert_eq!(probes[1], "/by/red/f0/f1/f2/f3/f4/f5/f6/f7/");
        assert_eq!(probes[2], "/by/red/f7/f6/f5/f4/f3/f2/f1/f0/");
    }

    #[test]
    fn numbers_that_pass_years_are_numbers() {
        let page = url("/2001/");
        let template = Template::of(&page);
        let suspect = |is_number| Suspect {
            url: &page,
            template: &template,
            via: None,
            links: &[],
            combines: false,
            is_number,
            is_known: &|_| false,
        };
        let paths = |probes: Vec<(CrawlUrl, Form)>| -> Vec<String> {
            probes
                .iter()
                .map(|(url, _)| url.path().to_owned())
                .collect()
        };
        assert_eq!(paths(candidates(suspect(false))), ["/2090/", "/1850/"]);
        assert_eq!(paths(candidates(suspect(true))), ["/2002007/"]);
    }

    #[test]
    fn a_number_that_a_page_only_repeats_leads_nowhere() {
        let asked = |form, probe: &str, link: &str| {
            let probes = Probes {
                awaited: Some((0, form)),
                ..Probes::default()
            };
            probes.leads_on(&url(probe), &url(link))
        };
        // The list of a board below a post: posts of any list page link to their neighbours.
        assert!(!asked(
            Form::Far(1),
            "/b?no=12&page=3007",
            "/b?no=13&page=3007"
        ));
        assert!(asked(
            Form::Far(1),
            "/b?no=12&page=3007",
            "/b?no=12&page=3008"
        ));
        assert!(asked(
            Form::Far(0),
            "/map?lat=38007.81",
            "/map?lat=38007.91"
        ));
        // A page that answers any pairs links to what has fewer of them.
        let post = "/view?p=3&t=1&sid=7&start=0";
        assert!(!asked(Form::Combined, post, "/view?p=4&sid=7"));
        assert!(asked(Form::Combined, post, "/view?p=3&t=1&sid=7&start=15"));
    }

    #[test]
    fn a_number_that_counts_nothing_is_asked_for_twice_more() {
        let page = url("/p/15?print=1&from=526231");
        let via = url("/p/15?print=1&from=26769");
        let template = Template::of(&page);
        let suspect = Suspect {
            url: &page,
            template: &template,
            via: Some(&via),
            links: &[],
            combines: false,
            is_number: false,
            is_known: &|_| false,
        };
        let mut probes = Probes::default();
        let far = probes.next(suspect).unwrap();
        assert_eq!(far.path_and_query(), "/p/15?print=1&from=526232007");
        let mut items = probes.clone();
        items.answered(ProbeAnswer::NoPage);
        assert_eq!((items.next(suspect), items.end), (None, End::Exists));
        probes.answered(ProbeAnswer::Page(&[]));
        for from in ["1", "2"] {
            probes.next(suspect).unwrap();
            let onward = url(&format!("/p/15?print=1&from={from}"));
            probes.answered(ProbeAnswer::Page(&[onward]));
        }
        assert_eq!(probes.end, End::Missing);
    }

    #[test]
    fn an_end_is_doubted_when_its_part_has_grown_much_since() {
        let page = url("/p/12");
        let template = Template::of(&page);
        let suspect = Suspect {
            url: &page,
            template: &template,
            via: None,
            links: &[],
            combines: false,
            is_number: false,
            is_known: &|_| false,
        };
        let mut probes = Probes::default();
        probes.next(suspect).unwrap();
        probes.answered(ProbeAnswer::NoPage);
        assert_eq!((probes.next(suspect), probes.end), (None, End::Exists));
        probes.doubt(60);
        probes.doubt(239);
        assert_eq!(probes.next(suspect), None);
        probes.doubt(240);
        assert!(probes.next(suspect).is_some());
        assert_eq!(probes.end, End::Exists, "until the answer says otherwise");
    }

    #[test]
    fn growing_paths_grow_from_where_their_steps_begin() {
        for (page, growing, from) in [
            (
                "/p/x/related/3/related/7",
                &["/p/x/related/3/related/7/related/9"][..],
                4,
            ),
            ("/p/x", &["/p/x/related/9"], 4),
            (
                "/article/shop/item.html",
                &["/article/shop/shop/item.html"],
                3,
            ),
            (
                "/list/about/news/",
                &["/list/about/news/about/", "/list/about/news/news/"],
                3,
            ),
            ("/article/x", &["/article/about/"], 3),
        ] {
            assert_eq!(grows_from(page, growing), from, "{page}");
        }
    }

    #[test]
    fn filters_in_a_path_combine_from_the_second_on() {
        for (page, links, from) in [
            ("/by/red/wool/", &["/by/red/", "/by/wool/"][..], Some(4)),
            ("/by/red", &["/by", "/by/red/wool"], Some(3)),
            ("/docs/guide/intro", &["/docs/guide/intro/next"], None),
        ] {
            let is_known = |path: &str| links.contains(&path);
            assert_eq!(combined_from(page, is_known), from, "{page}");
        }
    }

    #[test]
    fn a_probe_that_leads_further_out_finds_no_end() {
        let page = url("/day/2024/05/07");
        let template = Template::of(&page);
        let suspect = Suspect {
            url: &page,
            template: &template,
            via: None,
            links: &[],
            combines: false,
            is_number: false,
            is_known: &|_| false,
        };
        let mut probes = Probes::default();
        let far = probes.next(suspect).unwrap();
        assert!(probes.awaits(&far));
        assert!(probes.leads_on(&far, &url("/day/2090/05/08")));
        for back in ["/day/2090/05/06", "/day/2024/05/08", "/"] {
            assert!(!probes.leads_on(&far, &url(back)), "{back}");
        }
        probes.answered(ProbeAnswer::NoPage);
        assert_eq!(probes.end, End::Unknown, "it may go back for ever");
        let past = probes.next(suspect).unwrap();
        assert_eq!(past.path(), "/day/1850/05/07");
        let mut endless = probes.clone();
        endless.answered(ProbeAnswer::Page(&[url("/day/1850/05/06")]));
        assert_eq!(endless.end, End::Missing);
        probes.answered(ProbeAnswer::Page(&[]));
        assert_eq!(probes.next(suspect), None);
        assert_eq!(probes.end, End::Exists);
    }

    #[test]
    fn the_last_of_all_combinations_says_nothing() {
        let page = url("/shop/red/wool/");
        let suspect = Suspect {
            url: &page,
            template: &Template::of(&page),
            via: None,
            links: &[],
            combines: true,
            is_number: false,
            is_known: &|_| false,
        };
        let mut probes = Probes::default();
        assert_eq!(probes.next(suspect), None);
        assert!(probes.may_ask(), "another page may tell");
    }

    #[test]
    fn a_page_shown_under_any_name_is_no_generator() {
        let page = url("/item/9f8a7b6c5d");
        let template = Template::of(&page);
        let suspect = Suspect {
            url: &page,
            template: &template,
            via: None,
            links: &[],
            combines: false,
            is_number: false,
            is_known: &|_| false,
        };
        let mut probes = Probes::default();
        let newest = [url("/item/1a2b3c4d5e")];
        probes.next(suspect).unwrap();
        probes.answered(ProbeAnswer::Page(&newest));
        let mut generator = probes.clone();
        probes.next(suspect).unwrap();
        probes.answered(ProbeAnswer::Page(&newest));
        assert_eq!((probes.next(suspect), probes.end), (None, End::Exists));
        generator.next(suspect).unwrap();
        generator.answered(ProbeAnswer::Page(&[url("/item/77aa77aa77")]));
        assert_eq!(generator.end, End::Missing);
    }
}
