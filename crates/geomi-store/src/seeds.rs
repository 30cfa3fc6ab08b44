//! The catalogue of seeds: the table `seeds.parquet` and the list `seeds-out.txt`.
//!
//! The list is the crawl's output as an input: every seed that was given and
//! every seed that was found, one URL a line, its topic after a tab. It can be
//! the next crawl's `--seeds`. The table says more about each of them.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use geomi_model::{Digest, NetworkState};
use geomi_url::CrawlUrl;

use crate::table::Presence::{Optional, Required};
use crate::table::{Codec, Column, TableReader, TableWriter};
use crate::visits::stored_url;
use crate::{AtomicFile, CrawlDir, StoreError};

/// One seed and how its party went.
#[derive(Clone, PartialEq, Debug)]
pub struct SeedRow {
    /// Its number in this crawl, from 1.
    pub id: u64,
    /// The seed's URL.
    pub url: CrawlUrl,
    /// Digest of its content, where it was captured.
    pub content_hash: Option<Digest>,
    /// From the first request of its party to the end of the last answer.
    pub party_time: Option<Duration>,
    /// How the last visit of the seed itself ended.
    pub state: NetworkState,
    /// The topic label it came with or inherited.
    pub topic: Option<String>,
    /// Where it comes from.
    pub found: SeedOrigin,
    /// The page whose link made it a seed.
    pub via: Option<CrawlUrl>,
}

/// Where a seed comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SeedOrigin {
    /// The user gave it.
    Input,
    /// A link to another site, found on the way.
    Discovered,
}

impl SeedOrigin {
    /// The name written to the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Discovered => "discovered",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Input, Self::Discovered]
            .into_iter()
            .find(|origin| origin.as_str() == name)
    }
}

/// Writes the table and the list, each replaced atomically, seed by seed: there
/// may be millions.
pub struct SeedsWriter {
    table: TableWriter<SeedRow>,
    path: PathBuf,
    list: AtomicFile,
}

impl SeedsWriter {
    /// Begins both.
    pub fn create(dir: &CrawlDir) -> Result<Self, StoreError> {
        let path = dir.seeds_out();
        Ok(Self {
            table: TableWriter::create(&dir.seeds_table(), "seed", COLUMNS)?,
            list: AtomicFile::create(&path)?,
            path,
        })
    }

    /// Adds a seed.
    pub fn push(&mut self, row: SeedRow) -> Result<(), StoreError> {
        write_line(&mut self.list, &row).map_err(StoreError::io("write", &self.path))?;
        self.table.push(row)
    }

    /// Puts both in the place of those before.
    pub fn finish(self) -> Result<(), StoreError> {
        self.table.finish()?;
        self.list.commit()
    }
}

/// Writes both at once.
pub fn write_seeds(
    dir: &CrawlDir,
    rows: impl IntoIterator<Item = SeedRow>,
) -> Result<(), StoreError> {
    let mut writer = SeedsWriter::create(dir)?;
    for row in rows {
        writer.push(row)?;
    }
    writer.finish()
}

/// Reads the table back, row by row.
pub fn read_seeds(path: &Path) -> Result<SeedReader, StoreError> {
    TableReader::open(path, COLUMNS, blank).map(SeedReader)
}

/// The rows of a seed table.
pub struct SeedReader(TableReader<SeedRow>);

impl Iterator for SeedReader {
    type Item = Result<SeedRow, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

fn write_line(out: &mut AtomicFile, row: &SeedRow) -> std::io::Result<()> {
    match &row.topic {
        // The line is the record: a label's own tabs and breaks become blanks.
        Some(topic) => {
            let topic = topic.replace(['\t', '\r', '\n'], " ");
            writeln!(out, "{}\t{topic}", row.url)
        }
        None => writeln!(out, "{}", row.url),
    }
}

fn set<V>(place: &mut V, value: Option<V>) -> bool {
    value.is_some_and(|value| {
        *place = value;
        true
    })
}

fn set_some<V>(place: &mut Option<V>, value: Option<V>) -> bool {
    *place = value;
    place.is_some()
}

#[rustfmt::skip]
static COLUMNS: &[Column<SeedRow>] = &[
    Column { name: "id", presence: Required, codec: Codec::Int64(|s| Some(s.id as i64), |s, x| set(&mut s.id, x.try_into().ok())) },
    Column { name: "url", presence: Required, codec: Codec::Text(|s| Some(s.url.as_str().into()), |s, x| set(&mut s.url, stored_url(x))) },
    Column { name: "url_hash", presence: Required, codec: Codec::UInt64(|s| Some(s.url.hash64().0), |_, _| true) },
    Column { name: "content_hash", presence: Optional, codec: Codec::Text(|s| Some(s.content_hash?.to_string().into()), |s, x| set_some(&mut s.content_hash, Digest::parse(x))) },
    Column { name: "party_time_us", presence: Optional, codec: Codec::Int64(|s| i64::try_from(s.party_time?.as_micros()).ok(), |s, x| set_some(&mut s.party_time, u64::try_from(x).ok().map(Duration::from_micros))) },
    Column { name: "state", presence: Required, codec: Codec::Text(|s| Some(s.state.as_str().into()), |s, x| set(&mut s.state, NetworkState::from_name(x))) },
    Column { name: "topic", presence: Optional, codec: Codec::Text(|s| s.topic.as_deref().map(Cow::Borrowed), |s, x| set_some(&mut s.topic, Some(x.into()))) },
    Column { name: "found", presence: Required, codec: Codec::Text(|s| Some(s.found.as_str().into()), |s, x| set(&mut s.found, SeedOrigin::from_name(x))) },
    Column { name: "via", presence: Optional, codec: Codec::Text(|s| Some(s.via.as_ref()?.as_str().into()), |s, x| set_some(&mut s.via, stored_url(x))) },
];

fn blank() -> SeedRow {
    SeedRow {
        id: 0,
        url: stored_url("http://blank.invalid/").expect("a normalised URL"),
        content_hash: None,
        party_time: None,
        state: NetworkState::NotTried,
        topic: None,
        found: SeedOrigin::Input,
        via: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(id: u64, url: &str, topic: Option<&str>) -> SeedRow {
        SeedRow {
            id,
            url: CrawlUrl::parse(url).unwrap(),
            topic: topic.map(Into::into),
            ..blank()
        }
    }

    #[test]
    fn table_and_list_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let rows = [
            SeedRow {
                content_hash: Some(Digest([3; 20])),
                party_time: Some(Duration::from_micros(1_234_567)),
                state: NetworkState::Ok,
                ..seed(1, "http://example.com/", Some("news"))
            },
            SeedRow {
                found: SeedOrigin::Discovered,
                via: Some(CrawlUrl::parse("http://example.com/links").unwrap()),
                ..seed(2, "http://example.org/", Some("a\tb"))
            },
            seed(3, "http://한글.kr/", None),
        ];
        write_seeds(&dir, rows.clone()).unwrap();
        let back: Vec<_> = read_seeds(&dir.seeds_table())
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(back, rows);
        assert_eq!(
            std::fs::read_to_string(dir.seeds_out()).unwrap(),
            "http://example.com/\tnews\nhttp://example.org/\ta b\nhttp://xn--bj0bj06e.kr/\n"
        );
    }
}
