//! Visits as Parquet tables: one row a visit, every field a flat column.
//!
//! Times are UTC with microseconds, durations are whole microseconds in columns
//! that end in `_us` (`rtt_us` is the time to the first byte), network states
//! are written by their names, a digest as archives write it, the fingerprint as
//! an unsigned 64-bit number. Columns that can be empty are nullable. `site` and
//! `url_hash` are derived from `url`, for queries: `near_url` is such a hash.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use geomi_model::{
    Capture, CaptureKind, Change, CharsetSource, Digest, DocumentKind, Fingerprint, ImageFormat,
    ImageSize, LinkKind, LinkType, NearDuplicate, NetworkState, Protocol, Timestamp, Truncation,
    Validity, Visit,
};
use geomi_url::CrawlUrl;
use serde::Deserialize as _;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde_json::{Map, Value};

use crate::StoreError;
use crate::table::Presence::{Later, Optional, Required};
use crate::table::{Codec, Column, Presence, TableReader, TableWriter, write_table};

/// Writes `rows` as the table `path`, replacing it atomically. The rows are
/// encoded in memory: give tens of thousands, not millions.
pub fn write_visits(path: &Path, rows: &[Visit]) -> Result<(), StoreError> {
    write_table(path, "visit", COLUMNS, rows)
}

/// Reads a table of visits back, row by row.
pub fn read_visits(path: &Path) -> Result<VisitReader, StoreError> {
    TableReader::open(path, COLUMNS, blank).map(VisitReader)
}

/// Reads some columns of a table of visits: the other fields are as in a row of
/// which nothing is known. A pass that needs a few columns of many rows is
/// several times faster for it.
pub fn read_visit_columns(path: &Path, names: &[&str]) -> Result<VisitReader, StoreError> {
    let wanted = COLUMNS.iter().filter(|column| names.contains(&column.name));
    let reader = TableReader::open(path, wanted, blank)?;
    let known = |name: &&str| COLUMNS.iter().any(|column| column.name == *name);
    debug_assert!(names.iter().all(known), "only columns that exist are named");
    Ok(VisitReader(reader))
}

/// The times of the earliest and the latest visit of a table, from its footer alone; `None`
/// if the table has no rows or does not say.
pub fn time_range(path: &Path) -> Result<Option<RangeInclusive<Timestamp>>, StoreError> {
    let range = TableReader::open(path, COLUMNS, blank)?.range("time");
    Ok(range.map(|(earliest, latest)| {
        Timestamp::from_micros(earliest)..=Timestamp::from_micros(latest)
    }))
}

/// Every column of a visit that has a value, by its name, as JSON.
pub fn to_json(visit: &Visit) -> Map<String, Value> {
    let present = COLUMNS
        .iter()
        .filter_map(|column| Some((column.name.to_owned(), column.to_json(visit)?)));
    present.collect()
}

/// A table of any number of visits, written row by row. It appears under its
/// name when it is finished; dropping it before leaves nothing.
pub struct VisitWriter(TableWriter<Visit>);

impl VisitWriter {
    /// Starts a table that will be called `path`.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        TableWriter::create(path, "visit", COLUMNS).map(Self)
    }

    /// Adds a row.
    pub fn push(&mut self, visit: Visit) -> Result<(), StoreError> {
        self.0.push(visit)
    }

    /// Completes the table.
    pub fn finish(self) -> Result<(), StoreError> {
        self.0.finish()
    }
}

/// The rows of a table of visits.
pub struct VisitReader(TableReader<Visit>);

impl Iterator for VisitReader {
    type Item = Result<Visit, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

const fn column(name: &'static str, presence: Presence, codec: Codec<Visit>) -> Column<Visit> {
    Column {
        name,
        presence,
        codec,
    }
}

/// Text that the row already holds.
fn held(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// Text that is made for the table.
fn made<'a>(value: &impl ToString) -> Cow<'a, str> {
    Cow::Owned(value.to_string())
}

/// Puts `value` into `place` if there is one; for setters.
fn put<V>(place: &mut V, value: Option<V>) -> bool {
    match value {
        Some(value) => {
            *place = value;
            true
        }
        None => false,
    }
}

fn put_some<V>(place: &mut Option<V>, value: Option<V>) -> bool {
    *place = value;
    place.is_some()
}

fn put_number<V: TryFrom<N>, N>(place: &mut V, number: N) -> bool {
    put(place, V::try_from(number).ok())
}

/// Reads a URL that was normalised before it was stored.
pub(crate) fn stored_url(text: &str) -> Option<CrawlUrl> {
    CrawlUrl::deserialize(StrDeserializer::<ValueError>::new(text)).ok()
}

/// A duration column of the phases.
macro_rules! phase {
    ($name:literal, $field:ident) => {
        column(
            $name,
            Optional,
            Codec::Int64(
                |v| v.phases.$field.and_then(to_micros),
                |v, x| put_some(&mut v.phases.$field, from_micros(x)),
            ),
        )
    };
}

fn to_micros(span: Duration) -> Option<i64> {
    i64::try_from(span.as_micros()).ok()
}

fn from_micros(micros: i64) -> Option<Duration> {
    u64::try_from(micros).ok().map(Duration::from_micros)
}

/// A column for each field of [`Visit`], in the order of the struct.
#[rustfmt::skip]
static COLUMNS: &[Column<Visit>] = &[
    column("number", Required, Codec::Int64(|v| Some(v.number as i64), |v, x| put_number(&mut v.number, x))),
    column("time", Required, Codec::Time(|v| Some(v.time.micros()), |v, x| put(&mut v.time, Some(Timestamp::from_micros(x))))),
    column("url", Required, Codec::Text(|v| Some(held(v.url.as_str())), |v, x| put(&mut v.url, stored_url(x)))),
    column("site", Required, Codec::Text(|v| Some(made(&v.url.site())), |_, _| true)),
    column("seed", Optional, Codec::Text(|v| Some(held(v.seed.as_ref()?.as_str())), |v, x| put_some(&mut v.seed, stored_url(x)))),
    column("topic", Optional, Codec::Text(|v| Some(held(v.topic.as_ref()?)), |v, x| put_some(&mut v.topic, Some(x.into())))),
    column("via", Optional, Codec::Text(|v| Some(held(v.via.as_ref()?.as_str())), |v, x| put_some(&mut v.via, stored_url(x)))),
    column("depth", Required, Codec::Int32(|v| Some(v.depth.into()), |v, x| put_number(&mut v.depth, x))),
    column("priority", Required, Codec::Int32(|v| Some(v.priority.into()), |v, x| put_number(&mut v.priority, x))),
    column("attempt", Required, Codec::Int32(|v| Some(v.attempt.into()), |v, x| put_number(&mut v.attempt, x))),
    column("is_robots", Required, Codec::Bool(|v| Some(v.is_robots), |v, x| put(&mut v.is_robots, Some(x)))),
    column("state", Required, Codec::Text(|v| Some(held(v.state.as_str())), |v, x| put(&mut v.state, NetworkState::from_name(x)))),
    column("code", Optional, Codec::Int32(|v| v.code.map(Into::into), |v, x| put_some(&mut v.code, x.try_into().ok()))),
    column("error", Optional, Codec::Text(|v| Some(held(v.error.as_ref()?)), |v, x| put_some(&mut v.error, Some(x.into())))),
    column("ip", Optional, Codec::Text(|v| Some(made(&v.ip?)), |v, x| put_some(&mut v.ip, x.parse().ok()))),
    column("mime", Optional, Codec::Text(|v| Some(held(v.mime.as_ref()?)), |v, x| put_some(&mut v.mime, Some(x.into())))),
    column("charset", Optional, Codec::Text(|v| Some(held(v.charset.as_ref()?)), |v, x| put_some(&mut v.charset, Some(x.into())))),
    column("charset_source", Optional, Codec::Text(|v| Some(held(charset_source_name(v.charset_source?))), |v, x| put_some(&mut v.charset_source, charset_source(x)))),
    column("wire_bytes", Required, Codec::Int64(|v| Some(v.wire_bytes as i64), |v, x| put_number(&mut v.wire_bytes, x))),
    column("body_bytes", Required, Codec::Int64(|v| Some(v.body_bytes as i64), |v, x| put_number(&mut v.body_bytes, x))),
    column("text_bytes", Optional, Codec::Int64(|v| Some(v.text_bytes? as i64), |v, x| put_some(&mut v.text_bytes, x.try_into().ok()))),
    column("digest", Optional, Codec::Text(|v| Some(made(&v.digest?)), |v, x| put_some(&mut v.digest, Digest::parse(x)))),
    column("fingerprint", Optional, Codec::UInt64(|v| Some(v.fingerprint?.0), |v, x| put_some(&mut v.fingerprint, Some(Fingerprint(x))))),
    column("changed", Optional, Codec::Bool(|v| Some(v.changed?.changed), |v, x| put(&mut change(v).changed, Some(x)))),
    column("change_size", Optional, Codec::Int64(|v| Some(v.changed?.size as i64), |v, x| put_number(&mut change(v).size, x))),
    column("location", Optional, Codec::Text(|v| Some(held(v.location.as_ref()?.as_str())), |v, x| put_some(&mut v.location, stored_url(x)))),
    column("title", Optional, Codec::Text(|v| Some(held(v.title.as_ref()?)), |v, x| put_some(&mut v.title, Some(x.into())))),
    column("link_type", Optional, Codec::Text(|v| Some(held(v.link_type?.as_str())), |v, x| put_some(&mut v.link_type, link_type(x)))),
    column("links", Required, Codec::Int64(|v| Some(v.links.into()), |v, x| put_number(&mut v.links, x))),
    column("links_admitted", Required, Codec::Int64(|v| Some(v.links_admitted.into()), |v, x| put_number(&mut v.links_admitted, x))),
    phase!("dns_us", dns),
    phase!("connect_us", connect),
    phase!("tls_us", tls),
    phase!("rtt_us", first_byte),
    phase!("download_us", download),
    column("total_us", Required, Codec::Int64(|v| to_micros(v.phases.total), |v, x| put(&mut v.phases.total, from_micros(x)))),
    column("capture_file", Optional, Codec::Text(|v| Some(held(&v.capture.as_ref()?.file)), |v, x| put(&mut capture(v).file, Some(x.into())))),
    column("capture_offset", Optional, Codec::Int64(|v| Some(v.capture.as_ref()?.offset as i64), |v, x| put_number(&mut capture(v).offset, x))),
    column("capture_length", Optional, Codec::Int64(|v| Some(v.capture.as_ref()?.length as i64), |v, x| put_number(&mut capture(v).length, x))),
    column("capture_kind", Optional, Codec::Text(|v| Some(held(capture_kind_name(v.capture.as_ref()?.kind))), |v, x| put(&mut capture(v).kind, capture_kind(x)))),
    column("kind", Later, Codec::Text(|v| v.facts.kind?.name().map(held), |v, x| put_some(&mut v.facts.kind, document_kind(x)))),
    column("width", Later, Codec::Int64(|v| Some(image(v)?.width.into()), |v, x| image_mut(v).is_some_and(|size| put_number(&mut size.width, x)))),
    column("height", Later, Codec::Int64(|v| Some(image(v)?.height.into()), |v, x| image_mut(v).is_some_and(|size| put_number(&mut size.height, x)))),
    column("protocol", Later, Codec::Text(|v| Some(held(v.facts.protocol?.as_str())), |v, x| put_some(&mut v.facts.protocol, protocol(x)))),
    column("main_text_bytes", Later, Codec::Int64(|v| Some(v.facts.main_text_bytes? as i64), |v, x| put_some(&mut v.facts.main_text_bytes, x.try_into().ok()))),
    column("simhash", Later, Codec::UInt64(|v| v.facts.simhash, |v, x| put_some(&mut v.facts.simhash, Some(x)))),
    column("near_url", Later, Codec::UInt64(|v| Some(v.facts.near_duplicate?.url), |v, x| put(&mut near(v).url, Some(x)))),
    column("near_distance", Later, Codec::Int32(|v| Some(v.facts.near_duplicate?.distance.into()), |v, x| put_number(&mut near(v).distance, x))),
    column("spam_percent", Later, Codec::Int32(|v| v.facts.spam_percent.map(Into::into), |v, x| put_some(&mut v.facts.spam_percent, x.try_into().ok()))),
    column("soft_404", Later, Codec::Bool(|v| v.facts.soft_404, |v, x| put_some(&mut v.facts.soft_404, Some(x)))),
    column("validity", Later, Codec::Text(|v| Some(held(v.validity?.as_str())), |v, x| put_some(&mut v.validity, Validity::from_name(x)))),
    column("early_us", Later, Codec::Int64(|v| v.early.and_then(to_micros), |v, x| put_some(&mut v.early, from_micros(x)))),
    column("url_hash", Later, Codec::UInt64(|v| Some(v.url.hash64().0), |_, _| true)),
    column("truncated", Later, Codec::Text(|v| Some(held(v.truncated?.as_str())), |v, x| put_some(&mut v.truncated, Truncation::from_name(x)))),
];

/// A row before its columns are read; every required field is overwritten.
fn blank() -> Visit {
    Visit::unknown(stored_url("http://blank.invalid/").expect("a normalised URL"))
}

fn change(visit: &mut Visit) -> &mut Change {
    visit.changed.get_or_insert(Change {
        changed: false,
        size: 0,
    })
}

fn near(visit: &mut Visit) -> &mut NearDuplicate {
    let near = &mut visit.facts.near_duplicate;
    near.get_or_insert(NearDuplicate {
        url: 0,
        distance: 0,
    })
}

fn image(visit: &Visit) -> Option<ImageSize> {
    match visit.facts.kind {
        Some(DocumentKind::Image(size)) => Some(size),
        _ => None,
    }
}

fn image_mut(visit: &mut Visit) -> Option<&mut ImageSize> {
    match &mut visit.facts.kind {
        Some(DocumentKind::Image(size)) => Some(size),
        _ => None,
    }
}

/// A kind by its name; the size of a picture is in columns of its own.
fn document_kind(name: &str) -> Option<DocumentKind> {
    let picture = |format| {
        DocumentKind::Image(ImageSize {
            format,
            width: 0,
            height: 0,
        })
    };
    let kinds = [
        DocumentKind::Html,
        DocumentKind::Sitemap,
        DocumentKind::SitemapIndex,
        DocumentKind::Feed,
        DocumentKind::UrlList,
        DocumentKind::Pdf,
        DocumentKind::Json,
        DocumentKind::Style,
        DocumentKind::Script,
        DocumentKind::Xml,
        picture(ImageFormat::Png),
        picture(ImageFormat::Jpeg),
        picture(ImageFormat::Gif),
        picture(ImageFormat::WebP),
    ];
    kinds.into_iter().find(|kind| kind.name() == Some(name))
}

fn protocol(name: &str) -> Option<Protocol> {
    [Protocol::Http1, Protocol::Http2]
        .into_iter()
        .find(|protocol| protocol.as_str() == name)
}

fn capture(visit: &mut Visit) -> &mut Capture {
    visit.capture.get_or_insert_with(|| Capture {
        file: String::new(),
        offset: 0,
        length: 0,
        kind: CaptureKind::Response,
    })
}

const CHARSET_SOURCES: [(CharsetSource, &str); 5] = [
    (CharsetSource::Bom, "bom"),
    (CharsetSource::Header, "header"),
    (CharsetSource::Meta, "meta"),
    (CharsetSource::Corrected, "corrected"),
    (CharsetSource::Detected, "detected"),
];

fn charset_source_name(source: CharsetSource) -> &'static str {
    let found = CHARSET_SOURCES.iter().find(|(known, _)| *known == source);
    found.expect("every source has a name").1
}

fn charset_source(name: &str) -> Option<CharsetSource> {
    let found = CHARSET_SOURCES.iter().find(|(_, known)| *known == name);
    found.map(|(source, _)| *source)
}

const fn capture_kind_name(kind: CaptureKind) -> &'static str {
    match kind {
        CaptureKind::Response => "response",
        CaptureKind::Revisit => "revisit",
    }
}

fn capture_kind(name: &str) -> Option<CaptureKind> {
    [CaptureKind::Response, CaptureKind::Revisit]
        .into_iter()
        .find(|kind| capture_kind_name(*kind) == name)
}

fn link_type(text: &str) -> Option<LinkType> {
    let letters = [
        ('h', LinkKind::Other),
        ('a', LinkKind::Anchor),
        ('f', LinkKind::Frame),
    ];
    let found = letters
        .into_iter()
        .filter(|(letter, _)| text.contains(*letter))
        .fold(LinkType::default(), |kinds, (_, kind)| kinds.with(kind));
    (found.as_str() == text).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Visit {
        let mut row = Visit {
            number: 1,
            code: Some(200),
            ..blank()
        };
        row.facts.kind = document_kind("png");
        row.facts.protocol = protocol("h2");
        row.facts.main_text_bytes = Some(7);
        row.facts.simhash = Some(u64::MAX);
        row.facts.near_duplicate = Some(NearDuplicate {
            url: u64::MAX - 1,
            distance: 3,
        });
        row.facts.spam_percent = Some(30);
        row.facts.soft_404 = Some(true);
        row.early = Some(Duration::from_hours(36));
        row.truncated = Some(Truncation::Length);
        row.validity = Some(Validity::NotText);
        if let Some(size) = image_mut(&mut row) {
            (size.width, size.height) = (640, u32::MAX);
        }
        row
    }

    fn read(path: &Path) -> Visit {
        read_visits(path).unwrap().next().unwrap().unwrap()
    }

    #[test]
    fn what_content_is_like_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visits.parquet");
        write_visits(&path, &[row()]).unwrap();
        assert_eq!(read(&path), row());
        let names = [
            "html",
            "sitemap",
            "sitemap-index",
            "feed",
            "url-list",
            "pdf",
        ];
        for name in names
            .into_iter()
            .chain(["json", "png", "jpeg", "gif", "webp", "xml"])
        {
            assert_eq!(document_kind(name).unwrap().name(), Some(name));
        }
    }

    #[test]
    fn near_duplicates_can_be_joined() {
        let first = row();
        let mut second = row();
        second.facts.near_duplicate = Some(NearDuplicate {
            url: first.url.hash64().0,
            distance: 1,
        });
        let (first, second) = (to_json(&first), to_json(&second));
        assert!(first["url_hash"].is_u64());
        assert_eq!(first["url_hash"], second["near_url"]);
        assert_eq!(first["truncated"], "length");
    }

    #[test]
    fn tables_of_older_versions_have_fewer_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visits.parquet");
        let first_later = COLUMNS.iter().position(|column| column.presence == Later);
        let older = &COLUMNS[..first_later.unwrap()];
        assert!(
            COLUMNS[older.len()..]
                .iter()
                .all(|one| one.presence == Later)
        );
        write_table(&path, "visit", older, &[row()]).unwrap();
        let old = Visit {
            facts: geomi_model::PageFacts::default(),
            early: None,
            truncated: None,
            validity: None,
            ..row()
        };
        assert_eq!(read(&path), old);
        let mut some = read_visit_columns(&path, &["number", "simhash"]).unwrap();
        assert_eq!(some.next().unwrap().unwrap().number, 1);
        // A column that was always there is still missed.
        write_table(&path, "visit", &older[1..], &[row()]).unwrap();
        assert!(read_visits(&path).unwrap().next().unwrap().is_err());
    }
}
