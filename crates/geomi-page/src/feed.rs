//! Feeds: RSS 2.0, RSS 1.0 and Atom, as lists of pages with dates.
//!
//! Each item gives its link (Atom's `alternate`, RSS's `link`, failing those a
//! `guid` that is an address) with the latest of its dates, and its enclosures.
//! The feed itself gives its title, its page, and further pages of the feed.
//! HTML inside descriptions is not read: the item's page has it. `xml:base` is not
//! heeded; relative addresses are resolved against the feed's own.

use geomi_model::{ChangeSignal, Document, DocumentKind, LinkKind, Timestamp};

use crate::charset;
use crate::content::{Content, XmlRoot};
use crate::link_list::LinkList;
use crate::reader::{Extractor, PageInput, ReadLimits};
use crate::values::fold_spaces;
use crate::xml::{Piece, Tag, Xml};

/// Reads RSS and Atom.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeedReader;

impl Extractor for FeedReader {
    fn mime(&self) -> &'static str {
        "application/rss+xml"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        content.may_be_xml() && content.xml_root() == Some(XmlRoot::Feed)
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        let decoded = charset::decode(input, limits);
        let mut walk = Walk {
            xml: Xml::new(&decoded.text),
            links: LinkList::new(input.url, limits.links_max, limits),
            title: String::new(),
            item_depth: None,
            item: Item::default(),
            field: None,
        };
        walk.run();
        let title = fold_spaces(&walk.title, limits.title_bytes_max);
        let (links, truncated) = walk.links.finish();
        Document {
            kind: DocumentKind::Feed,
            charset: Some(decoded.charset),
            title: Some(title).filter(|title| !title.is_empty()),
            links,
            truncated,
            ..Document::default()
        }
    }
}

/// An item in the making.
#[derive(Default)]
struct Item {
    link: String,
    guid: String,
    date: String,
    modified: Option<Timestamp>,
    enclosures: Vec<String>,
}

/// What the text being read belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Title,
    /// `link` with its address as text.
    Link,
    Guid,
    Date,
    /// The feed's own `link`.
    Page,
}

/// Text of one field, at most.
const FIELD_BYTES_MAX: usize = 8 * 1024;
const ENCLOSURES_MAX: usize = 100;

struct Walk<'a> {
    xml: Xml<'a>,
    links: LinkList<'a>,
    title: String,
    /// Depth of the item we are in.
    item_depth: Option<usize>,
    /// The item; between items, the feed's own link.
    item: Item,
    field: Option<Field>,
}

impl Walk<'_> {
    fn run(&mut self) {
        while let Some(piece) = self.xml.next() {
            match piece {
                Piece::Start(tag) => self.start(&tag),
                Piece::Text(text) => self.text(&text),
                Piece::End => self.end(),
            }
            if self.links.is_full() {
                self.links.cut();
                return;
            }
        }
        if self.item_depth.is_some() {
            self.item_ended();
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let depth = self.xml.depth();
        self.field = None;
        match self.item_depth {
            None if tag.is("item") || tag.is("entry") => {
                self.item_depth = Some(depth);
                self.item = Item::default();
            }
            None => self.field = self.feed_field(tag, depth),
            Some(item_depth) if depth == item_depth + 1 => self.field = self.item_field(tag),
            Some(_) => {}
        }
    }

    /// An element of the feed itself.
    fn feed_field(&mut self, tag: &Tag<'_>, depth: usize) -> Option<Field> {
        // Deeper ones belong to the feed's picture or its author.
        if depth > 3 {
            return None;
        }
        if tag.is("link") {
            return match tag.attribute("href") {
                Some(href) => {
                    let kind = link_kind(tag)?;
                    self.links.add(&href, kind, None);
                    None
                }
                None => Some(Field::Page),
            };
        }
        (tag.is("title") && self.title.is_empty()).then_some(Field::Title)
    }

    /// A child of an item.
    fn item_field(&mut self, tag: &Tag<'_>) -> Option<Field> {
        const DATES: [&str; 6] = [
            "pubDate",
            "updated",
            "published",
            "modified",
            "issued",
            "date",
        ];
        if tag.is("link") {
            let Some(href) = tag.attribute("href") else {
                return Some(Field::Link);
            };
            match link_kind(tag) {
                Some(LinkKind::Anchor) if self.item.link.is_empty() => self.item.link = href,
                Some(_) => self.enclosure(href),
                None => {}
            }
            return None;
        }
        if tag.is("enclosure") || tag.is("content") || tag.is("thumbnail") {
            let address = tag.attribute("url").or_else(|| tag.attribute("src"));
            if let Some(address) = address {
                self.enclosure(address);
            }
            return None;
        }
        if tag.is("guid") || tag.is("id") {
            let is_address = tag.attribute("isPermaLink").is_none_or(|is| is != "false");
            return (is_address && tag.is("guid")).then_some(Field::Guid);
        }
        DATES.iter().any(|date| tag.is(date)).then_some(Field::Date)
    }

    fn enclosure(&mut self, address: String) {
        if self.item.enclosures.len() < ENCLOSURES_MAX {
            self.item.enclosures.push(address);
        }
    }

    fn text(&mut self, text: &str) {
        let to = match self.field {
            None => return,
            Some(Field::Title) => &mut self.title,
            Some(Field::Link | Field::Page) => &mut self.item.link,
            Some(Field::Guid) => &mut self.item.guid,
            Some(Field::Date) => &mut self.item.date,
        };
        if to.len() + text.len() <= FIELD_BYTES_MAX {
            to.push_str(text);
        }
    }

    fn end(&mut self) {
        match self.field.take() {
            Some(Field::Date) => {
                let date = std::mem::take(&mut self.item.date);
                let modified = Timestamp::parse_published(&date);
                self.item.modified = self.item.modified.max(modified);
            }
            Some(Field::Page) => {
                let page = std::mem::take(&mut self.item.link);
                self.links.add(page.trim(), LinkKind::Anchor, None);
            }
            _ => {}
        }
        if self
            .item_depth
            .is_some_and(|depth| self.xml.depth() < depth)
        {
            self.item_ended();
        }
    }

    fn item_ended(&mut self) {
        self.item_depth = None;
        let item = std::mem::take(&mut self.item);
        let signal = ChangeSignal {
            modified: item.modified,
            ..ChangeSignal::default()
        };
        let page = [&item.link, &item.guid];
        let page = page.into_iter().find(|text| !text.trim().is_empty());
        if let Some(page) = page {
            self.links.add(page.trim(), LinkKind::Anchor, Some(signal));
        }
        for enclosure in &item.enclosures {
            self.links.add(enclosure, LinkKind::Other, None);
        }
    }
}

/// What an Atom link is: the page itself, something beside it, or nothing to
/// visit.
fn link_kind(tag: &Tag<'_>) -> Option<LinkKind> {
    match tag.attribute("rel").as_deref() {
        None | Some("" | "alternate") => Some(LinkKind::Anchor),
        Some(
            "enclosure" | "related" | "via" | "next" | "prev" | "previous" | "first" | "last"
            | "next-archive" | "prev-archive" | "replies",
        ) => Some(LinkKind::Other),
        Some(_) => None,
    }
}
