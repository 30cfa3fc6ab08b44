//! Which visits are meant: what was typed, checked, and asked of every row.

use geomi_model::{NetworkState, Timestamp, Visit};
use geomi_scope::{Selection, SelectionConfig};

use super::args::FilterArgs;
use crate::config::{Place, Problems, parse_duration};

/// A selection of visits.
#[derive(Debug)]
pub(crate) struct Filter {
    pages: Selection,
    states: Vec<NetworkState>,
    codes: Vec<Codes>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    limit: u64,
}

/// One status code, or a hundred of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Codes {
    One(u16),
    Class(u16),
}

impl Filter {
    /// Reads the flags and says everything that is wrong with them. `now` is what
    /// spans are counted back from.
    pub(crate) fn new(args: &FilterArgs, now: Timestamp) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let mut flag = |name: &str, what: String| {
            problems.add(&Place::Flag(name.to_owned()), what);
        };
        let states = each(&args.state, "--state", state, &mut flag);
        let codes = each(&args.code, "--code", codes, &mut flag);
        let mut moment = |text: &Option<String>, name: &str| {
            let text = text.as_deref()?;
            time(text, now).map_err(|what| flag(name, what)).ok()
        };
        let (since, until) = (
            moment(&args.since, "--since"),
            moment(&args.until, "--until"),
        );
        if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            flag(
                "--until",
                format!("no visit lies before {until} and not before {since}"),
            );
        }
        let pages = Selection::new(&SelectionConfig {
            sites: args.site.clone(),
            urls: args.url.clone(),
            mimes: args.mime.clone(),
        });
        let pages = match pages {
            Ok(pages) => Some(pages),
            Err(errors) => {
                for error in errors {
                    problems.add_general(error.to_string());
                }
                None
            }
        };
        problems.into_result()?;
        Ok(Self {
            pages: pages.expect("without problems there is a selection"),
            states,
            codes,
            since,
            until,
            limit: args.limit.unwrap_or(u64::MAX),
        })
    }

    /// Whether a visit is meant.
    pub(crate) fn has(&self, visit: &Visit) -> bool {
        let code_fits = |code: u16| self.codes.iter().any(|codes| codes.has(code));
        self.since.is_none_or(|since| visit.time >= since)
            && self.until.is_none_or(|until| visit.time < until)
            && (self.states.is_empty() || self.states.contains(&visit.state))
            && (self.codes.is_empty() || visit.code.is_some_and(code_fits))
            && self.pages.has(&visit.url, visit.mime.as_deref())
    }

    /// Visits taken at most.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }
}

/// The flags in one line, for those who find the export later.
pub(crate) fn describe(args: &FilterArgs) -> String {
    let lists = [
        ("--site", &args.site),
        ("--url", &args.url),
        ("--type", &args.mime),
        ("--state", &args.state),
        ("--code", &args.code),
    ];
    let lists = lists
        .into_iter()
        .flat_map(|(flag, values)| values.iter().map(move |value| format!("{flag} {value}")));
    let limit = args.limit.map(|limit| limit.to_string());
    let singles = [
        ("--since", &args.since),
        ("--until", &args.until),
        ("--limit", &limit),
    ];
    let singles = singles
        .into_iter()
        .filter_map(|(flag, value)| Some(format!("{flag} {}", value.as_ref()?)));
    let all: Vec<String> = lists.chain(singles).collect();
    if all.is_empty() {
        "every capture".to_owned()
    } else {
        all.join(" ")
    }
}

impl Codes {
    fn has(self, code: u16) -> bool {
        match self {
            Self::One(one) => code == one,
            Self::Class(class) => code / 100 == class,
        }
    }
}

fn each<T>(
    texts: &[String],
    name: &str,
    read: fn(&str) -> Result<T, String>,
    flag: &mut impl FnMut(&str, String),
) -> Vec<T> {
    let mut found = Vec::with_capacity(texts.len());
    for text in texts {
        match read(text) {
            Ok(value) => found.push(value),
            Err(what) => flag(name, what),
        }
    }
    found
}

fn state(text: &str) -> Result<NetworkState, String> {
    let name = text.replace(['-', '_'], " ");
    let found = NetworkState::ALL
        .into_iter()
        .find(|state| state.as_str().eq_ignore_ascii_case(&name));
    found.ok_or_else(|| {
        let names = NetworkState::ALL.map(|state| state.as_str().replace(' ', "-"));
        format!("{text:?} is no network state: one of {}", names.join(", "))
    })
}

fn codes(text: &str) -> Result<Codes, String> {
    let lower = text.to_ascii_lowercase();
    let read = match lower.strip_suffix("xx") {
        Some(class) => class
            .parse()
            .ok()
            .filter(|class| (1..=9).contains(class))
            .map(Codes::Class),
        None => lower
            .parse()
            .ok()
            .filter(|code| (100..=999).contains(code))
            .map(Codes::One),
    };
    read.ok_or_else(|| format!("{text:?} is no status code: write one like 404 or 4xx"))
}

fn time(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let midnight = || Timestamp::parse_rfc3339(&format!("{text}T00:00:00Z"));
    if let Some(moment) = Timestamp::parse_rfc3339(text).or_else(midnight) {
        return Ok(moment);
    }
    let span = parse_duration(text);
    span.map(|span| now - span).map_err(|_| {
        format!("{text:?} is no time: write 2026-11-15, 2026-11-15T09:42:00Z or a span back from now such as 2h")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

    #[test]
    fn times_are_moments_dates_or_spans_back() {
        let at = |text| time(text, NOW).unwrap();
        assert_eq!(
            at("2026-11-15T09:42:00+09:00").to_rfc3339_secs(),
            "2026-11-15T00:42:00Z"
        );
        assert_eq!(at("2026-11-15").to_rfc3339_secs(), "2026-11-15T00:00:00Z");
        assert_eq!(at("90s"), Timestamp::from_secs(1_799_999_910));
        for wrong in ["yesterday", "2026-13-01", "12", ""] {
            assert!(time(wrong, NOW).unwrap_err().contains("2h"), "{wrong}");
        }
    }

    #[test]
    fn states_and_codes_read_leniently() {
        assert_eq!(state("ctim"), Ok(NetworkState::ConnectTimeout));
        assert_eq!(state("not-tried"), Ok(NetworkState::NotTried));
        assert!(state("404").unwrap_err().contains("noIP"));
        assert_eq!(codes("404"), Ok(Codes::One(404)));
        assert!(codes("4XX").unwrap().has(410) && !codes("4xx").unwrap().has(500));
        for wrong in ["4x", "xx", "40", "99xx", "-1"] {
            assert!(codes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_mistake_is_said_at_once() {
        let args = FilterArgs {
            site: vec!["a b".into()],
            mime: vec!["html".into()],
            state: vec!["fine".into()],
            code: vec!["x".into()],
            since: Some("2026-11-02".into()),
            until: Some("2026-11-01".into()),
            ..FilterArgs::default()
        };
        let problems = Filter::new(&args, NOW).unwrap_err();
        assert_eq!(problems.iter().count(), 5, "{problems}");
    }

    #[test]
    fn the_flags_describe_themselves() {
        assert_eq!(describe(&FilterArgs::default()), "every capture");
        let args = FilterArgs {
            site: vec!["a.com".into(), "b.com".into()],
            since: Some("2h".into()),
            limit: Some(3),
            ..FilterArgs::default()
        };
        assert_eq!(
            describe(&args),
            "--site a.com --site b.com --since 2h --limit 3"
        );
    }
}
