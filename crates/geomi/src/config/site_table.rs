//! A `[[site]]` table as written, with the place of every value.

use super::draft::Draft;
use super::keys::Key;
use super::kind::{Raw, Value};
use super::place::{Place, Problems};
use super::site_draft::SiteDraft;
use super::site_keys::{MATCH, SITE_KEYS, unknown};

/// What one table says: for each key of [`SITE_KEYS`], a value or nothing.
#[derive(Clone, Debug)]
pub(crate) struct SiteTable {
    place: Place,
    values: Vec<Option<(Value, Place)>>,
}

impl SiteTable {
    /// A table that says nothing yet.
    pub(crate) fn new(place: Place) -> Self {
        Self {
            place,
            values: vec![None; SITE_KEYS.len()],
        }
    }

    /// Takes one value, or notes what is wrong with it.
    pub(crate) fn set(&mut self, name: &str, raw: &Raw, place: Place, problems: &mut Problems) {
        let Some(at) = index(name) else {
            problems.add(&place, unknown(name));
            return;
        };
        match SITE_KEYS[at].read(raw) {
            Ok(value) => self.values[at] = Some((value, place)),
            Err(what) => problems.add(&place, format!("{name}: {what}")),
        }
    }

    /// Where the table begins.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// The sites it names.
    pub(crate) fn names(&self) -> &[String] {
        match self.value(MATCH) {
            Some((Value::List(names), _)) => names,
            _ => &[],
        }
    }

    /// What it says about a key, and where.
    pub(crate) fn value(&self, name: &str) -> Option<&(Value, Place)> {
        self.values[index(name)?].as_ref()
    }

    /// Every key with what it says, in the order of the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static Key, &Value)> {
        let values = SITE_KEYS.iter().zip(&self.values);
        values.filter_map(|(key, value)| Some((key, &value.as_ref()?.0)))
    }

    /// Puts it into a draft.
    pub(crate) fn apply(&self, draft: &mut Draft, problems: &mut Problems) {
        if self.names().is_empty() {
            problems.add(
                &self.place,
                "a [[site]] table needs match, such as match = \"example.com\"",
            );
        }
        draft.sites.push(SiteDraft::default());
        for (key, value) in self.iter() {
            for what in key.kind.apply(value, draft) {
                problems.add(&self.place, format!("{}: {what}", key.name()));
            }
        }
    }
}

fn index(name: &str) -> Option<usize> {
    SITE_KEYS.iter().position(|key| key.name() == name)
}
