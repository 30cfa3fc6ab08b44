//! What a simulation ran on: how many pages and changes there were, in which time.

use geomi_model::Timestamp;
use geomi_sim::refresh::web::World;
use serde_json::{Value, json};

use crate::words::plural;

/// The size of a web, or the mean of several drawn alike.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Extent {
    /// When it begins and ends; only a history does at a certain time.
    window: Option<(String, String)>,
    days: f64,
    learning_days: f64,
    pages: usize,
    /// The mean over trials.
    changes: f64,
}

impl Extent {
    /// That of these webs, of which there is at least one.
    pub(super) fn of(worlds: &[World]) -> Self {
        let first = &worlds[0];
        let pages = worlds.iter().flat_map(|world| &world.pages);
        let changes: usize = pages.map(|page| page.changes.len()).sum();
        let time = |seconds: f64| Timestamp::from_secs(seconds as i64).to_rfc3339_secs();
        let window = first
            .start_unix
            .map(|start| (time(start), time(start + first.days * 86_400.0)));
        Self {
            window,
            days: first.days,
            learning_days: first.learning_days,
            pages: first.pages.len(),
            changes: changes as f64 / worlds.len() as f64,
        }
    }

    /// In a sentence.
    pub(super) fn in_words(&self) -> String {
        let window = self.window.as_ref();
        let window = window.map_or(String::new(), |(from, to)| format!(" from {from} to {to}"));
        format!(
            "{}, {}{window}: {:.1} days, the first {:.1} not counted",
            plural(self.pages as u64, "page"),
            plural(self.changes.round() as u64, "change"),
            self.days,
            self.learning_days,
        )
    }

    /// As JSON.
    pub(super) fn to_json(&self) -> Value {
        let window = self.window.as_ref();
        json!({
            "from": window.map(|(from, _)| from),
            "to": window.map(|(_, to)| to),
            "days": self.days,
            "learning_days": self.learning_days,
            "pages": self.pages,
            "changes": self.changes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use geomi_sim::refresh::web::ModelWeb;

    #[test]
    fn only_a_history_has_a_date() {
        let mut world = ModelWeb::Flat.draw(1, 0);
        let told = Extent::of(std::slice::from_ref(&world)).in_words();
        assert!(told.starts_with("1,200 pages, "), "{told}");
        assert!(
            told.ends_with(" changes: 84.0 days, the first 28.0 not counted"),
            "{told}"
        );
        world.start_unix = Some(86_400.0);
        let told = Extent::of(&[world]).in_words();
        let window = "from 1970-01-02T00:00:00Z to 1970-03-27T00:00:00Z";
        assert!(told.contains(window), "{told}");
    }
}
