//! The priority of a URL, from what is known when it is found.
//!
//! A score between 0 and 1 is the weighted mean of the parts below, each
//! between 0 and 1, and is cut into [`PRIORITIES`] levels. One of the parts is
//! importance ([`Importance`](crate::Importance)), which grows as more pages are
//! found to link to a URL; the others stay. Patterns the user prefers are always
//! priority 1, as are seeds.

use geomi_model::{LinkKind, PRIORITIES};

/// What is known of a URL when it is found.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Links away from the seed.
    pub depth: u16,
    /// Segments of its path.
    pub path_segments: usize,
    /// Characters of the URL.
    pub chars: usize,
    /// Whether it has a query.
    pub has_query: bool,
    /// What kind of link led to it.
    pub kind: LinkKind,
    /// Importance by the links found so far, 0 to 1.
    pub importance: f32,
    /// Share of the site's past visits that succeeded.
    pub site_success: f32,
    /// Traffic of the site, 0 to 1, where somebody gave it.
    pub traffic: Option<f32>,
    /// How often it changes, 0 to 1, where somebody said so.
    pub change: Option<f32>,
    /// Whether a pattern of the user's prefers it.
    pub preferred: bool,
}

/// The parts of a score, each 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parts {
    /// Near the seed is better.
    pub depth: f32,
    /// Short and plain URLs are better.
    pub shape: f32,
    /// Linked to by important pages is better.
    pub importance: f32,
    /// Anchors are better than embedded things.
    pub kind: f32,
    /// Sites that answer are better.
    pub history: f32,
    /// Sites that people visit are better; it counts where it is given.
    pub traffic: Option<f32>,
    /// What changes often is better; it counts where it is told.
    pub change: Option<f32>,
}

/// Weights of the parts of a score; only their ratio counts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prioritizer {
    /// Of nearness to the seed.
    pub depth: f32,
    /// Of a short and plain URL.
    pub shape: f32,
    /// Of importance.
    pub importance: f32,
    /// Of the kind of link.
    pub kind: f32,
    /// Of the site's past.
    pub history: f32,
    /// Of the site's traffic.
    pub traffic: f32,
    /// Of how often it changes.
    pub change: f32,
}

impl Default for Prioritizer {
    fn default() -> Self {
        Self {
            depth: 10.0,
            shape: 15.0,
            importance: 80.0,
            kind: 10.0,
            history: 5.0,
            traffic: 40.0,
            change: 20.0,
        }
    }
}

impl Prioritizer {
    /// 1 for the best, [`PRIORITIES`] for the least.
    pub fn priority(&self, features: &Features) -> u8 {
        if features.preferred {
            return 1;
        }
        if features.kind == LinkKind::Script {
            // It may lead nowhere: everything else goes first.
            return PRIORITIES;
        }
        let level = (1.0 - self.score(&Parts::of(features))) * f32::from(PRIORITIES - 1);
        // Priority 1 is kept for seeds and preferred URLs.
        2 + (level as u8).min(PRIORITIES - 2)
    }

    /// The weighted mean of the parts that are known, 0 to 1; nothing, if nothing
    /// has weight.
    pub fn score(&self, parts: &Parts) -> f32 {
        let mut sum = self.depth * parts.depth
            + self.shape * parts.shape
            + self.importance * parts.importance
            + self.kind * parts.kind
            + self.history * parts.history;
        let mut weights = self.depth + self.shape + self.importance + self.kind + self.history;
        for (weight, part) in [(self.traffic, parts.traffic), (self.change, parts.change)] {
            if let Some(part) = part {
                sum += weight * part;
                weights += weight;
            }
        }
        if weights > 0.0 { sum / weights } else { 0.0 }
    }
}

impl Parts {
    /// What those features make of each.
    pub fn of(features: &Features) -> Self {
        Self {
            depth: 1.0 / (1.0 + f32::from(features.depth) / 4.0),
            shape: shape(features),
            importance: features.importance.clamp(0.0, 1.0),
            kind: match features.kind {
                LinkKind::Anchor => 1.0,
                LinkKind::Frame => 0.8,
                LinkKind::Other | LinkKind::Embedded | LinkKind::Form => 0.2,
                LinkKind::Script => 0.0,
            },
            history: features.site_success.clamp(0.0, 1.0),
            traffic: features.traffic.map(|part| part.clamp(0.0, 1.0)),
            change: features.change.map(|part| part.clamp(0.0, 1.0)),
        }
    }
}

fn shape(features: &Features) -> f32 {
    let segments = 1.0 / (1.0 + features.path_segments as f32 / 4.0);
    let length = 1.0 - (features.chars as f32 / 512.0).min(1.0);
    let query = if features.has_query { 0.5 } else { 1.0 };
    segments * 0.5 + length * 0.2 + query * 0.3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Features {
        Features {
            depth: 2,
            path_segments: 2,
            chars: 60,
            has_query: false,
            kind: LinkKind::Anchor,
            importance: 0.5,
            site_success: 1.0,
            traffic: None,
            change: None,
            preferred: false,
        }
    }

    #[test]
    fn traffic_and_change_count_where_they_are_known() {
        let rule = Prioritizer::default();
        let score = |traffic, change| {
            let known = Features {
                traffic,
                change,
                ..plain()
            };
            rule.score(&Parts::of(&known))
        };
        let base = score(None, None);
        assert!(score(Some(1.0), None) > base && score(Some(0.0), None) < base);
        assert!(score(None, Some(1.0)) > base && score(None, Some(0.0)) < base);
        assert!(score(Some(1.0), Some(1.0)) > score(Some(1.0), None));
    }

    #[test]
    fn each_part_moves_the_score_its_own_way() {
        let rule = Prioritizer::default();
        let score = |features| rule.score(&Parts::of(&features));
        let base = score(plain());
        assert!(
            score(Features {
                depth: 9,
                ..plain()
            }) < base
        );
        assert!(
            score(Features {
                path_segments: 9,
                ..plain()
            }) < base
        );
        assert!(
            score(Features {
                chars: 500,
                ..plain()
            }) < base
        );
        assert!(
            score(Features {
                has_query: true,
                ..plain()
            }) < base
        );
        assert!(
            score(Features {
                kind: LinkKind::Other,
                ..plain()
            }) < base
        );
        assert!(
            score(Features {
                importance: 1.0,
                ..plain()
            }) > base
        );
        assert!(
            score(Features {
                site_success: 0.1,
                ..plain()
            }) < base
        );
    }

    #[test]
    fn levels_stay_in_range_and_one_is_kept_for_the_preferred() {
        let rule = Prioritizer::default();
        for depth in [0, 1, 5, 100, u16::MAX] {
            for success in [0.0, 1.0, f32::INFINITY] {
                let level = rule.priority(&Features {
                    depth,
                    site_success: success,
                    ..plain()
                });
                assert!((2..=PRIORITIES).contains(&level), "{level}");
            }
        }
        assert_eq!(
            rule.priority(&Features {
                preferred: true,
                ..plain()
            }),
            1
        );
        assert!(
            rule.priority(&Features {
                importance: 1.0,
                ..plain()
            }) < rule.priority(&Features {
                importance: 0.0,
                depth: 20,
                ..plain()
            })
        );
    }
}
