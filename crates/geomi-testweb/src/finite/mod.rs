//! Finite sites as real ones look.
//!
//! A [`FiniteSite`] is a shop, a board, a blog, a wiki and so on, in Korean or
//! in English, with a menu, breadcrumbs and a footer. Its pages are a function
//! of their path. It knows its whole truth: [`FiniteSite::pages`] lists every
//! page that can be reached from its front page over links that robots.txt
//! allows (and over its sitemaps) and that answers 200. The list is made from
//! the site's plan, not from its links; a test compares the two.
//!
//! Read [`FiniteSite::collection`] for what there is, [`plan::Plan`] for what a
//! kind of site has to say, then any kind.

mod catalogue;
mod chrome;
mod kinds;
mod plan;
mod sheet;
pub(crate) mod small;
mod target;
mod words;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use geomi_model::Timestamp;

pub(crate) use chrome::Look;
pub(crate) use plan::{Plan, Reply};
use sheet::put;
pub(crate) use sheet::{Link, Sheet, paged};
pub(crate) use target::Target;
pub(crate) use words::Words;

use crate::Answer;
use crate::charset::Encoding;
use crate::dice::hash64;

/// A site with an end.
#[derive(Clone, Debug)]
pub struct FiniteSite {
    pub(crate) plan: Arc<dyn Plan>,
    pub(crate) words: Words,
    pub(crate) look: Look,
    /// One more entry of the menu, to something beside the site.
    pub(crate) door: Option<Link>,
}

impl FiniteSite {
    /// The kind of site, one word or two.
    pub fn kind(&self) -> &'static str {
        self.plan.kind()
    }

    /// Path and query of every page that a crawl must fetch, in the form in
    /// which pages link to them.
    pub fn pages(&self) -> Vec<String> {
        self.plan.pages(self)
    }

    /// What robots.txt forbids: prefixes of paths.
    pub fn forbidden(&self) -> &'static [&'static str] {
        self.plan.forbidden()
    }

    /// The name of the site as its pages print it.
    pub(crate) fn title(&self) -> String {
        let words = self.words;
        format!(
            "{} {}",
            words.name(words.draw(&[9])),
            words.t("나라", "World")
        )
    }

    pub(crate) fn charset(&self) -> &'static str {
        if self.look == Look::Old {
            "euc-kr"
        } else {
            "utf-8"
        }
    }

    pub(crate) fn menu(&self) -> Vec<Link> {
        let mut menu = self.plan.menu(self);
        menu.extend(self.door.clone());
        menu
    }

    /// The answer to a request; what is nowhere is 404.
    pub(crate) fn answer(&self, host: &str, target: &str, at: Timestamp) -> Answer {
        if target == "/robots.txt" {
            return Answer::text(200, self.robots_txt(host));
        }
        if target.starts_with("/img/") {
            return image(target);
        }
        let reply = match target {
            // Front pages are asked for without anything else.
            "/" => self.plan.reply(self, &Target::parse("/")),
            _ => self.plan.reply(self, &Target::parse(target)),
        };
        match reply {
            Some(Reply::Page(sheet)) => self.page(200, &sheet, at),
            Some(Reply::Moved(to)) => Answer::redirect(302, to),
            Some(Reply::Urls(paths)) => sitemap(host, &paths),
            None => self.page(404, &self.missing(), at),
        }
    }

    /// A sheet as a page of this site.
    pub(crate) fn page(&self, status: u16, sheet: &Sheet, at: Timestamp) -> Answer {
        let html = chrome::dress(self, &self.menu(), sheet, at);
        if self.look == Look::Old {
            let mut bytes = Vec::with_capacity(html.len());
            Encoding::EucKr.encode(&html, &mut bytes);
            return Answer::new(status, bytes).with("Content-Type", "text/html; charset=euc-kr");
        }
        Answer::new(status, html).with("Content-Type", "text/html; charset=utf-8")
    }

    fn missing(&self) -> Sheet {
        let words = self.words;
        let mut sheet = Sheet::new(words.t("페이지 없음", "Not found"));
        sheet.p(words.t("찾는 페이지가 없습니다.", "There is no such page."));
        sheet
    }

    fn robots_txt(&self, host: &str) -> String {
        let mut text = "User-agent: *\n".to_owned();
        for prefix in self.forbidden() {
            put(&mut text, format_args!("Disallow: {prefix}\n"));
        }
        for path in self.plan.sitemaps() {
            put(&mut text, format_args!("Sitemap: http://{host}{path}\n"));
        }
        text
    }
}

fn sitemap(host: &str, paths: &[String]) -> Answer {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
        .to_owned();
    for path in paths {
        let path = path.replace('&', "&amp;");
        put(
            &mut xml,
            format_args!("<url><loc>http://{host}{path}</loc></url>\n"),
        );
    }
    xml.push_str("</urlset>\n");
    Answer::new(200, xml).with("Content-Type", "application/xml")
}

/// A small picture with bytes of its own.
fn image(target: &str) -> Answer {
    let draw = target
        .bytes()
        .fold(1, |draw, byte| hash64(draw ^ u64::from(byte)));
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0".to_vec();
    bytes.extend((0..8).flat_map(|part| hash64(draw + part).to_le_bytes()));
    Answer::new(200, bytes).with("Content-Type", "image/png")
}
