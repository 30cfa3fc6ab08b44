//! Traps whose content repeats or is recombined, each beside a whole site.
//!
//! An [`Endless`] is a finite site of 24 to 200 good pages
//! ([`Endless::good_pages`]) with something endless in its menu, or around every
//! page: a calendar, session ids, filters. Its pages look like those of the
//! site. Those with a session answer the good pages under every session id.

mod calendar;
mod choices;
mod session;
mod variants;

use geomi_model::Timestamp;

use crate::finite::{FiniteSite, Sheet, Target, Words, small};
use crate::text::Language;
use crate::{Answer, TrapText};
use session::Session;

/// What is endless about a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Endless {
    /// A calendar by query, `?y=2026&m=11`, with day pages.
    MonthsByQuery,
    /// A calendar by week number.
    Weeks,
    /// A calendar by the distance to this month, `?m=17`.
    MonthOffset,
    /// A calendar that goes into the past, with day pages.
    IntoThePast,
    /// `;jsessionid=` on every link, another on every page.
    SessionAfterPath,
    /// `sid=` on every link, another on every page.
    SessionInQuery,
    /// `/(S(...))/` before every path, another on every page.
    SessionInPath,
    /// `/s~...` before every path, another on every page.
    SessionInFolder,
    /// Folders within themselves by relative links; the path stands in the text.
    FolderInItself,
    /// Thirty filters, any subset in any order, a sentence of its own on each.
    FilterSubsets,
    /// The same with one parameter that repeats, `f=a&f=b`.
    FilterRepeated,
    /// Five parameters of six values, four orders, twenty pages.
    FacetValues,
    /// Choices as folders in any order.
    FacetPath,
    /// Sort orders, directions, page sizes and page numbers.
    SortOrders,
    /// Searches that lead to searches of the same forty words.
    RelatedSearches,
    /// Print and mail variants of every page, with where one came from.
    PrintVariants,
    /// Every link in capital and small letters drawn anew, which the server does not
    /// tell apart.
    RandomCase,
    /// Reply forms that lead to reply forms.
    ReplyForms,
    /// Sets of tags, `/tag/a+b+c`.
    TagSets,
    /// Every path is answered with 200 and an apology with relative links.
    SoftMissing,
    /// List pages without an entry that have a next one.
    EmptyLists,
    /// A map of any place at any scale.
    MapTiles,
    /// Every path is answered with 200 and an apology with links to names at random.
    SoftMissingNames,
    /// Filters on the lists of the site themselves.
    FilteredLists,
}

impl Endless {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Self::MonthsByQuery,
        Self::Weeks,
        Self::MonthOffset,
        Self::IntoThePast,
        Self::SessionAfterPath,
        Self::SessionInQuery,
        Self::SessionInPath,
        Self::FolderInItself,
        Self::FilterSubsets,
        Self::FilterRepeated,
        Self::FacetValues,
        Self::FacetPath,
        Self::SortOrders,
        Self::RelatedSearches,
        Self::PrintVariants,
        Self::ReplyForms,
        Self::TagSets,
        Self::SoftMissing,
        Self::EmptyLists,
        Self::RandomCase,
        Self::SessionInFolder,
        Self::MapTiles,
        Self::SoftMissingNames,
        Self::FilteredLists,
    ];

    /// What its pages say.
    pub fn text(self) -> TrapText {
        match self {
            Self::FilterSubsets
            | Self::FilterRepeated
            | Self::FacetValues
            | Self::FacetPath
            | Self::SortOrders
            | Self::RelatedSearches
            | Self::FilteredLists
            | Self::TagSets => TrapText::Recombines,
            _ => TrapText::Repeats,
        }
    }

    /// Path and query of every good page, without a session.
    pub fn good_pages(self) -> Vec<String> {
        self.beside().pages()
    }

    /// A regular expression for what to take out of a target to have it without
    /// its session.
    pub fn session(self) -> Option<&'static str> {
        Session::of(self).map(Session::pattern)
    }

    /// Whether good pages answer in capital letters, too.
    pub fn ignores_case(self) -> bool {
        self == Self::RandomCase
    }

    /// The site beside it.
    fn beside(self) -> FiniteSite {
        let number = Self::ALL.iter().position(|own| *own == self).unwrap_or(0);
        let language = if number.is_multiple_of(2) {
            Language::Korean
        } else {
            Language::English
        };
        let seed = 5000 + number as u64;
        let mut site = match self {
            Self::FilterSubsets
            | Self::FilterRepeated
            | Self::FacetValues
            | Self::FacetPath
            | Self::SortOrders
            | Self::RelatedSearches
            | Self::FilteredLists
            | Self::TagSets => small::shop(language, seed),
            Self::SessionAfterPath | Self::SessionInQuery | Self::ReplyForms => {
                small::board(language, seed)
            }
            Self::SessionInPath
            | Self::SessionInFolder
            | Self::FolderInItself
            | Self::SoftMissing
            | Self::SoftMissingNames
            | Self::RandomCase => small::docs(language, seed),
            Self::MonthsByQuery | Self::Weeks | Self::MapTiles => small::gallery(language, seed),
            Self::MonthOffset | Self::IntoThePast => small::blog(language, seed),
            Self::PrintVariants | Self::EmptyLists => small::questions(language, seed),
        };
        if self.mouth() != "/" {
            site.door = Some((self.mouth(), site.words.t("더 보기", "More").to_owned()));
        }
        site
    }

    /// Where the endless part begins.
    pub(crate) fn mouth(self) -> String {
        match self {
            Self::MonthsByQuery => "/calendar?y=2026&m=11",
            Self::Weeks => "/week/2026/47",
            Self::MonthOffset => "/cal?m=0",
            Self::IntoThePast => "/history/2026-11",
            Self::FolderInItself => "/files/a/",
            Self::FilterSubsets | Self::FilterRepeated => "/filter",
            Self::FacetValues => "/find",
            Self::FacetPath => "/by/",
            Self::SortOrders => "/all?sort=new&dir=asc&size=10&page=1",
            Self::RelatedSearches => "/search?q=1",
            Self::ReplyForms => "/write?mode=reply&no=1&back=0",
            Self::TagSets => "/tag/t1",
            Self::SoftMissing => "/help/",
            Self::EmptyLists => "/results?page=1",
            Self::MapTiles => "/map?lat=37.50&lon=127.00&z=10",
            Self::SoftMissingNames => "/old-name-17",
            Self::SessionAfterPath
            | Self::SessionInQuery
            | Self::SessionInPath
            | Self::SessionInFolder
            | Self::RandomCase
            | Self::FilteredLists
            | Self::PrintVariants => "/",
        }
        .to_owned()
    }

    pub(crate) fn answer(self, host: &str, target: &str) -> Answer {
        let site = self.beside();
        if let Some(session) = Session::of(self) {
            return session.answer(&site, host, target);
        }
        if self == Self::PrintVariants {
            return variants::answer(&site, host, target);
        }
        if self == Self::FilteredLists {
            return variants::filtered(&site, host, target);
        }
        if self == Self::RandomCase {
            return variants::in_any_case(&site, host, target);
        }
        if let Some(sheet) = self.page(site.words, &Target::parse(target), target) {
            return site.page(200, &sheet, Timestamp::EPOCH);
        }
        let answer = site.answer(host, target, Timestamp::EPOCH);
        let apology = match self {
            Self::SoftMissing => variants::apology(site.words),
            Self::SoftMissingNames => variants::apology_with_names(site.words, target),
            _ => return answer,
        };
        if answer.status == 404 {
            return site.page(200, &apology, Timestamp::EPOCH);
        }
        answer
    }

    /// A page of the endless part.
    fn page(self, words: Words, at: &Target, target: &str) -> Option<Sheet> {
        match self {
            Self::MonthsByQuery => calendar::months_by_query(words, at),
            Self::Weeks => calendar::weeks(words, at),
            Self::MonthOffset => calendar::month_offset(words, at),
            Self::IntoThePast => calendar::into_the_past(words, at),
            Self::FolderInItself => variants::folder(words, at),
            Self::FilterSubsets => choices::filter_subsets(words, at, target),
            Self::FilterRepeated => choices::filter_repeated(words, at, target),
            Self::FacetValues => choices::facet_values(words, at, target),
            Self::FacetPath => choices::facet_path(words, at),
            Self::SortOrders => choices::sort_orders(words, at),
            Self::RelatedSearches => choices::related_searches(words, at),
            Self::TagSets => choices::tag_sets(words, at),
            Self::ReplyForms => variants::reply_form(words, at),
            Self::EmptyLists => variants::empty_list(words, at),
            Self::MapTiles => variants::map_tile(words, at),
            Self::SessionAfterPath
            | Self::SessionInQuery
            | Self::SessionInPath
            | Self::PrintVariants
            | Self::SessionInFolder
            | Self::RandomCase
            | Self::FilteredLists
            | Self::SoftMissingNames
            | Self::SoftMissing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(endless: Endless, target: &str) -> String {
        let answer = endless.answer("127.0.1.1:81", target);
        assert_eq!(answer.status, 200, "{endless:?} {target}");
        String::from_utf8(answer.body.to_vec()).unwrap()
    }

    fn links(endless: Endless, target: &str) -> Vec<String> {
        let base = geomi_url::CrawlUrl::parse(&format!("http://127.0.1.1:81{target}")).unwrap();
        let body = body(endless, target);
        let found = body.split("<a href=\"").skip(1);
        found
            .map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"))
            .map(|link| base.join(&link).unwrap().path_and_query().to_owned())
            .collect()
    }

    #[test]
    fn every_site_has_good_pages_that_answer() {
        for endless in Endless::ALL {
            let good = endless.good_pages();
            assert!(
                (24..=200).contains(&good.len()),
                "{endless:?} {}",
                good.len()
            );
            for target in good {
                let plain = geomi_url::CrawlUrl::parse(&format!("http://h{target}")).unwrap();
                assert!(!body(endless, plain.path_and_query()).is_empty());
            }
        }
    }

    #[test]
    fn following_links_finds_more_pages_than_any_bound_allows() {
        for endless in Endless::ALL {
            let mut seen = std::collections::BTreeSet::from(["/".to_owned()]);
            let mut queue = std::collections::VecDeque::from(["/".to_owned()]);
            while let Some(target) = queue.pop_front() {
                if seen.len() > 1500 {
                    break;
                }
                if endless.answer("127.0.1.1:81", &target).status == 200 {
                    let new = links(endless, &target);
                    queue
                        .extend(new.into_iter().filter(|link| {
                            !link.starts_with("/cart") && seen.insert(link.clone())
                        }));
                }
            }
            assert!(
                seen.len() > 1500,
                "{endless:?} has but {} pages",
                seen.len()
            );
        }
    }
}
