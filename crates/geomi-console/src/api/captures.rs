//! Captures of a page: a list, the content of one, two compared.
//!
//! Content from the web is never shown as a page of ours: text goes out as
//! plain text, everything else as a file to be stored, both under a policy that
//! lets nothing run.

use axum::extract::State;
use axum::response::Response;
use geomi_model::Timestamp;
use geomi_store::cdxj::Entry;
use geomi_url::CrawlUrl;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limit;
use crate::accounts::Principal;
use crate::app::App;
use crate::diff::{self, Fate};
use crate::http::extract::{Path, Query};
use crate::http::guard::Caller;
use crate::http::operation::{Answer, Operation, Param, needed, number, schema};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::in_flight::{self, Reserved};
use crate::library::Crawl;
use crate::library::captures::{BYTES_MAX, Content, Shelf, Wanted, time};
use crate::wrong::Wrong;

/// The longest URL asked about.
const URL_MAX: usize = 2_048;
/// Earliest and latest time of a capture, as archives write it.
const TIME_MIN: u64 = 19_900_101_000_000;
const TIME_MAX: u64 = 99_991_231_235_959;
/// Lines of a comparison that are told, and characters of one.
const DIFF_LINES_MAX: usize = 2_000;
const DIFF_CHARS_MAX: usize = 1_000;
/// Lines around a change that are told as well.
const AROUND: usize = 3;
/// Nothing in there runs, loads or is anybody's.
const SANDBOX: HeaderValue =
    HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'");

/// A capture.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CaptureRow {
    /// When, as archives write it: 14 digits in UTC.
    pub(crate) at: u64,
    /// The same as RFC 3339.
    pub(crate) time: String,
    /// The URL as it was asked for.
    pub(crate) url: String,
    /// Status code.
    pub(crate) code: Option<u16>,
    /// Content type; where the same content was stored before, the one stated then.
    pub(crate) mime: Option<String>,
    /// Digest of the content.
    pub(crate) digest: Option<String>,
    /// Whether the content differs from that of the capture before; null for the first
    /// one, and where a digest is missing.
    pub(crate) changed: Option<bool>,
    /// Whether the content is not stored here, because it was stored before: in the
    /// capture before, an older one, or one of another URL.
    pub(crate) revisit: bool,
    /// WARC file it is stored in.
    pub(crate) file: String,
    /// Where in that file.
    pub(crate) offset: Option<u64>,
    /// Bytes of the record there.
    pub(crate) length: Option<u64>,
}

impl CaptureRow {
    /// A capture that was read, without those before it.
    fn alone(content: &Content) -> Self {
        Self {
            mime: content.declared.clone(),
            ..Self::new(std::slice::from_ref(&content.entry), 0)
        }
    }

    /// The capture at this place among all of its URL, which are in the order of time.
    fn new(entries: &[Entry], at: usize) -> Self {
        let (before, entry) = (&entries[..at], &entries[at]);
        // A field of the index that is no number is not known.
        let fields = &entry.fields;
        let changed = before.last().and_then(|last| {
            let digests = last.fields.digest.as_ref().zip(fields.digest.as_ref());
            digests.map(|(last, digest)| last != digest)
        });
        let is_stored_copy =
            |other: &&Entry| !other.is_revisit() && other.fields.digest == fields.digest;
        let mime = if entry.is_revisit() {
            let stored = before.iter().rev().find(is_stored_copy);
            stored.and_then(|stored| stored.fields.mime.clone())
        } else {
            fields.mime.clone()
        };
        Self {
            at: entry.timestamp.parse().unwrap_or(TIME_MIN),
            time: time(entry),
            url: fields.url.clone(),
            code: fields.status.as_deref().and_then(|code| code.parse().ok()),
            mime,
            digest: fields.digest.clone(),
            changed,
            revisit: entry.is_revisit(),
            file: fields.filename.clone(),
            offset: fields.offset.parse().ok(),
            length: fields.length.parse().ok(),
        }
    }
}

/// A page of captures.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct CaptureRows {
    /// Captures, the latest first.
    pub(crate) items: Vec<CaptureRow>,
    /// Send this as `before` for older ones; null at the beginning.
    pub(crate) next: Option<u64>,
    /// Where there are none: captured URLs of that site that are near to it.
    pub(crate) near: Vec<String>,
}

/// Which captures.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CapturesQuery {
    pub(crate) url: String,
    pub(crate) before: Option<u64>,
    pub(crate) limit: Option<u64>,
}

/// Which capture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaptureQuery {
    url: String,
    at: Option<u64>,
}

/// Which two.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffQuery {
    pub(crate) url: String,
    pub(crate) from: Option<u64>,
    pub(crate) to: Option<u64>,
}

const URL: Param = needed("url", URL_MAX, "The URL of the page");

const fn moment(name: &'static str, doc: &'static str) -> Param {
    number(name, TIME_MIN, TIME_MAX, doc)
}

const fn question(
    id: &'static str,
    summary: &'static str,
    params: &'static [Param],
    answer: Answer,
) -> Operation {
    Operation {
        id,
        tag: "captures",
        summary,
        params,
        body: None,
        answer,
        problems: &[503],
    }
}

pub(crate) const LIST: Operation = Operation {
    problems: &[],
    ..question(
        "listCaptures",
        "Captures of a page in closed segments, the latest first; of another spelling of its URL, if there are none of this one.",
        &[
            URL,
            moment("before", "Captures before this time: what `next` said"),
            number(
                "limit",
                1,
                1000,
                "How many, 100 unless given; those of one second come together",
            ),
        ],
        Answer::Json(schema::<CaptureRows>),
    )
};
const AT: Param = moment(
    "at",
    "The capture nearest to this time, 14 digits in UTC; the latest unless given",
);
pub(crate) const TEXT: Operation = question(
    "getCaptureText",
    "What a reader of a capture would see, as plain text.",
    &[URL, AT],
    Answer::Text,
);
pub(crate) const BODY: Operation = question(
    "getCaptureBody",
    "The body of a capture without framing and codings, 16 MiB at most, as a file to be stored.",
    &[URL, AT],
    Answer::Bytes,
);
pub(crate) const DIFF: Operation = question(
    "compareCaptures",
    "The visible text of two captures, line by line.",
    &[
        URL,
        moment("from", "The earlier one; the last but one unless given"),
        moment("to", "The later one; the last unless given"),
    ],
    Answer::Json(schema::<Difference>),
);

/// Lists captures.
pub(crate) async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<CapturesQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    Ok(respond::json(&headers, &find(&app, &crawl, query).await?))
}

/// Looks for captures, for the API and the page.
pub(crate) async fn find(
    app: &App,
    crawl: &Crawl,
    query: CapturesQuery,
) -> Result<CaptureRows, Problem> {
    let limit = limit(query.limit, 100, 1_000)?;
    let before = within("before", query.before)?;
    let url = page_url(&query.url)?;
    let dir = crawl.dir.clone();
    let look = move |_: &App| -> Result<CaptureRows, Problem> {
        let shelf = Shelf::open(&dir)?;
        let mut entries = shelf.captures(&url)?;
        // The index sorts those of one second by their digests; files and places in
        // them are in the order of time.
        entries.sort_by(|one, other| order(one).cmp(&order(other)));
        if entries.is_empty() {
            let near = shelf.near(&url)?;
            return Ok(CaptureRows {
                near,
                ..CaptureRows::default()
            });
        }
        Ok(rows(&entries, before, limit))
    };
    app.read(look).await
}

fn order(entry: &Entry) -> (&str, &str, u64) {
    let fields = &entry.fields;
    // What is no number is at the beginning.
    let offset = fields.offset.parse().unwrap_or(0);
    (&entry.timestamp, &fields.filename, offset)
}

/// The latest ones before a time. Those of one second stay together, since a
/// second is where the next page goes on.
fn rows(entries: &[Entry], before: Option<u64>, limit: usize) -> CaptureRows {
    let older = (0..entries.len()).rev();
    let older = older.map(|at| CaptureRow::new(entries, at));
    let older = older.filter(|row| before.is_none_or(|before| row.at < before));
    let mut found = CaptureRows::default();
    for row in older {
        let last = found.items.last().map(|last: &CaptureRow| last.at);
        if found.items.len() >= limit && last != Some(row.at) {
            found.next = last;
            break;
        }
        found.items.push(row);
    }
    found
}

/// A URL as somebody asks for it; a host alone will do. One that is none was
/// never captured.
fn page_url(text: &str) -> Result<CrawlUrl, Problem> {
    if text.is_empty() || text.chars().count() > URL_MAX {
        return Err(Problem::bad_request(Wrong::UrlLength { max: URL_MAX }));
    }
    let text = text.trim();
    let whole = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    CrawlUrl::parse(&whole).map_err(|error| {
        Problem::not_found(Wrong::NeverCaptured {
            url: text.to_owned(),
            why: error.to_string(),
        })
    })
}

fn within(name: &'static str, at: Option<u64>) -> Result<Option<u64>, Problem> {
    match at {
        Some(at) if !(TIME_MIN..=TIME_MAX).contains(&at) => {
            Err(Problem::bad_request(Wrong::Digits { name }))
        }
        at => Ok(at),
    }
}

fn instant(name: &'static str, at: Option<u64>) -> Result<Option<Timestamp>, Problem> {
    let Some(at) = within(name, at)? else {
        return Ok(None);
    };
    let moment = Timestamp::parse_compact(&at.to_string());
    moment
        .map(Some)
        .ok_or_else(|| Problem::not_found(Wrong::NoTime(at)))
}

/// Reads a capture into memory that is reserved for it.
async fn read(
    app: &App,
    known: &Principal,
    id: String,
    query: CaptureQuery,
    wanted: Wanted,
) -> Result<(Content, Reserved), Problem> {
    let crawl = app.crawl(id).await?;
    let (url, at) = (page_url(&query.url)?, instant("at", query.at)?);
    let reserved = app.in_flight.reserve(known.user, BYTES_MAX).await?;
    // The reservation goes with the work, which goes on without its client.
    let (found, reserved) = app
        .unpack(move |_| {
            let found = Shelf::open(&crawl.dir).and_then(|shelf| shelf.read(&url, at, wanted));
            (found, reserved)
        })
        .await;
    Ok((found?.ok_or_else(never)?, reserved))
}

fn never() -> Problem {
    Problem::not_found(Wrong::NoCapture)
}

fn no_text(content: &Content) -> Problem {
    Problem::not_found(Wrong::NoText(content.declared.clone()))
}

/// Gives the visible text of a capture.
pub(crate) async fn text(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<CaptureQuery>,
) -> Result<Response, Problem> {
    let known = caller.known();
    let (mut content, reserved) = read(&app, known, id, query, Wanted::Text).await?;
    let text = content.text.take().ok_or_else(|| no_text(&content))?;
    let response = respond::tagged(&headers, "text/plain; charset=utf-8", text);
    in_flight::send(&app, known, sealed(response, &content), reserved).await
}

/// Gives the body of a capture.
pub(crate) async fn body(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<CaptureQuery>,
) -> Result<Response, Problem> {
    let known = caller.known();
    let (mut content, reserved) = read(&app, known, id, query, Wanted::Body).await?;
    let bytes = std::mem::take(&mut content.body);
    let response = respond::tagged(&headers, "application/octet-stream", bytes);
    let stored = HeaderValue::from_static("attachment");
    let response = respond::and(response, header::CONTENT_DISPOSITION, stored);
    in_flight::send(&app, known, sealed(response, &content), reserved).await
}

/// Content from the web: nothing in it runs, and what it is is said beside it.
fn sealed(response: Response, content: &Content) -> Response {
    let response = respond::and(response, header::CONTENT_SECURITY_POLICY, SANDBOX);
    let named = |name, value: &str| {
        let value = HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static(""));
        (HeaderName::from_static(name), value)
    };
    let about = [
        named("geomi-capture", &content.entry.timestamp),
        named(
            "geomi-content-type",
            content.declared.as_deref().unwrap_or(""),
        ),
        named(
            "geomi-truncated",
            if content.truncated { "true" } else { "false" },
        ),
    ];
    about.into_iter().fold(response, |response, (name, value)| {
        respond::and(response, name, value)
    })
}

/// Two captures compared.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Difference {
    /// The earlier one.
    pub(crate) from: CaptureRow,
    /// The later one.
    pub(crate) to: CaptureRow,
    /// Lines in both.
    pub(crate) same: u64,
    /// Lines in the earlier only.
    pub(crate) gone: u64,
    /// Lines in the later only.
    pub(crate) new: u64,
    /// Changes with the lines around them.
    pub(crate) lines: Vec<DiffLine>,
    /// Whether there is more than is told here.
    pub(crate) truncated: bool,
}

/// A line of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(crate) struct DiffLine {
    /// What became of it.
    pub(crate) is: LineFate,
    /// The line; in place of lines left out, how many.
    pub(crate) text: String,
}

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LineFate {
    Same,
    Gone,
    New,
    /// Lines that are the same in both and not told.
    LeftOut,
}

/// Compares two captures.
pub(crate) async fn diff(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<DiffQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let known = caller.known();
    let (difference, reserved) = compare(&app, known, &crawl, query).await?;
    let response = respond::json(&headers, &difference);
    drop(difference);
    in_flight::send(&app, known, response, reserved).await
}

/// Compares, for the API and the page. The answer that is made of it is sent
/// with the reservation ([`in_flight::send`]).
pub(crate) async fn compare(
    app: &App,
    known: &Principal,
    crawl: &Crawl,
    query: DiffQuery,
) -> Result<(Difference, Reserved), Problem> {
    let url = page_url(&query.url)?;
    let (from, to) = (instant("from", query.from)?, instant("to", query.to)?);
    let dir = crawl.dir.clone();
    let reserved = app.in_flight.reserve(known.user, BYTES_MAX).await?;
    let work = move |_: &App| -> Result<(Difference, Reserved), Problem> {
        let shelf = Shelf::open(&dir)?;
        let from = match from {
            Some(from) => Some(from),
            None => last_but_one(&shelf.captures(&url)?),
        };
        let text = |at| shelf.read(&url, at, Wanted::Text)?.ok_or_else(never);
        let (old, new) = (text(from)?, text(to)?);
        Ok((difference(&old, &new)?, reserved))
    };
    app.unpack(work).await
}

fn last_but_one(entries: &[Entry]) -> Option<Timestamp> {
    let at = entries.len().saturating_sub(2);
    Timestamp::parse_compact(&entries.get(at)?.timestamp)
}

fn difference(old: &Content, new: &Content) -> Result<Difference, Problem> {
    let old_text = old.text.as_deref().ok_or_else(|| no_text(old))?;
    let new_text = new.text.as_deref().ok_or_else(|| no_text(new))?;
    let lines = diff::lines(old_text, new_text);
    let count = |wanted: Fate| lines.iter().filter(|(fate, _)| *fate == wanted).count() as u64;
    let (mut told, is_cut) = around_changes(&lines);
    let is_long = told.len() > DIFF_LINES_MAX;
    told.truncate(DIFF_LINES_MAX);
    Ok(Difference {
        from: CaptureRow::alone(old),
        to: CaptureRow::alone(new),
        same: count(Fate::Same),
        gone: count(Fate::Gone),
        new: count(Fate::New),
        lines: told,
        truncated: is_long || is_cut || old.truncated || new.truncated,
    })
}

/// The changes and a few lines around each; whether a line was cut.
fn around_changes(lines: &[(Fate, &str)]) -> (Vec<DiffLine>, bool) {
    let mut near = vec![false; lines.len()];
    for (at, _) in lines
        .iter()
        .enumerate()
        .filter(|(_, (fate, _))| *fate != Fate::Same)
    {
        let end = lines.len().min(at + AROUND + 1);
        near[at.saturating_sub(AROUND)..end].fill(true);
    }
    let mut told: Vec<DiffLine> = Vec::new();
    let (mut left_out, mut is_cut) = (0_usize, false);
    let leave = |told: &mut Vec<DiffLine>, count: &mut usize| {
        if *count > 0 {
            let text = std::mem::take(count).to_string();
            told.push(DiffLine {
                is: LineFate::LeftOut,
                text,
            });
        }
    };
    for ((fate, line), is_near) in lines.iter().zip(near) {
        if !is_near {
            left_out += 1;
            continue;
        }
        leave(&mut told, &mut left_out);
        let text: String = line.chars().take(DIFF_CHARS_MAX).collect();
        is_cut |= text.len() < line.len();
        let is = match fate {
            Fate::Same => LineFate::Same,
            Fate::Gone => LineFate::Gone,
            Fate::New => LineFate::New,
        };
        told.push(DiffLine { is, text });
        if told.len() > DIFF_LINES_MAX {
            break;
        }
    }
    leave(&mut told, &mut left_out);
    (told, is_cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_with_what_is_around_them() {
        let numbers: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        let old = numbers.join("\n");
        let new = old.replace("\n10\n", "\nten\n");
        let lines = diff::lines(&old, &new);
        let (told, is_cut) = around_changes(&lines);
        let shown: Vec<(LineFate, &str)> = told.iter().map(|line| (line.is, &*line.text)).collect();
        assert_eq!(shown.first(), Some(&(LineFate::LeftOut, "7")));
        assert_eq!(shown.last(), Some(&(LineFate::LeftOut, "6")));
        assert!(shown.contains(&(LineFate::Gone, "10")) && shown.contains(&(LineFate::New, "ten")));
        assert_eq!(shown.len(), 2 + 2 * AROUND + 2);
        assert!(!is_cut);
    }

    #[test]
    fn a_price_that_returns_to_an_older_value_has_changed() {
        let line = |day: u8, status: u16, mime: &str, digest: &str| {
            let text = format!(
                "com,example)/ 2026010{day}000000 {{\"url\": \"http://example.com/\", \"status\": \"{status}\", \"mime\": \"{mime}\", \"digest\": \"sha1:{digest}\", \"length\": \"1\", \"offset\": \"0\", \"filename\": \"a\"}}"
            );
            Entry::parse(&text).unwrap()
        };
        let entries = [
            line(1, 200, "text/html", "A"),
            line(2, 200, "text/html", "B"),
            line(3, 200, "warc/revisit", "A"),
            line(4, 304, "warc/revisit", "A"),
            line(5, 200, "warc/revisit", "A"),
        ];
        let rows = rows(&entries, None, 9).items;
        let changed: Vec<_> = rows.iter().rev().map(|row| row.changed).collect();
        let expected = [None, Some(true), Some(true), Some(false), Some(false)];
        assert_eq!(changed, expected);
        assert!(
            rows.iter()
                .all(|row| row.mime.as_deref() == Some("text/html"))
        );
    }

    #[test]
    fn captures_of_one_second_are_on_one_page() {
        let line = |time: &str, offset: u32| {
            let text = format!(
                "com,example)/ {time} {{\"url\": \"http://example.com/\", \"length\": \"1\", \"offset\": \"{offset}\", \"filename\": \"a\"}}"
            );
            Entry::parse(&text).unwrap()
        };
        let times = [
            "20260101000000",
            "20260102000000",
            "20260102000000",
            "20260103000000",
        ];
        let entries: Vec<Entry> = times
            .iter()
            .zip(0..)
            .map(|(time, n)| line(time, n))
            .collect();
        let first = rows(&entries, None, 2);
        assert_eq!(
            (first.items.len(), first.next),
            (3, Some(20_260_102_000_000))
        );
        let second = rows(&entries, first.next, 2);
        assert_eq!((second.items.len(), second.next), (1, None));
    }
}
