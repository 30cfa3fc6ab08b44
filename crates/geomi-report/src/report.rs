//! Which passes are made, in which order, and what comes of them.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use geomi_crawler::{CrawlConfig, Rereader};
use geomi_engine::Status;
use geomi_model::Visit;
use geomi_scope::{Scope, ScopeConfig};
use geomi_store::segment::{self, Segment};
use geomi_store::visits::{read_visit_columns, read_visits};
use geomi_store::{CrawlDir, StoreError};
use geomi_url::CrawlUrl;

use crate::duplicates::{self, Duplicates};
use crate::likeness::Originals;
use crate::links::{Linkers, Stored};
use crate::pages::{self, PAGES_PER_PASS, Pages};
use crate::sweep::{self, Known, Sweep};
use crate::{ReportError, Section, SectionKind, page_tables, tables};

/// Reading more stored pages than this takes minutes: it is done for those who
/// ask for the section by name.
const REREAD_UNASKED_MAX: u64 = 200_000;

/// What a report is to hold.
#[derive(Clone, Debug)]
pub struct Options {
    /// The sections, each once.
    pub sections: Vec<SectionKind>,
    /// Rows of a section, and linking pages of a dead link; `None` for all.
    pub top: Option<usize>,
    /// URLs that should have been saved.
    pub known: Option<Vec<CrawlUrl>>,
    /// When stored pages are read again for the pages that link to dead ones.
    pub linking: Linking,
}

/// When stored pages are read again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linking {
    /// However many there are.
    Always,
    /// While they are few enough to be read in a minute or so.
    IfQuick,
}

/// What a crawl came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who is writing to the directory; `None` if nobody is.
    pub owner: Option<String>,
    /// Visits in the tables that were read.
    pub visits: u64,
    /// Visits the crawl has counted, those in no table yet among them.
    pub visits_counted: Option<u64>,
    /// The sections asked for, in the order of [`SectionKind::ALL`].
    pub sections: Vec<Section>,
}

/// Everything the sections are made from.
pub(crate) struct Findings {
    pub(crate) status: Option<Status>,
    pub(crate) sweep: Sweep,
    pub(crate) pages: Pages,
    pub(crate) duplicates: Duplicates,
    /// `None` where stored pages were not read again.
    pub(crate) linkers: Option<Linkers>,
    /// The pages that near-duplicates are near to.
    pub(crate) originals: Originals,
    pub(crate) has_include: bool,
    pub(crate) top: Option<usize>,
}

/// Makes a report. `config` is the configuration the crawl ran with.
///
/// ```
/// use geomi_crawler::CrawlConfig;
/// use geomi_report::{Linking, Options, SectionKind, make};
/// use geomi_store::CrawlDir;
///
/// let folder = tempfile::tempdir().unwrap();
/// let dir = CrawlDir::create(folder.path()).unwrap();
/// let options = Options {
///     sections: vec![SectionKind::Overview],
///     top: Some(20),
///     known: None,
///     linking: Linking::IfQuick,
/// };
/// let report = make(&dir, &CrawlConfig::new(Vec::new()), &options).unwrap();
/// assert_eq!(report.visits, 0);
/// assert_eq!(report.sections[0].to_json()["saved"], 0);
/// ```
pub fn make(
    dir: &CrawlDir,
    config: &CrawlConfig,
    options: &Options,
) -> Result<Report, ReportError> {
    make_in_shares(dir, config, options, PAGES_PER_PASS)
}

/// The same with shares of another size.
pub(crate) fn make_in_shares(
    dir: &CrawlDir,
    config: &CrawlConfig,
    options: &Options,
    pages_per_pass: u64,
) -> Result<Report, ReportError> {
    let owner = dir.lock_owner()?;
    let status = read_status(dir)?;
    // Listed once: a crawl that runs on adds tables that no later pass sees.
    let segments = segment::list(dir)?;
    let scope = include_scope(config)?;
    let known = options.known.clone().map(Known::new);
    let number_max = Numbering::of(&segments).last();
    let mut findings = Findings {
        status,
        sweep: Sweep::new(config.engine.tries, options.top, known),
        pages: Pages::new(config.engine.tries, options.top, number_max),
        duplicates: Duplicates::new(config.engine.tries, options.top),
        linkers: None,
        originals: Originals::new(),
        has_include: !config.engine.scope.include.is_empty(),
        top: options.top,
    };
    findings.sweep_visits(dir, &segments)?;
    if options.sections.iter().any(|kind| needs_pages(*kind)) {
        let shares = findings.sweep.totals.visits.div_ceil(pages_per_pass);
        findings.pass_over_pages(dir, &segments, &scope, shares)?;
    }
    if options.sections.contains(&SectionKind::DeadLinks) {
        findings.find_linkers(dir, &segments, config, options)?;
    }
    if options.sections.contains(&SectionKind::NearDuplicates) {
        findings.find_originals(dir, &segments)?;
    }
    let visits = findings.sweep.totals.visits;
    let visits_counted = findings
        .status
        .as_ref()
        .map(|status| status.counters.visits);
    let mut kinds = options.sections.clone();
    kinds.sort_unstable();
    let numbers = page_tables::numbers(&findings, &kinds);
    let rows = rows_by_number(dir, &segments, numbers)?;
    let sections = kinds.iter();
    let sections = sections.map(|kind| tables::section(&findings, *kind, &rows));
    Ok(Report {
        owner,
        visits,
        visits_counted,
        sections: sections.collect(),
    })
}

impl Findings {
    fn sweep_visits(&mut self, dir: &CrawlDir, segments: &[Segment]) -> Result<(), ReportError> {
        each_visit(dir, segments, sweep::COLUMNS, |visit| {
            self.sweep.add(visit);
            Ok(())
        })
    }

    /// One pass for each share of the pages, and of the contents with them.
    fn pass_over_pages(
        &mut self,
        dir: &CrawlDir,
        segments: &[Segment],
        scope: &Scope,
        shares: u64,
    ) -> Result<(), ReportError> {
        let sites = &mut self.sweep.sites;
        for share in 0..shares {
            each_visit(dir, segments, pages::COLUMNS, |visit| {
                if visit.is_robots {
                    return Ok(());
                }
                if visit.url.hash64().0 % shares == share {
                    self.pages.add(visit, scope, sites);
                }
                let content = visit.digest.as_ref().map(duplicates::key);
                if let Some(content) = content.filter(|content| content % shares == share) {
                    self.duplicates.add(visit, content);
                }
                Ok(())
            })?;
            self.pages.end_share(sites);
            self.duplicates.end_share();
        }
        Ok(())
    }

    /// One more pass where near-duplicates are told, for the names of what they
    /// are near to.
    fn find_originals(&mut self, dir: &CrawlDir, segments: &[Segment]) -> Result<(), ReportError> {
        let wanted = self.sweep.likeness.originals();
        if wanted.is_empty() {
            return Ok(());
        }
        let originals = &mut self.originals;
        each_visit(dir, segments, &["url"], |visit| {
            let hash = visit.url.hash64().0;
            if wanted.contains(&hash) && !originals.contains_key(&hash) {
                originals.insert(hash, visit.url.clone());
            }
            Ok(())
        })
    }

    fn find_linkers(
        &mut self,
        dir: &CrawlDir,
        segments: &[Segment],
        config: &CrawlConfig,
        options: &Options,
    ) -> Result<(), ReportError> {
        let dead = &self.sweep.dead;
        let is_quick = self.pages.current.count() <= REREAD_UNASKED_MAX;
        if dead.len() == 0 {
            self.linkers = Some(Linkers::default());
        } else if options.linking == Linking::Always || is_quick {
            let rereader = Rereader::new(config.read, config.fetch.body_bytes_max);
            let stored = Stored {
                dir,
                segments,
                current: &self.pages.current,
                rereader: &rereader,
            };
            self.linkers = Some(Linkers::find(&stored, dead, options.top)?);
        }
        Ok(())
    }
}

/// Whether one visit at a time is not enough for a section.
const fn needs_pages(kind: SectionKind) -> bool {
    match kind {
        SectionKind::Overview
        | SectionKind::Measures
        | SectionKind::Sites
        | SectionKind::SlowestPages
        | SectionKind::BiggestPages
        | SectionKind::Pages
        | SectionKind::Duplicates
        | SectionKind::DeadLinks => true,
        SectionKind::States
        | SectionKind::Codes
        | SectionKind::Types
        | SectionKind::Charsets
        | SectionKind::Depths
        | SectionKind::LinkTypes
        | SectionKind::Topics
        | SectionKind::SlowestSites
        | SectionKind::Servers
        | SectionKind::Mirrors
        | SectionKind::NearDuplicates
        | SectionKind::Soft404s
        | SectionKind::Spam
        | SectionKind::Robots
        | SectionKind::Known => false,
    }
}

/// One numbering of the visits of all partitions: those of a partition follow those of
/// the partition before. With one partition it is the numbering of the crawl.
struct Numbering {
    /// What is added to the numbers of a partition, and the last of its numbers.
    partitions: BTreeMap<Option<u16>, (u64, u64)>,
}

impl Numbering {
    fn of(segments: &[Segment]) -> Self {
        let mut before = 0;
        let partitions = segment::last_numbers(segments)
            .into_iter()
            .map(|(partition, last)| {
                let added = before;
                before += last;
                (partition, (added, last))
            })
            .collect();
        Self { partitions }
    }

    fn last(&self) -> u64 {
        let last = self.partitions.values().last();
        last.map_or(0, |(added, last)| added + last)
    }

    /// What is added to the numbers in a segment.
    fn added(&self, segment: &Segment) -> u64 {
        let partition = self.partitions.get(&segment.partition);
        partition.map_or(0, |(added, _)| *added)
    }
}

/// Calls `each` for every visit of the tables, one partition after the other and in each
/// in order. The visits are numbered over all partitions.
pub(crate) fn each_visit(
    dir: &CrawlDir,
    segments: &[Segment],
    columns: &[&str],
    mut each: impl FnMut(&Visit) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let numbering = Numbering::of(segments);
    for segment in segments {
        let added = numbering.added(segment);
        for visit in read_visit_columns(&segment.table(dir), columns)? {
            let mut visit = visit?;
            visit.number += added;
            each(&visit)?;
        }
    }
    Ok(())
}

/// The whole rows of some visits, by their numbers over all partitions; only the tables
/// that hold one are read.
fn rows_by_number(
    dir: &CrawlDir,
    segments: &[Segment],
    mut numbers: Vec<u64>,
) -> Result<BTreeMap<u64, Visit>, ReportError> {
    numbers.sort_unstable();
    numbers.dedup();
    let mut rows = BTreeMap::new();
    let mut left = numbers.as_slice();
    let numbering = Numbering::of(segments);
    for segment in segments {
        let added = numbering.added(segment);
        let last = added + segment.last;
        let (here, later) = left.split_at(left.partition_point(|number| *number <= last));
        left = later;
        if here.is_empty() {
            continue;
        }
        for visit in read_visits(&segment.table(dir))? {
            let mut visit = visit?;
            visit.number += added;
            if here.binary_search(&visit.number).is_ok() {
                rows.insert(visit.number, visit);
            }
        }
    }
    Ok(rows)
}

/// A scope that knows the include patterns and nothing else.
fn include_scope(config: &CrawlConfig) -> Result<Scope, ReportError> {
    let patterns = ScopeConfig {
        include: config.engine.scope.include.clone(),
        ..ScopeConfig::default()
    };
    Scope::new(patterns).map_err(ReportError::Patterns)
}

fn read_status(dir: &CrawlDir) -> Result<Option<Status>, ReportError> {
    let path = dir.status();
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::from_io("read", &path, error).into()),
    };
    let status = serde_json::from_slice(&bytes);
    status.map(Some).map_err(|error| ReportError::Status {
        path,
        reason: error.to_string(),
    })
}
