//! Template edits: a site that is given a new menu changes on every page at once,
//! and that says nothing of how often its pages change.
//!
//! A *shallow* change is one that leaves the main text as it was. Of each site
//! the share of shallow changes among all comparisons is followed, quickly and
//! slowly; while nearly all of the last ones were shallow and that is not what
//! the site is usually like, further shallow changes are taken for the same edit.
//! The first few pages of an edit are counted as changed: nobody can know yet.

use geomi_url::SiteHash;
use hashbrown::HashMap;

/// Comparisons after which the quick share has moved by two thirds.
const QUICK: f32 = 4.0;
/// The same for the slow one.
const SLOW: f32 = 64.0;
/// The quick share of an edit.
const EDIT_MIN: f32 = 0.8;
/// The slow share of a site for which that is unusual.
const USUAL_MAX: f32 = 0.5;
/// Comparisons before anything is said of a site.
const SEEN_MIN: u32 = 12;

/// What the sites are like.
#[derive(Debug, Default)]
pub(super) struct Waves {
    sites: HashMap<SiteHash, Shares>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    quick: f32,
    slow: f32,
    seen: u32,
}

impl Waves {
    /// Takes in a comparison; whether it is part of an edit of the whole site.
    pub(super) fn take(&mut self, site: SiteHash, is_shallow: bool) -> bool {
        let shares = self.sites.entry(site).or_default();
        let value = f32::from(u8::from(is_shallow));
        let is_edit = is_shallow
            && shares.seen >= SEEN_MIN
            && shares.quick >= EDIT_MIN
            && shares.slow < USUAL_MAX;
        shares.quick += (value - shares.quick) / QUICK;
        // The first ones count as the mean of all so far.
        shares.seen += 1;
        shares.slow += (value - shares.slow) / SLOW.min(shares.seen as f32);
        is_edit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_of_all_pages_is_noticed_after_some() {
        let (mut waves, site) = (Waves::default(), SiteHash(1));
        for at in 0..40 {
            assert!(!waves.take(site, at % 10 == 0));
        }
        let noticed = (0..20).filter(|_| waves.take(site, true)).count();
        assert!((10..=15).contains(&noticed), "{noticed}");
        assert!(!waves.take(site, false));
        assert!(!waves.take(SiteHash(2), true), "another site");
    }

    #[test]
    fn a_site_that_is_always_so_is_left_alone() {
        let (mut waves, site) = (Waves::default(), SiteHash(1));
        let noticed = (0..100).filter(|_| waves.take(site, true)).count();
        assert_eq!(noticed, 0);
    }
}
