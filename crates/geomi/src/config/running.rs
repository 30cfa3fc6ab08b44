//! The configuration of a crawl that runs: `geomi set` changes it, and seeds
//! that come while it runs are checked against it and add to it.
//!
//! Both keep geomi.toml as it is by then, so that the next run finds it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use geomi_crawler::CrawlConfig;
use geomi_store::{CrawlDir, StoreError};

use super::{Problems, Written, change_live, public_faults, resolve_beside};

/// A handle on it, to be cloned freely.
#[derive(Clone, Debug)]
pub(crate) struct RunningConfig(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    dir: CrawlDir,
    written: Written,
    /// The first seed's host on the public internet.
    public: Option<String>,
    /// Why there can be none as things stand: for this host, in these words.
    refusal: Option<(String, String)>,
}

impl RunningConfig {
    pub(crate) fn new(dir: CrawlDir, written: Written) -> Self {
        Self(Arc::new(Mutex::new(State {
            dir,
            written,
            public: None,
            refusal: None,
        })))
    }

    /// Notes that a seed is on the public internet: from now on no change may
    /// break the rules for that.
    pub(crate) fn note_public(&self, host: &str) {
        self.lock().public.get_or_insert_with(|| host.to_owned());
    }

    /// Whether a seed may be on the public internet, as things stand.
    pub(crate) fn vet_public(&self, host: &str) -> Result<(), String> {
        let mut state = self.lock();
        if state.public.is_some() {
            return Ok(());
        }
        if state.refusal.is_none() {
            let faults = public_faults(&state.written, host);
            if faults.is_empty() {
                state.public = Some(host.to_owned());
                return Ok(());
            }
            state.refusal = Some((host.to_owned(), faults.join("; ")));
        }
        let refusal = state.refusal.as_ref();
        Err(refusal.map_or_else(String::new, |(first, words)| words.replace(first, host)))
    }

    /// Lets hosts be at private addresses, also in the next run.
    pub(crate) fn allow_hosts(&self, hosts: Vec<String>) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.written.extend("fetch.allow_hosts", hosts);
        state.keep()
    }

    /// Changes live keys, if the crawl can go on with them.
    pub(crate) fn change(
        &self,
        settings: &[String],
        carry_out: impl FnOnce(CrawlConfig) -> Result<(), Vec<String>>,
    ) -> Result<(), Vec<String>> {
        // Held until it is carried out: no seed is vetted by what no longer holds.
        let mut state = self.lock();
        let mut problems = Problems::default();
        let mut next = state.written.clone();
        change_live(settings, &mut next, &mut problems);
        let meant = resolve_beside(&next, Vec::new(), state.public.as_deref(), &mut problems);
        if let Err(problems) = problems.into_result() {
            return Err(problems.iter().map(ToString::to_string).collect());
        }
        carry_out(meant)?;
        state.written = next;
        state.refusal = None;
        state
            .keep()
            .map_err(|error| vec![format!("changed, but not kept for the next run: {error}")])
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What is half done when somebody panics is a change that was not kept.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn keep(&self) -> Result<(), StoreError> {
        super::keep(&self.dir, &self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(settings: &[&str]) -> (RunningConfig, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let mut problems = Problems::default();
        let settings = settings
            .iter()
            .map(|text| super::super::parse_set(text, super::super::Place::Default).unwrap());
        let written = super::super::load_alone(&settings.collect::<Vec<_>>(), &mut problems);
        assert!(problems.into_result().is_ok());
        (RunningConfig::new(dir, written), folder)
    }

    const CONTACT: &str = "fetch.contact=https://example.org/bot";

    #[test]
    fn a_public_seed_needs_a_contact_and_a_pause() {
        let (rude, _folder) = running(&["politeness.site_delay=0s"]);
        let refusal = rude.vet_public("a.example.com").unwrap_err();
        assert!(refusal.contains("a.example.com is not on this machine"));
        assert!(refusal.contains("under 100ms"), "{refusal}");
        let refusal = rude.vet_public("b.example.com").unwrap_err();
        assert!(refusal.contains("b.example.com is not on"), "{refusal}");

        let (polite, _folder) = running(&[CONTACT]);
        polite.vet_public("a.example.com").unwrap();
    }

    #[test]
    fn a_change_counts_for_seeds_that_come_later_and_seeds_for_a_change() {
        let (config, folder) = running(&[CONTACT, "politeness.site_delay=0s"]);
        assert!(config.vet_public("a.example.com").is_err());
        let set = |text: &str| config.change(&[text.to_owned()], |_| Ok(()));
        set("politeness.site_delay=2s").unwrap();
        config.vet_public("a.example.com").unwrap();
        let refused = set("politeness.site_delay=0s").unwrap_err();
        assert!(refused[0].contains("a.example.com"), "{refused:?}");
        config.allow_hosts(vec!["intranet".to_owned()]).unwrap();
        let kept = std::fs::read_to_string(folder.path().join("geomi.toml")).unwrap();
        assert!(kept.contains("site_delay = \"2s\""), "{kept}");
        assert!(kept.contains("allow_hosts = [\"intranet\"]"), "{kept}");
    }
}
