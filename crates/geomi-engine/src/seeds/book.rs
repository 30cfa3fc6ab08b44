//! All seeds by number, a bounded number of them in memory.
//!
//! A seed that is asked for is read from the state of its partition and kept for
//! a while. One that was changed is kept until it is committed: it cannot be read
//! back before. How many seeds were given and how many of these failed is counted as
//! they change, so that no question needs to read all of them.

use std::cell::RefCell;
use std::rc::Rc;

use geomi_state::Scan;
use geomi_url::CrawlUrl;
use hashbrown::HashMap;

use super::index::SeedIndex;
use super::{Seed, SeedCard, SeedOutcome};
use crate::partition::Partition;
use crate::{EngineError, SeedInput};

/// Seeds kept in each of two generations, as they are in the state.
const KEPT_MAX: usize = 1_024;

/// All seeds of a partition, by number. They are in its state, which is an argument
/// where one has to be read.
#[derive(Debug, Default)]
pub(crate) struct SeedBook {
    index: SeedIndex,
    /// Seeds that differ from what is in the state.
    changed: HashMap<u32, Rc<Seed>>,
    /// Seeds that do not.
    kept: RefCell<Kept>,
    tally: Tally,
}

/// What became of the seeds that were given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Tally {
    given: u32,
    failed: u32,
    guests: u32,
}

impl Tally {
    fn count(&mut self, seed: &Seed) {
        self.guests += u32::from(seed.is_guest);
        if seed.via.is_none() && !seed.is_guest {
            self.given += 1;
            self.failed += is(SeedOutcome::Failed, seed);
        }
    }

    fn discount(&mut self, seed: &Seed) {
        self.guests -= u32::from(seed.is_guest);
        if seed.via.is_none() && !seed.is_guest {
            self.given -= 1;
            self.failed -= is(SeedOutcome::Failed, seed);
        }
    }
}

fn is(outcome: SeedOutcome, seed: &Seed) -> u32 {
    u32::from(seed.outcome == outcome)
}

impl SeedBook {
    /// The seeds of an earlier run.
    pub(crate) fn load(partition: &Partition) -> Result<Self, EngineError> {
        let mut book = Self::default();
        partition.each_seed(0, &mut |number, seed| {
            let is_next = number == book.index.len() && book.index.get(&seed.url).is_none();
            if !is_next {
                return Err(damaged(number));
            }
            book.index.add(&seed.url);
            book.tally.count(&seed);
            Ok(Scan::Continue)
        })?;
        Ok(book)
    }

    /// Adds a seed and returns its number; a seed known already keeps its own.
    /// A topic the operator gives it now is the one that counts, whether it was
    /// found on the way before or came with another list; visits made so far
    /// keep theirs.
    pub(crate) fn add(
        &mut self,
        partition: &Partition,
        input: &SeedInput,
        via: Option<&CrawlUrl>,
    ) -> Result<Added, EngineError> {
        let Some(number) = self.index.get(&input.url) else {
            let number = self.index.add(&input.url);
            let seed = Seed::new(input, via);
            self.tally.count(&seed);
            self.changed.insert(number, Rc::new(seed));
            return Ok(Added::New(number));
        };
        if via.is_none()
            && input.topic.is_some()
            && self.get(partition, number)?.topic != input.topic
        {
            self.edit(partition, number, |seed| {
                seed.topic.clone_from(&input.topic);
            })?;
        }
        Ok(Added::Known)
    }

    /// The number of a seed of another partition; its card is kept.
    pub(crate) fn take_card(
        &mut self,
        partition: &Partition,
        card: &SeedCard,
    ) -> Result<u32, EngineError> {
        let Some(number) = self.index.get(&card.url) else {
            let number = self.index.add(&card.url);
            let seed = Seed::guest(card);
            self.tally.count(&seed);
            self.changed.insert(number, Rc::new(seed));
            return Ok(number);
        };
        let known = self.get(partition, number)?;
        if known.is_guest && known.home != card.home {
            drop(known);
            self.edit(partition, number, |seed| seed.home = card.home.clone())?;
        }
        Ok(number)
    }

    /// The number of a seed.
    pub(crate) fn number_of(&self, url: &CrawlUrl) -> Option<u32> {
        self.index.get(url)
    }

    pub(crate) fn knows(&self, url: &CrawlUrl) -> bool {
        self.number_of(url).is_some()
    }

    /// A seed as it is now.
    pub(crate) fn get(&self, partition: &Partition, number: u32) -> Result<Rc<Seed>, EngineError> {
        if let Some(seed) = self.changed.get(&number) {
            return Ok(Rc::clone(seed));
        }
        let mut kept = self.kept.borrow_mut();
        if let Some(seed) = kept.get(number) {
            return Ok(seed);
        }
        let seed = partition.seed(number)?.ok_or_else(|| damaged(number))?;
        let seed = Rc::new(seed);
        kept.keep(number, Rc::clone(&seed));
        Ok(seed)
    }

    /// Changes a seed; durable with the next commit.
    pub(crate) fn edit(
        &mut self,
        partition: &Partition,
        number: u32,
        edit: impl FnOnce(&mut Seed),
    ) -> Result<(), EngineError> {
        if !self.changed.contains_key(&number) {
            let seed = self.get(partition, number)?;
            self.kept.get_mut().forget(number);
            self.changed.insert(number, seed);
        }
        let seed = self.changed.get_mut(&number).expect("it is there now");
        let seed = Rc::make_mut(seed);
        self.tally.discount(seed);
        edit(seed);
        self.tally.count(seed);
        Ok(())
    }

    /// How many there are, cards included.
    pub(crate) fn len(&self) -> u32 {
        self.index.len()
    }

    /// How many there are, without cards of other partitions.
    pub(crate) fn own(&self) -> u32 {
        self.index.len() - self.tally.guests
    }

    /// How many were given.
    pub(crate) const fn given(&self) -> u32 {
        self.tally.given
    }

    /// How many of those failed.
    pub(crate) const fn failed(&self) -> u32 {
        self.tally.failed
    }

    /// Puts changed seeds into the next commit.
    pub(crate) fn save(&self, partition: &mut Partition) {
        for (number, seed) in &self.changed {
            partition.set_seed(*number, &seed.encode());
        }
    }

    /// The seeds were committed: what was changed can be read back.
    pub(crate) fn committed(&mut self) {
        let kept = self.kept.get_mut();
        for (number, seed) in self.changed.drain() {
            kept.keep(number, seed);
        }
        // After a great many at once the room for them is given back.
        self.changed.shrink_to(KEPT_MAX);
    }
}

/// What became of a seed that was to be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Added {
    /// It has this number.
    New(u32),
    /// It had one before.
    Known,
}

fn damaged(number: u32) -> EngineError {
    EngineError::Damaged {
        what: format!("seed {number} is missing or there twice"),
    }
}

/// Seeds in use lately, in two generations. When the young one is full, the seeds that
/// are still in the old one are dropped and the young one becomes the old one.
#[derive(Debug, Default)]
struct Kept {
    young: HashMap<u32, Rc<Seed>>,
    old: HashMap<u32, Rc<Seed>>,
}

impl Kept {
    fn get(&mut self, number: u32) -> Option<Rc<Seed>> {
        if let Some(seed) = self.young.get(&number) {
            return Some(Rc::clone(seed));
        }
        let seed = self.old.remove(&number)?;
        self.keep(number, Rc::clone(&seed));
        Some(seed)
    }

    fn keep(&mut self, number: u32, seed: Rc<Seed>) {
        if self.young.len() >= KEPT_MAX {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        self.young.insert(number, seed);
    }

    fn forget(&mut self, number: u32) {
        self.young.remove(&number);
        self.old.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use geomi_model::NetworkState;
    use geomi_state::MemoryDisk;
    use geomi_state::seen::MemoryBases;

    use super::*;
    use crate::partition::ArchiveMark;

    fn input(number: u32, topic: Option<&str>) -> SeedInput {
        SeedInput {
            url: CrawlUrl::parse(&format!("http://s{number}.example/")).unwrap(),
            topic: topic.map(str::to_owned),
        }
    }

    struct Place {
        disk: MemoryDisk,
        bases: MemoryBases,
    }

    impl Place {
        fn new() -> Self {
            Self {
                disk: MemoryDisk::new(),
                bases: MemoryBases::new(),
            }
        }

        fn open(&self) -> Partition {
            let store = self.disk.open().unwrap();
            let bases = Arc::new(self.bases.clone());
            Partition::open(Box::new(store), bases, 1 << 16).unwrap()
        }
    }

    fn commit(book: &mut SeedBook, partition: &mut Partition) {
        book.save(partition);
        partition.commit(&ArchiveMark::default()).unwrap();
        book.committed();
    }

    fn kept(book: &SeedBook) -> usize {
        let kept = book.kept.borrow();
        kept.young.len() + kept.old.len()
    }

    #[test]
    fn a_topic_given_later_counts_and_none_takes_it_away() {
        let partition = Place::new().open();
        let from = CrawlUrl::parse("http://b.example/").unwrap();
        let mut book = SeedBook::default();
        let mut add = |topic, via| book.add(&partition, &input(1, topic), via).unwrap();
        assert_eq!(add(None, Some(&from)), Added::New(0));
        assert_eq!(add(Some("news"), None), Added::Known);
        add(None, None);
        add(Some("found elsewhere"), Some(&from));
        let seed = book.get(&partition, 0).unwrap();
        assert_eq!(seed.topic.as_deref(), Some("news"));
        assert_eq!(book.len(), 1);
    }

    #[test]
    fn memory_is_bounded_and_what_was_changed_stays_until_it_is_durable() {
        const SEEDS: u32 = 5 * KEPT_MAX as u32;
        let place = Place::new();
        let mut partition = place.open();
        let mut book = SeedBook::default();
        for number in 0..SEEDS {
            let added = book.add(&partition, &input(number, None), None).unwrap();
            assert_eq!(added, Added::New(number));
        }
        assert_eq!(book.changed.len(), SEEDS as usize, "none is durable yet");
        commit(&mut book, &mut partition);
        assert!(book.changed.is_empty() && kept(&book) <= 2 * KEPT_MAX);

        book.edit(&partition, 3, |seed| seed.pages = 7).unwrap();
        for number in 0..SEEDS {
            let seed = book.get(&partition, number).unwrap();
            assert_eq!(seed.url, input(number, None).url);
        }
        assert!(kept(&book) <= 2 * KEPT_MAX);
        assert_eq!(book.get(&partition, 3).unwrap().pages, 7, "not durable yet");
        commit(&mut book, &mut partition);
        for number in 0..SEEDS {
            book.get(&partition, number).unwrap();
        }
        assert_eq!(book.get(&partition, 3).unwrap().pages, 7, "read back");
        assert!(book.get(&partition, SEEDS).is_err());
        drop(partition);

        let partition = place.open();
        let mut opened = SeedBook::load(&partition).unwrap();
        assert_eq!((opened.len(), kept(&opened)), (SEEDS, 0));
        assert_eq!(opened.number_of(&input(9, None).url), Some(9));
        let added = opened.add(&partition, &input(SEEDS, None), None);
        assert_eq!(added.unwrap(), Added::New(SEEDS));
    }

    #[test]
    fn the_tally_is_that_of_all_seeds_at_any_time() {
        let place = Place::new();
        let mut partition = place.open();
        let mut book = SeedBook::default();
        assert!(book.given() == 0, "there is none");
        let from = CrawlUrl::parse("http://b.example/").unwrap();
        for number in 0..3 {
            book.add(&partition, &input(number, None), None).unwrap();
        }
        book.add(&partition, &input(3, None), Some(&from)).unwrap();
        let fail = |seed: &mut Seed| {
            (seed.outcome, seed.state) = (SeedOutcome::Failed, NetworkState::NoIp);
        };
        for number in 0..3 {
            assert!(book.failed() < book.given());
            book.edit(&partition, number, fail).unwrap();
            book.edit(&partition, number, fail).unwrap();
        }
        assert!(
            book.failed() == book.given(),
            "the one that was found does not count"
        );
        commit(&mut book, &mut partition);
        drop(partition);
        let partition = place.open();
        let mut book = SeedBook::load(&partition).unwrap();
        assert!(book.failed() == book.given());
        let retry = |seed: &mut Seed| seed.outcome = SeedOutcome::Pending;
        book.edit(&partition, 1, retry).unwrap();
        assert!(book.failed() < book.given());
        let refuse = |seed: &mut Seed| seed.outcome = SeedOutcome::Refused;
        for number in 0..3 {
            book.edit(&partition, number, refuse).unwrap();
        }
        assert!(
            book.given() == 3 && book.failed() == 0,
            "refused is not failed"
        );
    }
}
