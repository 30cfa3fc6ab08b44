//! The rules that differ by site, compiled.

use geomi_url::{CrawlUrl, SiteTables};

use crate::pattern::Patterns;
use crate::{PatternList, ScopeError, SiteScope};

/// The rules that hold for one URL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) depth_max: Option<u16>,
    pub(crate) include: &'a Patterns,
    pub(crate) exclude: &'a Patterns,
}

/// The tables of [`ScopeConfig::sites`](crate::ScopeConfig::sites).
#[derive(Debug, Default)]
pub(crate) struct SiteScopes {
    names: SiteTables,
    tables: Vec<Table>,
}

#[derive(Debug)]
struct Table {
    depth_max: Option<u16>,
    include: Option<Patterns>,
    exclude: Option<Patterns>,
}

impl SiteScopes {
    pub(crate) fn new(written: &[SiteScope], errors: &mut Vec<ScopeError>) -> Self {
        let names = SiteTables::new(written.iter().map(|table| table.names.as_slice()));
        let names = names.unwrap_or_else(|wrong| {
            errors.extend(wrong.into_iter().map(|(_, error)| error.into()));
            SiteTables::default()
        });
        let mut compile = |list, patterns: &Option<Vec<String>>| {
            let patterns = patterns.as_ref()?;
            Some(Patterns::new(list, patterns, errors))
        };
        let tables = written.iter().map(|table| Table {
            depth_max: table.depth_max,
            include: compile(PatternList::Include, &table.include),
            exclude: compile(PatternList::Exclude, &table.exclude),
        });
        let tables = tables.collect();
        Self { names, tables }
    }

    /// The general rules, with what the tables of the URL's site say instead.
    pub(crate) fn rules<'a>(&'a self, url: &CrawlUrl, general: Rules<'a>) -> Rules<'a> {
        // Asked of every link: without tables not even the site's name is made.
        if self.names.is_empty() {
            return general;
        }
        let tables = self.names.of(&url.site());
        let tables = || tables.iter().map(|table| &self.tables[*table]);
        let include = tables().find_map(|table| table.include.as_ref());
        let exclude = tables().find_map(|table| table.exclude.as_ref());
        Rules {
            depth_max: tables()
                .find_map(|table| table.depth_max)
                .or(general.depth_max),
            include: include.unwrap_or(general.include),
            exclude: exclude.unwrap_or(general.exclude),
        }
    }
}
