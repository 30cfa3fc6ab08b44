//! What the next visit to a site will probably end in, told from past ones.
//!
//! Kim and Lee (2003) found that the state of a visit is best foretold by the
//! visit before: of 74 million pages, one that was answered was answered again
//! with probability SS = 0.9638, and one that failed failed again with
//! FF = 0.7426. Each site has its own SS and FF here: its counted pairs of
//! successive visits, to which those two figures are added as if they were
//! [`PRIOR_PAIRS`] pairs seen before. So a site never visited behaves like the
//! mean of the web, and one well known like itself.

/// P(answered | answered before) over the whole web.
const SS_PRIOR: f64 = 0.9638;
/// P(failed | failed before) over the whole web.
const FF_PRIOR: f64 = 0.7426;
/// How many pairs the whole web's figures count for.
const PRIOR_PAIRS: f64 = 4.0;
/// Visits in a row without an answer before giving up is thought of. Pages of a
/// working site may fail in a row, each with its tries; not this many.
const UNANSWERED_MIN: u32 = 30;
/// A site whose failures are followed by an answer less often is given up.
const RECOVERY_MIN: f64 = 0.1;

/// What to expect of a site's next visit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outlook {
    /// P(answered | the visit before was answered).
    pub ss: f64,
    /// P(failed | the visit before failed).
    pub ff: f64,
    /// P(the next visit is answered), by what the last one ended in.
    pub next_answered: f64,
}

impl Outlook {
    /// From pairs of successive visits (SS, SF, FS, FF) and the last visit.
    pub fn new(transitions: [u32; 4], last_answered: Option<bool>) -> Self {
        let [ss, sf, fs, ff] = transitions.map(f64::from);
        let ss = (ss + PRIOR_PAIRS * SS_PRIOR) / (ss + sf + PRIOR_PAIRS);
        let ff = (ff + PRIOR_PAIRS * FF_PRIOR) / (fs + ff + PRIOR_PAIRS);
        let next_answered = match last_answered {
            Some(false) => 1.0 - ff,
            Some(true) | None => ss,
        };
        Self {
            ss,
            ff,
            next_answered,
        }
    }

    /// Whether a failure is likelier than an answer.
    pub fn is_bad(&self) -> bool {
        self.next_answered < 0.5
    }

    /// Whether a site with so many visits in a row unanswered is not worth
    /// another. One that used to recover is given more time than one that never
    /// answered: its own FF is lower.
    pub fn is_hopeless(&self, unanswered: u32) -> bool {
        unanswered >= UNANSWERED_MIN && 1.0 - self.ff < RECOVERY_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_site_is_like_the_whole_web() {
        let new = Outlook::new([0; 4], None);
        assert!((new.ss - SS_PRIOR).abs() < 1e-12 && (new.ff - FF_PRIOR).abs() < 1e-12);
        assert!(!new.is_bad());
        assert!(Outlook::new([0; 4], Some(false)).is_bad());
    }

    #[test]
    fn a_known_site_is_like_itself() {
        // It fails now and then, and always recovers.
        let flaky = Outlook::new([50, 50, 50, 1], Some(false));
        assert!(!flaky.is_bad(), "{flaky:?}");
        let sure = Outlook::new([5_000, 1, 1, 0], Some(true));
        assert!(sure.next_answered > 0.999);
    }

    #[test]
    fn a_site_that_never_recovers_is_given_up_sooner_than_one_that_did() {
        let gave_up_after = |recoveries: u32| {
            (1..1_000).find(|&unanswered| {
                let transitions = [500, recoveries + 1, recoveries, unanswered - 1];
                Outlook::new(transitions, Some(false)).is_hopeless(unanswered)
            })
        };
        assert_eq!(gave_up_after(0), Some(UNANSWERED_MIN));
        assert!(gave_up_after(10) > Some(90), "{:?}", gave_up_after(10));
    }
}
