//! Trees of folders, deep or wide: directories of subjects, and sites of many
//! sections with a page each.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target};

#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) depth: u32,
    pub(crate) branches: u32,
    /// Whether each folder at the end has one page besides its index.
    pub(crate) leaf: bool,
    /// Whether the folders of every level have the same names, as those of a law.
    pub(crate) alike: bool,
}

impl Tree {
    fn name(&self, site: &FiniteSite, at: u32, way: &[u32]) -> String {
        if self.alike {
            return format!("art{}", at + 1);
        }
        let draw = way
            .iter()
            .fold(0, |draw, step| draw * 31 + u64::from(*step) + 1);
        let word = site.words.word(site.words.draw(&[140, draw, at.into()]));
        format!("{word}{at}")
    }

    fn path(&self, site: &FiniteSite, way: &[u32]) -> String {
        let mut path = "/".to_owned();
        for (depth, at) in way.iter().enumerate() {
            path.push_str(&self.name(site, *at, &way[..depth]));
            path.push('/');
        }
        path
    }

    /// The branches that lead to a path; a page at its end has none.
    fn way(&self, site: &FiniteSite, parts: &[&str]) -> Option<Vec<u32>> {
        let mut way = Vec::new();
        for part in parts {
            let at = (0..self.branches).find(|at| self.name(site, *at, &way) == *part)?;
            way.push(at);
        }
        (way.len() <= self.depth as usize).then_some(way)
    }

    fn all(&self) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        let mut last = vec![Vec::new()];
        for _ in 0..self.depth {
            let below = |way: &Vec<u32>| {
                let way = way.clone();
                (0..self.branches).map(move |at| [&way[..], &[at]].concat())
            };
            last = last.iter().flat_map(below).collect();
            all.extend(last.clone());
        }
        all
    }
}

impl Plan for Tree {
    fn kind(&self) -> &'static str {
        if self.depth == 1 {
            "many sections"
        } else {
            "tree of folders"
        }
    }

    fn menu(&self, _: &FiniteSite) -> Vec<Link> {
        Vec::new()
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let words = site.words;
        let parts = at.parts();
        if let [folders @ .., "about.html"] = &*parts
            && self.leaf
        {
            let way = self.way(site, folders)?;
            if way.len() != self.depth as usize {
                return None;
            }
            let mut sheet = Sheet::new(self.path(site, &way).replace('/', " "));
            sheet.p(words.text(
                words.draw(&[141, way.iter().map(|at| u64::from(*at)).sum()]),
                2,
            ));
            return Some(Reply::Page(sheet));
        }
        let way = self.way(site, &parts)?;
        let mut sheet = Sheet::new(parts.last().map_or("Top", |last| last));
        if self.alike {
            sheet.p(words.text(
                words.draw(&[
                    143,
                    way.iter().fold(7, |draw, at| draw * 5 + u64::from(*at)),
                ]),
                1,
            ));
        }
        if way.len() < self.depth as usize {
            // Relative to the folder.
            sheet.list((0..self.branches).map(|at| {
                let name = self.name(site, at, &way);
                (format!("{name}/"), name)
            }));
        } else if self.leaf {
            sheet.a("about.html", words.t("소개", "About"));
        } else {
            sheet.p(words.text(words.draw(&[142, self.path(site, &way).len() as u64]), 1));
        }
        Some(Reply::Page(sheet))
    }

    fn pages(&self, site: &FiniteSite) -> Vec<String> {
        let mut pages = Vec::new();
        for way in self.all() {
            let path = self.path(site, &way);
            if self.leaf && way.len() == self.depth as usize {
                pages.push(format!("{path}about.html"));
            }
            pages.push(path);
        }
        pages
    }
}
