//! Recipes with five filters, each combination linked: finite and small.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target};

#[derive(Debug)]
pub(crate) struct Recipes {
    pub(crate) recipes: u32,
}

/// The filters and how many values each has.
const FILTERS: [(&str, u32); 5] = [
    ("cuisine", 3),
    ("meal", 3),
    ("diet", 2),
    ("time", 2),
    ("level", 2),
];

impl Recipes {
    fn path(choice: &[u32]) -> String {
        let set = FILTERS.iter().zip(choice).filter(|(_, value)| **value > 0);
        let pairs: Vec<String> = set
            .map(|((name, _), value)| format!("{name}={value}"))
            .collect();
        if pairs.is_empty() {
            "/recipes".to_owned()
        } else {
            format!("/recipes?{}", pairs.join("&"))
        }
    }

    /// Every combination; 0 is a filter that is not set.
    fn choices() -> Vec<Vec<u32>> {
        FILTERS.iter().fold(vec![Vec::new()], |all, (_, values)| {
            let each = all.into_iter();
            each.flat_map(|choice| (0..=*values).map(move |value| [&choice[..], &[value]].concat()))
                .collect()
        })
    }

    fn fits(site: &FiniteSite, recipe: u32, choice: &[u32]) -> bool {
        let filters = FILTERS.iter().zip(choice).enumerate();
        let mut set = filters.filter(|(_, (_, value))| **value > 0);
        set.all(|(at, ((_, values), value))| {
            let draw = site.words.draw(&[130, recipe.into(), at as u64]);
            (draw % u64::from(*values)) as u32 + 1 == *value
        })
    }

    fn list(&self, site: &FiniteSite, choice: &[u32]) -> Sheet {
        let words = site.words;
        let mut sheet = Sheet::new(words.t("조리법 찾기", "Find a recipe"));
        for (at, (name, values)) in FILTERS.iter().enumerate() {
            for value in 0..=*values {
                let mut other = choice.to_vec();
                other[at] = value;
                sheet.a(Self::path(&other), format!("{name} {value}"));
            }
        }
        let fitting: Vec<u32> = (1..=self.recipes)
            .filter(|recipe| Self::fits(site, *recipe, choice))
            .collect();
        if fitting.is_empty() {
            sheet.p(words.t("조리법이 없습니다.", "No recipes."));
        }
        sheet.list(fitting.into_iter().map(|recipe| {
            (
                format!("/recipe/{recipe}"),
                words.name(words.draw(&[131, recipe.into()])),
            )
        }));
        sheet
    }
}

impl Plan for Recipes {
    fn kind(&self) -> &'static str {
        "recipes with filters"
    }

    fn menu(&self, site: &FiniteSite) -> Vec<Link> {
        vec![(
            "/recipes".to_owned(),
            site.words.t("조리법", "Recipes").to_owned(),
        )]
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let words = site.words;
        let sheet = match *at.parts() {
            [] => Sheet::new(words.t("부엌", "Kitchen")),
            ["recipes"] => {
                let choice = FILTERS.map(|(name, values)| match at.number(name) {
                    None => Some(0),
                    Some(value) => (value <= values).then_some(value),
                });
                let choice: Option<Vec<u32>> = choice.into_iter().collect();
                self.list(site, &choice?)
            }
            ["recipe", number] => {
                let recipe: u32 = number.parse().ok()?;
                if !(1..=self.recipes).contains(&recipe) {
                    return None;
                }
                let draw = words.draw(&[131, recipe.into()]);
                let mut sheet = Sheet::new(words.name(draw)).under("/recipes", "recipes");
                sheet.p(words.text(draw, 5));
                sheet
            }
            _ => return None,
        };
        Some(Reply::Page(sheet))
    }

    fn pages(&self, _: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        pages.extend(Self::choices().iter().map(|choice| Self::path(choice)));
        pages.extend((1..=self.recipes).map(|recipe| format!("/recipe/{recipe}")));
        pages
    }
}
