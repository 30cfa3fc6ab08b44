//! How often pages change by domain, depth and link type, which is where ROBOT's Tables 9
//! to 13 found differences.
//!
//! What a page has in common with others its first visit tells: one that was answered by a
//! 304 read no links, and knows no type of them. How often pages of a kind change is the
//! mean of what is believed of each; the changes that were found by the days that were
//! watched are shown beside it as *naive*, for a page that changes twice between two visits
//! is seen to change once.

use std::collections::BTreeMap;

use geomi_model::Visit;
use geomi_refresh::upkeep::Sighting;
use geomi_refresh::{PageId, Posterior};
use geomi_report::freshness::Moment;
use geomi_url::public_suffix;

use super::mean_rate::MeanRate;

/// In how many ways pages are alike.
const WAYS: usize = 3;
/// Kinds that are shown of each, those with the most comparisons.
const SHOWN: usize = 20;

/// Pages of one kind.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Kind {
    /// Visits that were compared with the copy before.
    pub(super) compared: u64,
    pub(super) changed: u64,
    /// Days between the visits that were compared.
    days: f64,
    /// What is believed of its pages.
    pub(super) rate: MeanRate,
}

impl Kind {
    /// The share of comparisons that found a change.
    pub(super) fn share(&self) -> f64 {
        self.changed as f64 / (self.compared as f64).max(1.0)
    }

    /// Changes found by days watched; nothing where no time passed.
    pub(super) fn naive(&self) -> Option<f64> {
        (self.days > 0.0).then(|| self.changed as f64 / self.days)
    }
}

/// All kinds that differ in one way.
#[derive(Clone, Debug, Default)]
struct Kinds {
    numbers: BTreeMap<String, u32>,
    kinds: Vec<Kind>,
}

impl Kinds {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.kinds.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.kinds.push(Kind::default());
        number
    }
}

/// Kinds that are shown, and how many there are.
pub(super) struct Table<'a> {
    /// In which way they differ.
    pub(super) way: &'static str,
    /// The most compared first, depths in their order.
    pub(super) rows: Vec<(&'a str, Kind)>,
    /// How many there are with comparisons.
    pub(super) of: usize,
}

impl Table<'_> {
    /// What is left out, in words.
    pub(super) fn rest_in_words(&self) -> Option<String> {
        let shown = self.rows.len();
        let words = || format!("{shown} of {}, those with the most comparisons", self.of);
        (shown < self.of).then(words)
    }
}

/// Pages by all that they have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinships {
    ways: [Kinds; WAYS],
    /// The kinds of each page.
    pages: Vec<[u32; WAYS]>,
}

impl Kinships {
    /// Takes a visit in; pages come in the order of their first ones.
    pub(super) fn take(&mut self, moment: &Moment<'_>) {
        let sighted = &moment.sighted;
        if sighted.kind == Sighting::First {
            self.add(moment.visit);
        }
        let Some(changed) = sighted.kind.changed() else {
            return;
        };
        for (kinds, number) in self.ways.iter_mut().zip(self.pages[sighted.page as usize]) {
            let kind = &mut kinds.kinds[number as usize];
            kind.compared += 1;
            kind.changed += u64::from(changed);
            kind.days += (sighted.at - moment.before).max(0.0);
        }
    }

    fn add(&mut self, first: &Visit) {
        let domain = public_suffix(first.url.host()).unwrap_or("address");
        let links = first.link_type.map_or("none", |kind| kind.as_str());
        let names = [domain, &first.depth.to_string(), links];
        let mut ways = self.ways.iter_mut().zip(names);
        let numbers = std::array::from_fn(|_| {
            let (kinds, name) = ways.next().expect("there is a name for every way");
            kinds.number(name)
        });
        self.pages.push(numbers);
    }

    /// All visits are known: takes in what is believed of the pages.
    pub(super) fn learn(&mut self, believed: impl Fn(PageId) -> Posterior) {
        for (numbers, page) in self.pages.iter().zip(0..) {
            let posterior = believed(page);
            for (kinds, number) in self.ways.iter_mut().zip(numbers) {
                kinds.kinds[*number as usize].rate.add(&posterior);
            }
        }
    }

    /// Whether any visit could be compared.
    pub(super) fn has_comparisons(&self) -> bool {
        let depths = &self.ways[1];
        depths.kinds.iter().any(|kind| kind.compared > 0)
    }

    /// By domain, depth and link type.
    pub(super) fn tables(&self) -> [Table<'_>; WAYS] {
        let [domains, depths, links] = &self.ways;
        [("domain", domains), ("depth", depths), ("link type", links)].map(|(way, kinds)| {
            let names = kinds.numbers.iter();
            let rows = names.map(|(name, number)| (name.as_str(), kinds.kinds[*number as usize]));
            let mut rows: Vec<(&str, Kind)> = rows.filter(|(_, kind)| kind.compared > 0).collect();
            let of = rows.len();
            rows.sort_by_key(|(_, kind)| std::cmp::Reverse(kind.compared));
            rows.truncate(SHOWN);
            if way == "depth" {
                rows.sort_by_key(|(depth, _)| depth.parse::<u16>().ok());
            }
            Table { way, rows, of }
        })
    }
}

#[cfg(test)]
mod tests {
    use geomi_model::{LinkKind, LinkType};
    use geomi_refresh::upkeep::Sighted;
    use geomi_url::CrawlUrl;

    use super::*;

    fn visit(host: &str) -> Visit {
        Visit::unknown(CrawlUrl::parse(&format!("http://{host}/")).unwrap())
    }

    /// Takes in a visit, two days after the one before.
    fn take(kinships: &mut Kinships, visit: &Visit, page: PageId, kind: Sighting) {
        kinships.take(&Moment {
            visit,
            sighted: Sighted {
                page,
                kind,
                at: 12.0,
                bits_apart: None,
                weight: 1.0,
            },
            chance: None,
            before: 10.0,
            accounts: [None; 2],
        });
    }

    #[test]
    fn a_304_is_counted_with_its_page() {
        let links = LinkType::default().with(LinkKind::Anchor);
        let mut kinships = Kinships::default();
        let mut one = visit("a.test");
        (one.depth, one.link_type) = (3, Some(links));
        take(&mut kinships, &one, 0, Sighting::First);
        assert!(!kinships.has_comparisons());
        (one.depth, one.link_type) = (0, None);
        take(&mut kinships, &one, 0, Sighting::Unchanged);
        let names = kinships.tables().map(|table| table.rows[0].0.to_owned());
        assert_eq!(names[1..], ["3", links.as_str()]);
    }

    #[test]
    fn a_kind_has_its_counts_and_the_mean_of_what_is_believed() {
        let mut kinships = Kinships::default();
        for page in 0..2 {
            take(&mut kinships, &visit("a.test"), page, Sighting::First);
        }
        for kind in [Sighting::Same, Sighting::Changed, Sighting::Failed] {
            take(&mut kinships, &visit("a.test"), 0, kind);
        }
        kinships.learn(|page| Posterior::known([0.1, 0.7][page as usize]));
        let [domains, ..] = kinships.tables();
        let kind = domains.rows[0].1;
        assert_eq!((kind.compared, kind.changed), (2, 1));
        assert_eq!(kind.naive(), Some(0.25));
        assert_eq!(kind.rate.pages(), 2);
        assert!((kind.rate.mean() - 0.4).abs() < 0.08, "{kind:?}");
    }

    #[test]
    fn what_is_left_out_is_told() {
        let mut kinships = Kinships::default();
        for page in 0..30 {
            let mut one = visit("a.test");
            one.depth = page as u16;
            take(&mut kinships, &one, page, Sighting::First);
            let twice = if page == 29 { 2 } else { 1 };
            (0..twice).for_each(|_| take(&mut kinships, &one, page, Sighting::Same));
        }
        let [domains, depths, _] = kinships.tables();
        assert_eq!(domains.rest_in_words(), None);
        let words = "20 of 30, those with the most comparisons";
        assert_eq!(depths.rest_in_words().as_deref(), Some(words));
        assert_eq!(depths.rows.last().unwrap().0, "29");
    }
}
