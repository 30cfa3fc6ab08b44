//! The layout of partition state: which key holds what.
//!
//! Keys begin with one letter for the kind and, where they belong to a site,
//! its hash, so that all of a site lies together. Numbers are big-endian: the
//! order of keys is the order of numbers. Values are postcard behind one byte
//! of format version.
//!
//! | key | value |
//! |---|---|
//! | `m` name | counters, the WARC position, the layout and other single records |
//! | `s` site | [`SiteState`](geomi_frontier::SiteState) |
//! | `r` site | how its robots.txt was answered |
//! | `q` site lane chunk | queue entries, in order, in format 2 (`partition/compact.rs`) |
//! | `k` number | entries gathered in one commit for sites not in memory, and sites whose entries were taken |
//! | `u` site url | [`UrlRecord`](geomi_model::UrlRecord) |
//! | `n` site url | the queue entry of a URL that was refused when its turn came |
//! | `p` site url | the shortest known path to that URL, where depth matters: [`ShortestPath`](crate::depths::ShortestPath) |
//! | `g` site url | the queue entry of a URL that was refused as too deep |
//! | `z` site url | the queue entry of a new URL that waits for the budget of discovery |
//! | `l` site url | what a sitemap or feed says of that URL: [`ChangeSignal`](geomi_model::ChangeSignal) |
//! | `c` site | how reliable its change signals are: [`SiteSignals`] |
//! | `d` digest | where that content is stored |
//! | `h` number | keys of the URLs admitted in one commit: the seen test's log |
//! | `v` number | a visit not yet in a Parquet file, in format 4 |
//! | `o` partition number | the body of a mail to that partition: a list of letters (`letters.rs`); deleted when the receiver has acknowledged it |
//! | `i` partition | number of the last mail taken in from there |
//! | `e` number | a seed of the partition, or the card of a seed of another one, in format 3 |
//! | `t` site | what was learned of its URLs |
//! | `w` domain | how many of its hosts were opened |
//! | `j` site place | a page of the site's sample, by which mirrors are found; at place 255, that the site is one |
//! | `y` holder url | the queue entry of a URL that is not worth a request as things stand; the holder is its site, or its domain |
//! | `x` `h` | the seed of the keys in `h` (`partition/seen_log.rs`) |
//! | `x` `k` | the first row of `k` that is of use |
//! | `x` `l` | from where to where the list of sites goes |
//! | `x` `p` number | the hash of a site with URLs waiting, in the order of turns |
//! | `x` `s` | which base file of the seen test holds: its rows of `h` are deleted |

use std::time::Duration;

use geomi_model::{Digest, PageFacts, Truncation, Validity, Visit};
use geomi_refresh::upkeep::{LaterSignals, SignalRecord, SiteSignals};
use geomi_url::{SiteHash, UrlHash};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::EngineError;

/// Format of the values below. A change that old readers cannot follow gets a
/// new number and a reader for the old one.
const FORMAT: u8 = 1;

pub(crate) fn meta(name: &str) -> Vec<u8> {
    [b"m", name.as_bytes()].concat()
}

pub(crate) fn site(site: SiteHash) -> Vec<u8> {
    key(b's', &[&site.0.to_be_bytes()])
}

pub(crate) fn robots(site: SiteHash) -> Vec<u8> {
    key(b'r', &[&site.0.to_be_bytes()])
}

pub(crate) fn chunk(site: SiteHash, lane: u8, chunk: u64) -> Vec<u8> {
    key(
        b'q',
        &[&site.0.to_be_bytes(), &[lane], &chunk.to_be_bytes()],
    )
}

pub(crate) fn url(site: SiteHash, url: UrlHash) -> Vec<u8> {
    key(b'u', &[&site.0.to_be_bytes(), &url.0.to_be_bytes()])
}

/// What a sitemap or feed says of a URL.
pub(crate) fn signal(site: SiteHash, url: UrlHash) -> Vec<u8> {
    key(b'l', &[&site.0.to_be_bytes(), &url.0.to_be_bytes()])
}

/// The shortest known path to a URL.
pub(crate) fn shortest(site: SiteHash, url: UrlHash) -> Vec<u8> {
    key(b'p', &[&site.0.to_be_bytes(), &url.0.to_be_bytes()])
}

/// A URL that waits for the budget of discovery.
pub(crate) fn postponed(site: SiteHash, url: UrlHash) -> Vec<u8> {
    key(b'z', &[&site.0.to_be_bytes(), &url.0.to_be_bytes()])
}

/// All URLs of a site: from here to there.
pub(crate) fn urls(site: SiteHash) -> (Vec<u8>, Vec<u8>) {
    let from = key(b'u', &[&site.0.to_be_bytes()]);
    let to = match site.0.checked_add(1) {
        Some(next) => key(b'u', &[&next.to_be_bytes()]),
        None => vec![b'u' + 1],
    };
    (from, to)
}

pub(crate) fn refused(site: SiteHash, url: UrlHash) -> Vec<u8> {
    key(b'n', &[&site.0.to_be_bytes(), &url.0.to_be_bytes()])
}

/// A URL that was refused as too deep.
pub(crate) fn too_deep(site: SiteHash, url: UrlHash) -> Vec<u8> {
    key(b'g', &[&site.0.to_be_bytes(), &url.0.to_be_bytes()])
}

/// How reliable the change signals of a site are.
pub(crate) fn signals(site: SiteHash) -> Vec<u8> {
    key(b'c', &[&site.0.to_be_bytes()])
}

pub(crate) fn digest(digest: &Digest) -> Vec<u8> {
    key(b'd', &[&digest.0])
}

pub(crate) fn seen(number: u64) -> Vec<u8> {
    key(b'h', &[&number.to_be_bytes()])
}

pub(crate) fn seen_base() -> Vec<u8> {
    b"xs".to_vec()
}

/// What the keys of the seen test are made with.
pub(crate) fn seen_seed() -> Vec<u8> {
    b"xh".to_vec()
}

/// A row of the gathered URLs.
pub(crate) fn gathered(row: u64) -> Vec<u8> {
    key(b'k', &[&row.to_be_bytes()])
}

/// The number at the end of such a key.
pub(crate) fn gathered_row(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(1..)?.try_into().ok()?))
}

pub(crate) fn gathered_from() -> Vec<u8> {
    b"xk".to_vec()
}

pub(crate) fn site_list() -> Vec<u8> {
    b"xl".to_vec()
}

/// A row of the list of sites.
pub(crate) fn listed(row: u64) -> Vec<u8> {
    key(b'x', &[b"p", &row.to_be_bytes()])
}

/// The number at the end of such a key.
pub(crate) fn listed_row(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(2..)?.try_into().ok()?))
}

/// The site in such a row.
pub(crate) fn listed_site(value: &[u8]) -> Option<SiteHash> {
    Some(SiteHash(u64::from_be_bytes(value.try_into().ok()?)))
}

pub(crate) fn visit(number: u64) -> Vec<u8> {
    key(b'v', &[&number.to_be_bytes()])
}

pub(crate) fn outbox(to: u16, number: u64) -> Vec<u8> {
    key(b'o', &[&to.to_be_bytes(), &number.to_be_bytes()])
}

pub(crate) fn inbox(from: u16) -> Vec<u8> {
    key(b'i', &[&from.to_be_bytes()])
}

pub(crate) fn seed(number: u32) -> Vec<u8> {
    key(b'e', &[&number.to_be_bytes()])
}

/// The number at the end of such a key.
pub(crate) fn seed_number(key: &[u8]) -> Result<u32, EngineError> {
    let number = key.get(1..).and_then(|number| number.try_into().ok());
    number
        .map(u32::from_be_bytes)
        .ok_or_else(|| EngineError::Damaged {
            what: "the key of a seed".to_owned(),
        })
}

pub(crate) fn novelty(site: SiteHash) -> Vec<u8> {
    key(b't', &[&site.0.to_be_bytes()])
}

pub(crate) fn domain(domain: u64) -> Vec<u8> {
    key(b'w', &[&domain.to_be_bytes()])
}

/// A page of a site's sample.
pub(crate) fn mirror(site: SiteHash, place: u8) -> Vec<u8> {
    key(b'j', &[&site.0.to_be_bytes(), &[place]])
}

/// The place after all samples: that a site is a mirror.
pub(crate) const MIRROR_RECORD: u8 = u8::MAX;

/// The site and the place of a key of the kind above.
pub(crate) fn mirror_place(key: &[u8]) -> Option<(SiteHash, u8)> {
    let (site, place) = key.get(1..)?.split_first_chunk::<8>()?;
    Some((SiteHash(u64::from_be_bytes(*site)), *place.first()?))
}

/// A URL that is deferred because of its site or domain.
pub(crate) fn held(holder: SiteHash, url: UrlHash) -> Vec<u8> {
    key(b'y', &[&holder.0.to_be_bytes(), &url.0.to_be_bytes()])
}

/// The holder in a key of the kind above.
pub(crate) fn holder(key: &[u8]) -> Option<SiteHash> {
    let (holder, _) = key.get(1..)?.split_first_chunk::<8>()?;
    Some(SiteHash(u64::from_be_bytes(*holder)))
}

/// All keys of one kind: from here to there.
pub(crate) fn all(kind: u8) -> ([u8; 1], [u8; 1]) {
    ([kind], [kind + 1])
}

fn key(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = Vec::with_capacity(24);
    key.push(kind);
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}

/// The format of visits: a visit as in format 1, then what its content is like (since
/// format 2), how early it was (since 3), why its body was cut and whether it is what
/// it says (since 4).
const VISIT_FORMAT: u8 = 4;

type StoredVisit = (
    Visit,
    PageFacts,
    Option<Duration>,
    (Option<Truncation>, Option<Validity>),
);

/// A visit in its stored form.
pub(crate) fn encode_visit(visit: &Visit) -> Vec<u8> {
    let content = (visit.truncated, visit.validity);
    let stored = (visit, &visit.facts, visit.early, content);
    encode_as(VISIT_FORMAT, &stored)
}

/// Reads a stored visit, of this format or one before.
pub(crate) fn decode_visit(bytes: &[u8]) -> Result<Visit, EngineError> {
    let (visit, facts, early, (truncated, validity)): StoredVisit = match bytes.first() {
        Some(&FORMAT) => return decode("visit", bytes),
        Some(2) => {
            let (visit, facts) = decode_as(2, "visit", bytes)?;
            (visit, facts, None, (None, None))
        }
        Some(3) => {
            let (visit, facts, early) = decode_as(3, "visit", bytes)?;
            (visit, facts, early, (None, None))
        }
        _ => decode_as(VISIT_FORMAT, "visit", bytes)?,
    };
    Ok(Visit {
        facts,
        early,
        truncated,
        validity,
        ..visit
    })
}

/// The format of [`SiteSignals`]: the fields of format 1, then those added with format 2, then
/// the signals of feeds. Format 2 ends before the last, and counts feeds as sitemaps.
const SIGNALS_FORMAT: u8 = 3;

/// Encodes the signals of a site.
pub(crate) fn encode_signals(signals: &SiteSignals) -> Vec<u8> {
    encode_as(SIGNALS_FORMAT, &(signals, &signals.later, &signals.feeds))
}

/// Decodes [`SiteSignals`], formats 1 to 3.
pub(crate) fn decode_signals(bytes: &[u8]) -> Result<SiteSignals, EngineError> {
    let (signals, later, feeds): (SiteSignals, LaterSignals, SignalRecord) = match bytes.first() {
        Some(&FORMAT) => return decode("signs", bytes),
        Some(2) => {
            let (signals, later) = decode_as(2, "signs", bytes)?;
            (signals, later, SignalRecord::default())
        }
        _ => decode_as(SIGNALS_FORMAT, "signs", bytes)?,
    };
    Ok(SiteSignals {
        later,
        feeds,
        ..signals
    })
}

/// A value in its stored form.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    encode_as(FORMAT, value)
}

/// A value in its stored form, with the format given.
pub(crate) fn encode_as<T: Serialize>(format: u8, value: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(VALUE_BYTES_USUAL);
    bytes.push(format);
    encode_behind(value, bytes)
}

/// Writes a value behind what is there, without a format.
pub(crate) fn encode_behind<T: Serialize + ?Sized>(value: &T, bytes: Vec<u8>) -> Vec<u8> {
    postcard::serialize_with_flavor(value, Behind(bytes)).expect("plain data can always be written")
}

/// Room that most values need no more than.
const VALUE_BYTES_USUAL: usize = 192;

/// Adds to a vector; postcard's own way of doing that takes byte by byte, which
/// was a sixth of what the frontier cost.
struct Behind(Vec<u8>);

impl postcard::ser_flavors::Flavor for Behind {
    type Output = Vec<u8>;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// Reads a stored value.
pub(crate) fn decode<T: DeserializeOwned>(kind: &str, bytes: &[u8]) -> Result<T, EngineError> {
    decode_as(FORMAT, kind, bytes)
}

/// Reads a stored value that must have the format given.
pub(crate) fn decode_as<T: DeserializeOwned>(
    format: u8,
    kind: &str,
    bytes: &[u8],
) -> Result<T, EngineError> {
    match bytes.split_first() {
        Some((version, rest)) if *version == format => {
            postcard::from_bytes(rest).map_err(|error| EngineError::Damaged {
                what: format!("a {kind} record: {error}"),
            })
        }
        Some((version, _)) => Err(EngineError::Damaged {
            what: format!("a {kind} record of format {version}, which this version cannot read"),
        }),
        None => Err(EngineError::Damaged {
            what: format!("an empty {kind} record"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_keys_sort_by_number() {
        let site = SiteHash(9);
        assert!(chunk(site, 1, 255) < chunk(site, 1, 256));
        assert!(chunk(site, 1, u64::MAX) < chunk(site, 2, 0));
    }

    #[test]
    fn places_of_samples_read_back() {
        let key = mirror(SiteHash(u64::MAX - 1), 31);
        assert_eq!(mirror_place(&key), Some((SiteHash(u64::MAX - 1), 31)));
        assert_eq!(mirror_place(&key[..9]), None);
    }

    #[test]
    fn visits_of_all_formats_read_back() {
        let url = geomi_url::CrawlUrl::parse("http://example.com/").unwrap();
        let old = Visit {
            number: 7,
            ..Visit::unknown(url)
        };
        assert_eq!(decode_visit(&encode(&old)).unwrap(), old);
        let mut new = old;
        new.facts.simhash = Some(u64::MAX);
        new.facts.spam_percent = Some(30);
        let before = encode_as(2, &(&new, &new.facts));
        assert_eq!(decode_visit(&before).unwrap(), new);
        new.early = Some(Duration::from_hours(5));
        let before = encode_as(3, &(&new, &new.facts, new.early));
        assert_eq!(decode_visit(&before).unwrap(), new);
        new.truncated = Some(Truncation::Time);
        new.validity = Some(Validity::Cut);
        assert_eq!(decode_visit(&encode_visit(&new)).unwrap(), new);
        assert!(decode_visit(&[9]).is_err());
    }

    #[test]
    fn what_a_site_s_word_is_worth_reads_back_in_all_formats() {
        // As it was first written: seven numbers, the last three of all signals.
        let mut signals = decode_signals(&[1, 9, 8, 5, 1, 4, 3, 2]).unwrap();
        assert_eq!(
            (signals.not_modified, signals.audits, signals.lies),
            (9, 5, 1)
        );
        let all = SignalRecord {
            followed: 4,
            proved: 3,
            passed: 2,
        };
        assert_eq!(
            (signals.sitemaps, signals.feeds),
            (all, SignalRecord::default())
        );
        while signals.may_ask_conditionally() {}
        let before = encode_as(2, &(&signals, &signals.later));
        assert_eq!(decode_signals(&before).unwrap(), signals);
        signals.feeds.followed = 7;
        assert_eq!(decode_signals(&encode_signals(&signals)).unwrap(), signals);
        assert!(decode_signals(&[9]).is_err());
    }

    #[test]
    fn damage_and_foreign_formats_are_told_apart() {
        let stored = encode(&(1u32, "x".to_owned()));
        assert_eq!(
            decode::<(u32, String)>("test", &stored).unwrap(),
            (1, "x".to_owned())
        );
        assert!(
            decode::<(u32, String)>("test", &[9, 1])
                .unwrap_err()
                .to_string()
                .contains("format 9")
        );
        assert!(decode::<(u32, String)>("test", &[]).is_err());
        assert!(decode::<(u32, String)>("test", &stored[..2]).is_err());
    }

    #[test]
    fn the_documents_tell_the_formats_that_are_written() {
        let document = include_str!("../../../docs/formats.md");
        let here = include_str!("keys.rs");
        let row = |text: &str, key: &str| {
            let row = text.lines().find(|line| line.contains(key));
            row.unwrap_or_else(|| panic!("no row {key}")).to_owned()
        };
        let format = format!("in format {VISIT_FORMAT}");
        assert!(
            row(document, "| `v` number |").contains(&format),
            "{format}"
        );
        assert!(row(here, "| `v` number |").contains(&format), "{format}");
        let signals = row(document, "| `c` site |");
        assert!(
            signals.contains(&format!("Format {SIGNALS_FORMAT}:")),
            "{signals}"
        );
    }
}
