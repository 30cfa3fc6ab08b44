//! Sitemaps: XML lists of pages, and lists of such lists.
//!
//! Read as the protocol of sitemaps.org has it: `urlset/url/loc` with `lastmod`,
//! `changefreq` and `priority`, and `sitemapindex/sitemap/loc`. Google's
//! extensions are read where they name addresses: `xhtml:link` alternates in other
//! languages, `image:loc`, the addresses of a `video:video`, and the date of a
//! `news:news`. At most as many entries are read as the protocol allows in one file.
//!
//! Whether a listed page is on the sitemap's own site is the scope's question.

use geomi_model::{ChangeFrequency, ChangeSignal, Document, DocumentKind, LinkKind, Timestamp};

use crate::charset;
use crate::content::{Content, XmlRoot};
use crate::link_list::LinkList;
use crate::reader::{Extractor, PageInput, ReadLimits};
use crate::xml::{Piece, Tag, Xml};

/// Reads XML sitemaps and sitemap indexes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SitemapReader;

impl Extractor for SitemapReader {
    fn mime(&self) -> &'static str {
        "application/xml"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        content.may_be_xml()
            && matches!(
                content.xml_root(),
                Some(XmlRoot::UrlSet | XmlRoot::SitemapIndex)
            )
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        let decoded = charset::decode(input, limits);
        let mut walk = Walk {
            xml: Xml::new(&decoded.text),
            links: LinkList::new(input.url, limits.sitemap_links_max, limits),
            is_index: false,
            listed: Listed::default(),
            field: None,
            entries: 0,
            entries_max: limits.sitemap_links_max,
        };
        walk.run();
        let kind = if walk.is_index {
            DocumentKind::SitemapIndex
        } else {
            DocumentKind::Sitemap
        };
        let (links, truncated) = walk.links.finish();
        Document {
            kind,
            charset: Some(decoded.charset),
            links,
            truncated,
            ..Document::default()
        }
    }
}

/// One `url` or `sitemap` element in the making.
#[derive(Default)]
struct Listed {
    loc: String,
    last_modified: String,
    published: String,
    frequency: String,
    priority: String,
    /// Pictures, videos and pages in other languages.
    others: Vec<String>,
}

/// What the text being read belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Loc,
    LastModified,
    Published,
    Frequency,
    Priority,
    /// One of [`OTHERS`].
    Other,
}

/// Elements of Google's extensions whose text is an address.
const OTHERS: [&str; 4] = ["loc", "thumbnail_loc", "content_loc", "player_loc"];

/// Text of one field, at most: no address is longer.
const FIELD_BYTES_MAX: usize = 8 * 1024;
/// Pictures and alternates of one page: the extensions allow 1,000 pictures.
const OTHERS_MAX: usize = 1_000;
/// `urlset/url`: where an entry lies.
const ENTRY_DEPTH: usize = 2;

struct Walk<'a> {
    xml: Xml<'a>,
    links: LinkList<'a>,
    is_index: bool,
    listed: Listed,
    field: Option<Field>,
    /// Entries read, and how many may be: repeated ones cost time, too.
    entries: usize,
    entries_max: usize,
}

impl Walk<'_> {
    fn run(&mut self) {
        while let Some(piece) = self.xml.next() {
            match piece {
                Piece::Start(tag) => self.start(&tag),
                Piece::Text(text) => {
                    if let Some(field) = self.field {
                        self.listed.push(field, &text);
                    }
                }
                Piece::End => {
                    self.field = None;
                    if self.xml.depth() == ENTRY_DEPTH - 1 {
                        self.entry_ended();
                    }
                }
            }
            if self.links.is_full() || self.entries >= self.entries_max {
                self.links.cut();
                return;
            }
        }
        // A file that breaks off may have done so after an address, or within one,
        // which is none then.
        match self.field {
            Some(Field::Loc) => self.listed.loc.clear(),
            Some(Field::Other) => drop(self.listed.others.pop()),
            _ => {}
        }
        self.entry_ended();
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let depth = self.xml.depth();
        let is_child = depth == ENTRY_DEPTH + 1;
        self.is_index |= depth == 1 && tag.is("sitemapindex");
        self.field = if is_child && tag.is("loc") {
            Some(Field::Loc)
        } else if is_child && tag.is("lastmod") {
            Some(Field::LastModified)
        } else if is_child && tag.is("changefreq") {
            Some(Field::Frequency)
        } else if is_child && tag.is("priority") {
            Some(Field::Priority)
        } else if depth > ENTRY_DEPTH + 1
            && OTHERS.iter().any(|name| tag.is(name))
            && self.listed.has_room()
        {
            self.listed.others.push(String::new());
            Some(Field::Other)
        } else if depth > ENTRY_DEPTH + 1 && tag.is("publication_date") {
            Some(Field::Published)
        } else {
            None
        };
        if is_child && tag.is("link") && self.listed.has_room() {
            self.listed.others.extend(tag.attribute("href"));
        }
    }

    fn entry_ended(&mut self) {
        self.entries += 1;
        let listed = std::mem::take(&mut self.listed);
        let kind = if self.is_index {
            LinkKind::Other
        } else {
            LinkKind::Anchor
        };
        self.links
            .add(listed.loc.trim(), kind, Some(listed.signal()));
        for other in &listed.others {
            self.links.add(other.trim(), LinkKind::Other, None);
        }
    }
}

impl Listed {
    fn has_room(&self) -> bool {
        self.others.len() < OTHERS_MAX
    }

    fn push(&mut self, field: Field, text: &str) {
        let to = match field {
            Field::Loc => &mut self.loc,
            Field::LastModified => &mut self.last_modified,
            Field::Published => &mut self.published,
            Field::Frequency => &mut self.frequency,
            Field::Priority => &mut self.priority,
            Field::Other => match self.others.last_mut() {
                Some(other) => other,
                None => return,
            },
        };
        if to.len() + text.len() <= FIELD_BYTES_MAX {
            to.push_str(text);
        }
    }

    fn signal(&self) -> ChangeSignal {
        ChangeSignal {
            modified: Timestamp::parse_published(&self.last_modified)
                .or_else(|| Timestamp::parse_published(&self.published)),
            frequency: ChangeFrequency::parse(self.frequency.trim()),
            priority_percent: priority(self.priority.trim()),
        }
    }
}

/// 0.0 to 1.0 in hundredths; anything else is no priority.
fn priority(text: &str) -> Option<u8> {
    // What is not a number says nothing.
    let weight: f32 = text.parse().ok()?;
    (0.0..=1.0)
        .contains(&weight)
        .then(|| (weight * 100.0).round() as u8)
}
