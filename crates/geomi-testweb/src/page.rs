//! The bytes of a page.
//!
//! A page is written front to back into one buffer: head, navigation, then
//! paragraphs with links strewn in, sized so that the whole comes out at the
//! drawn number of bytes. One paragraph in four depends on the page's version,
//! everything else does not.

use std::borrow::Cow;

use geomi_model::Timestamp;
use libdeflater::{CompressionLvl, Compressor};

use crate::charset::SiteCharset;
use crate::dice::{Dice, Draw};
use crate::graph::push_number;
use crate::text::{Language, Pool};
use crate::{Answer, PageId, Web};

/// What a link takes without its text, about.
const LINK_BYTES: usize = 64;
const PARAGRAPH_BYTES: usize = 700;
const NAVIGATION_LINKS: usize = 8;
const TAIL: &[u8] = b"</article>\n<footer><p>End of page.</p></footer>\n</body>\n</html>\n";

/// The bytes, and whether they differ at every fetch.
pub(crate) struct Rendered {
    pub(crate) bytes: Vec<u8>,
    pub(crate) noisy: bool,
}

pub(crate) fn render(web: &Web, id: PageId, version: u64, at: Timestamp) -> Rendered {
    let of = [id.site, id.page].map(u64::from);
    let seed = web.spec().seed;
    let mut size = Dice::new(seed, Draw::PageBytes, of);
    let bytes_wanted = drawn_bytes(web, &mut size);
    let language = web.language(id.site);
    let charset = web.charset_of(id.site);
    let noisy = size.chance(web.spec().traits.noise);
    let mut writer = Writer {
        web,
        id,
        charset,
        pool: web.pool(language, charset.encoding),
        dice: Dice::new(seed, Draw::Text, of),
        fresh: Dice::new(seed, Draw::FreshText, [of[0], of[1], version]),
        out: Vec::with_capacity(bytes_wanted + 1024),
        short: 0,
    };
    let links = web.links_of(id.site, id.page);
    let (navigation, inline) = links.split_at(links.len().min(NAVIGATION_LINKS));
    writer.head(language, size.chance(web.spec().traits.resources));
    writer.navigation(navigation);
    if noisy {
        writer.noise(at);
    }
    writer.article(inline, bytes_wanted);
    Rendered {
        bytes: writer.out,
        noisy,
    }
}

/// `Content-Type` of a site's pages.
pub(crate) fn content_type(charset: SiteCharset) -> Cow<'static, str> {
    match charset.header_label {
        None => "text/html".into(),
        Some("utf-8") => "text/html; charset=utf-8".into(),
        Some(label) => format!("text/html; charset={label}").into(),
    }
}

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    // Level 0, the library's fastest, only stores.
    let level = CompressionLvl::new(1).expect("level 1 exists");
    let mut compressor = Compressor::new(level);
    let mut out = vec![0; compressor.gzip_compress_bound(body.len())];
    let written = compressor
        .gzip_compress(body, &mut out)
        .expect("the bound is enough");
    out.truncate(written);
    out
}

/// Style sheet, script and images that pages refer to.
pub(crate) fn resource(target: &str) -> Option<Answer> {
    let (kind, body): (_, &'static [u8]) = match target.strip_prefix("/static/")? {
        "site.css" => ("text/css", b"body { max-width: 40em; margin: auto }\n"),
        "site.js" => ("text/javascript", b"document.title += '';\n"),
        "1.png" | "2.png" | "3.png" => ("image/png", PIXEL),
        _ => return None,
    };
    Some(Answer::new(200, body).with("Content-Type", kind))
}

/// A transparent PNG of one pixel.
const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 13, b'I', b'D', b'A', b'T',
    0x78, 0x9C, 0x63, 0, 1, 0, 0, 5, 0, 1, 0x0D, 0x0A, 0x2D, 0xB4, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xAE, 0x42, 0x60, 0x82,
];

fn drawn_bytes(web: &Web, dice: &mut Dice) -> usize {
    let law = web.spec().page_bytes;
    // The mean of a log-normal law is its median times exp(sigma^2 / 2).
    let median = f64::from(law.mean) / (law.sigma * law.sigma / 2.0).exp();
    dice.log_normal(median, law.sigma) as usize
}

struct Writer<'w> {
    web: &'w Web,
    id: PageId,
    charset: SiteCharset,
    pool: &'w Pool,
    /// For what stays.
    dice: Dice,
    /// For what a new version changes.
    fresh: Dice,
    out: Vec<u8>,
    /// Bytes that fresh text fell short of what it was given: counted as
    /// written, or the length of the other paragraphs would hang on the version.
    short: usize,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn phrase(&mut self, bytes_max: usize) {
        let phrase = self.pool.phrase(bytes_max, &mut self.dice);
        self.out.extend_from_slice(phrase);
    }

    fn head(&mut self, language: Language, resources: bool) {
        self.out.extend_from_slice(self.charset.encoding.preamble());
        self.put("<!DOCTYPE html>\n<html lang=\"");
        self.put(match language {
            Language::English => "en",
            Language::Korean => "ko",
        });
        self.put("\">\n<head>\n");
        if let Some(label) = self.charset.meta_label {
            self.put("<meta charset=\"");
            self.put(label);
            self.put("\">\n");
        }
        self.put("<title>");
        let title = self.out.len();
        self.phrase(60);
        self.put(" ");
        push_number(self.id.site, &mut self.out);
        self.put("/");
        push_number(self.id.page, &mut self.out);
        let title = title..self.out.len();
        self.put("</title>\n");
        if resources {
            self.put("<link rel=\"stylesheet\" href=\"/static/site.css\">\n");
            self.put("<script src=\"/static/site.js\"></script>\n");
        }
        self.put("</head>\n<body>\n<h1>");
        self.out.extend_from_within(title);
        self.put("</h1>\n");
        if resources {
            self.put("<p><img src=\"/static/1.png\" alt=\"\"> <img src=\"/static/2.png\" alt=\"\"></p>\n");
        }
    }

    fn navigation(&mut self, links: &[PageId]) {
        self.put("<nav>\n<ul>\n");
        for link in links {
            self.put("<li>");
            self.link(*link);
            self.put("</li>\n");
        }
        self.put("</ul>\n</nav>\n");
    }

    /// A clock and an advertisement: other bytes at every fetch, no change.
    fn noise(&mut self, at: Timestamp) {
        let seed = self.web.spec().seed;
        let mut dice = Dice::new(seed, Draw::Noise, [at.micros() as u64]);
        self.put("<p class=\"clock\">");
        self.put(&at.to_rfc3339_millis());
        self.put("</p>\n<aside class=\"ad\"><p>");
        self.pool.push_text(120, &mut dice, &mut self.out);
        self.put("</p></aside>\n");
    }

    /// Paragraphs up to the wanted size, all links in them.
    fn article(&mut self, links: &[PageId], bytes_wanted: usize) {
        self.put("<article>\n");
        let taken = self.out.len() + links.len() * LINK_BYTES + TAIL.len();
        let text = bytes_wanted.saturating_sub(taken);
        let paragraphs = (text / PARAGRAPH_BYTES).max(1);
        let mut links = links;
        for number in 0..paragraphs {
            let left = paragraphs - number;
            let (now, later) = links.split_at(links.len().div_ceil(left));
            links = later;
            if number % 8 == 0 {
                self.put("<h2>");
                self.phrase(40);
                self.put("</h2>\n");
            }
            let ahead = TAIL.len() + (later.len() + now.len()) * LINK_BYTES;
            let share = bytes_wanted.saturating_sub(self.out.len() + self.short + ahead) / left;
            self.paragraph(now, share, number % 4 == 0);
        }
        self.out.extend_from_slice(TAIL);
    }

    fn paragraph(&mut self, links: &[PageId], text_bytes: usize, fresh: bool) {
        self.put("<p>");
        let bytes_max = text_bytes.saturating_sub("<p></p>\n".len());
        if fresh {
            let before = self.out.len();
            self.pool
                .push_text(bytes_max, &mut self.fresh, &mut self.out);
            self.short += bytes_max - (self.out.len() - before);
        } else {
            self.pool
                .push_text(bytes_max, &mut self.dice, &mut self.out);
        }
        for link in links {
            self.put("\n");
            self.link(*link);
        }
        self.put("</p>\n");
    }

    /// A third of the links within a site are relative to the page, a third to
    /// the root, a third absolute; links to other sites are absolute.
    fn link(&mut self, to: PageId) {
        self.put("<a href=\"");
        let PageId { site, page } = self.id;
        let form = self.dice.below(3);
        if to.site == site && form == 0 {
            self.web.push_relative(site, page, to.page, &mut self.out);
        } else {
            if to.site != site || form == 1 {
                self.put("http://");
                self.web.push_authority(to.site, &mut self.out);
            }
            self.web.push_page_path(to.site, to.page, &mut self.out);
        }
        self.put("\">");
        self.phrase(24);
        self.put("</a>");
    }
}
