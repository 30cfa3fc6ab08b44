//! Wikis: a random graph, red links that answer 404, a history of each page.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target};

#[derive(Debug)]
pub(crate) struct Wiki {
    pub(crate) articles: u32,
}

const PER_INDEX: u32 = 100;

impl Wiki {
    fn name(site: &FiniteSite, article: u32) -> String {
        let words = site.words;
        let draw = words.draw(&[50, article.into()]);
        format!("{}_{article}", words.word(draw))
    }

    fn path(site: &FiniteSite, article: u32) -> String {
        format!("/wiki/{}", Self::name(site, article))
    }

    fn indexes(&self) -> u32 {
        self.articles.div_ceil(PER_INDEX)
    }

    fn index_path(index: u32) -> String {
        format!("/wiki/Special:AllPages?from={}", index * PER_INDEX)
    }

    fn article(&self, site: &FiniteSite, article: u32) -> Sheet {
        let words = site.words;
        let mut sheet = Sheet::new(Self::name(site, article));
        let draw = words.draw(&[51, article.into()]);
        for part in 0..2 + draw % 8 {
            let other = words.draw(&[52, article.into(), part]);
            sheet.p(words.text(other, 1 + other % 3));
            let other = (other >> 8) as u32 % self.articles;
            sheet.a(Self::path(site, other), Self::name(site, other));
        }
        let red = format!("/wiki/{}_red{}", words.word(draw), draw % 50);
        sheet.a(red, words.t("없는 문서", "not yet written"));
        let history = format!("{}?action=history", Self::path(site, article));
        sheet.a(history, words.t("역사", "History"));
        sheet
    }

    fn history(site: &FiniteSite, article: u32) -> Sheet {
        let words = site.words;
        let draw = words.draw(&[53, article.into()]);
        let mut sheet =
            Sheet::new(Self::name(site, article)).under(Self::path(site, article), "article");
        for edit in 0..=draw % 5 {
            let draw = words.draw(&[54, article.into(), edit]);
            sheet.p(format!(
                "20{:02}-{:02} {}",
                10 + draw % 15,
                1 + draw % 12,
                words.person(draw)
            ));
        }
        sheet
    }
}

impl Plan for Wiki {
    fn kind(&self) -> &'static str {
        "wiki"
    }

    fn menu(&self, site: &FiniteSite) -> Vec<Link> {
        vec![(
            Self::index_path(0),
            site.words.t("모든 문서", "All pages").to_owned(),
        )]
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let sheet = match *at.parts() {
            [] => {
                let mut sheet = Sheet::new(site.words.t("대문", "Main page"));
                let some = (0..self.articles).take(5);
                sheet.list(some.map(|at| (Self::path(site, at), Self::name(site, at))));
                sheet
            }
            ["wiki", "Special:AllPages"] => {
                let from = at.number("from").filter(|from| *from < self.articles)?;
                let mut sheet = Sheet::new(site.words.t("모든 문서", "All pages"));
                let own = from..(from + PER_INDEX).min(self.articles);
                sheet.list(own.map(|at| (Self::path(site, at), Self::name(site, at))));
                sheet.pager(from / PER_INDEX + 1, self.indexes(), |page| {
                    Self::index_path(page - 1)
                });
                sheet
            }
            ["wiki", name] => {
                let article = name.rsplit_once('_')?.1.parse().ok()?;
                if article >= self.articles || Self::name(site, article) != name {
                    return None;
                }
                match at.value("action") {
                    None => self.article(site, article),
                    Some("history") => Self::history(site, article),
                    Some(_) => return None,
                }
            }
            _ => return None,
        };
        Some(Reply::Page(sheet))
    }

    fn pages(&self, site: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        pages.extend((0..self.indexes()).map(Self::index_path));
        for article in 0..self.articles {
            let path = Self::path(site, article);
            pages.push(format!("{path}?action=history"));
            pages.push(path);
        }
        pages
    }
}
