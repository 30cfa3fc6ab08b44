//! Feeds: RSS 2.0, RSS 1.0 and Atom, as lists of pages with dates.
//!
//! Each item gives its link (Atom's `alternate`, RSS's `link`, failing those a
//! `guid` that is an address) with the latest of its dates, its enclosures, its
//! comments, its permanent address, and the links in its text, which is HTML or
//! XHTML. The feed itself gives its title, its page, its pictures, and further pages
//! of the feed. Relative addresses are resolved against `xml:base`, or the feed's own
//! address.

use geomi_model::{ChangeSignal, Document, DocumentKind, Link, LinkKind, Timestamp};
use geomi_url::CrawlUrl;

use crate::charset;
use crate::content::{Content, XmlRoot};
use crate::html;
use crate::link_list::LinkList;
use crate::reader::{Extractor, PageInput, ReadLimits};
use crate::values::{fold_spaces, is_absolute};
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
            picture_depth: None,
            bases: Vec::new(),
            feed: input.url,
            limits,
            items: 0,
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
    /// The text being read: HTML, or an address beside the item's own.
    text: String,
    enclosures: Vec<String>,
    /// Links in its text.
    links: Vec<Link>,
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
    /// A picture of the feed.
    Picture,
    /// An address beside the item's own, if it is whole: comments.
    Beside,
    /// Text that may be HTML.
    Html,
}

/// Text of one field, at most.
const FIELD_BYTES_MAX: usize = 8 * 1024;
/// The same for HTML.
const HTML_BYTES_MAX: usize = 1 << 20;
const ENCLOSURES_MAX: usize = 100;
/// Links of one item's text, at most.
const ITEM_LINKS_MAX: usize = 1_000;

struct Walk<'a> {
    xml: Xml<'a>,
    links: LinkList<'a>,
    title: String,
    /// Depth of the item we are in.
    item_depth: Option<usize>,
    /// The item; between items, the feed's own link.
    item: Item,
    field: Option<Field>,
    /// Depth of the feed's `image` we are in.
    picture_depth: Option<usize>,
    /// Each `xml:base` that is open, resolved, with the depth of its element.
    bases: Vec<(usize, CrawlUrl)>,
    feed: &'a CrawlUrl,
    limits: &'a ReadLimits,
    /// Items read: repeated ones cost time, too.
    items: usize,
}

impl Walk<'_> {
    fn run(&mut self) {
        while let Some(piece) = self.xml.next() {
            match piece {
                Piece::Start(tag) => self.start(&tag),
                Piece::Text(text) => self.text(&text),
                Piece::End => self.end(),
            }
            if self.links.is_full() || self.items > self.limits.links_max {
                self.links.cut();
                return;
            }
        }
        if self.item_depth.is_some() {
            self.item_ended();
        }
    }

    fn base(&self) -> &CrawlUrl {
        self.bases.last().map_or(self.feed, |(_, base)| base)
    }

    /// An address as the feed means it.
    fn absolute(&self, address: String) -> String {
        if self.bases.is_empty() {
            return address;
        }
        // What does not parse is no link, with or without a base.
        let joined = self.base().join(address.trim());
        joined.map_or(address, |url| url.as_str().to_owned())
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let depth = self.xml.depth();
        self.field = None;
        if let Some(base) = tag.base()
            && let Ok(base) = self.base().join(base.trim())
        {
            self.bases.push((depth, base));
        }
        match self.item_depth {
            None if tag.is("item") || tag.is("entry") => {
                self.item_depth = Some(depth);
                self.item = Item::default();
            }
            None => self.field = self.feed_field(tag, depth),
            Some(item_depth) if depth == item_depth + 1 => self.field = self.item_field(tag),
            Some(_) => self.inner(tag),
        }
    }

    /// An element inside a child of an item: XHTML, or a group of media.
    fn inner(&mut self, tag: &Tag<'_>) {
        if tag.is("content") || tag.is("thumbnail") {
            if let Some(address) = tag.attribute("url") {
                self.enclosure(address);
            }
            return;
        }
        let links = [
            (tag.attribute("href"), LinkKind::Anchor),
            (tag.attribute("src"), LinkKind::Embedded),
        ];
        for (address, kind) in links {
            let url = address.and_then(|address| self.base().join(address.trim()).ok());
            if let Some(url) = url
                && self.item.links.len() < ITEM_LINKS_MAX
            {
                self.item.links.push(Link {
                    url,
                    kind,
                    nofollow: false,
                    is_advert: false,
                    signal: None,
                });
            }
        }
    }

    /// An element of the feed itself.
    fn feed_field(&mut self, tag: &Tag<'_>, depth: usize) -> Option<Field> {
        if tag.is("image") {
            self.picture_depth = Some(depth);
            if let Some(address) = tag.attribute("href") {
                let address = self.absolute(address);
                self.links.add(&address, LinkKind::Embedded, None);
            }
        }
        let is_in_picture = self.picture_depth.is_some_and(|it| depth == it + 1);
        if tag.is("logo") || tag.is("icon") || (is_in_picture && tag.is("url")) {
            return Some(Field::Picture);
        }
        // Deeper ones belong to the feed's picture or its author.
        if depth > 3 || is_in_picture {
            return None;
        }
        if tag.is("link") {
            return match tag.attribute("href") {
                Some(href) => {
                    let kind = link_kind(tag)?;
                    let href = self.absolute(href);
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
                Some(LinkKind::Anchor) if self.item.link.is_empty() => {
                    self.item.link = self.absolute(href);
                }
                Some(_) => self.enclosure(href),
                None => {}
            }
            return None;
        }
        if tag.is("enclosure") || tag.is("content") || tag.is("thumbnail") {
            let address = tag.attribute("url").or_else(|| tag.attribute("src"));
            if let Some(address) = address {
                self.enclosure(address);
                return None;
            }
            return tag.is("content").then_some(Field::Html);
        }
        if tag.is("description") || tag.is("encoded") || tag.is("summary") {
            return Some(Field::Html);
        }
        if tag.is("comments") || tag.is("commentRss") {
            return Some(Field::Beside);
        }
        if tag.is("guid") || tag.is("id") {
            let is_address = tag.attribute("isPermaLink").is_none_or(|is| is != "false");
            return (is_address && tag.is("guid")).then_some(Field::Guid);
        }
        DATES.iter().any(|date| tag.is(date)).then_some(Field::Date)
    }

    fn enclosure(&mut self, address: String) {
        let address = self.absolute(address);
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
            Some(Field::Picture | Field::Beside | Field::Html) => &mut self.item.text,
        };
        let bytes_max = match self.field {
            Some(Field::Html) => HTML_BYTES_MAX,
            _ => FIELD_BYTES_MAX,
        };
        if to.len() + text.len() <= bytes_max {
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
                let page = self.absolute(page);
                self.links.add(page.trim(), LinkKind::Anchor, None);
            }
            Some(Field::Link) => {
                let link = std::mem::take(&mut self.item.link);
                self.item.link = self.absolute(link);
            }
            Some(Field::Picture) => {
                let address = std::mem::take(&mut self.item.text);
                let address = self.absolute(address);
                self.links.add(address.trim(), LinkKind::Embedded, None);
            }
            Some(Field::Beside) => {
                // `slash:comments` is a number.
                let address = std::mem::take(&mut self.item.text);
                if is_absolute(&address) {
                    self.enclosure(address.trim().to_owned());
                }
            }
            Some(Field::Html) => self.html_ended(),
            _ => {}
        }
        let depth = self.xml.depth();
        while self.bases.last().is_some_and(|(of, _)| *of > depth) {
            self.bases.pop();
        }
        self.picture_depth.take_if(|of| *of > depth);
        if self
            .item_depth
            .is_some_and(|depth| self.xml.depth() < depth)
        {
            self.item_ended();
        }
    }

    fn html_ended(&mut self) {
        let markup = std::mem::take(&mut self.item.text);
        if !markup.contains('<') {
            return;
        }
        let room = ITEM_LINKS_MAX.saturating_sub(self.item.links.len());
        let links = html::links_of(&markup, self.base(), self.limits);
        self.item.links.extend(links.into_iter().take(room));
    }

    fn item_ended(&mut self) {
        self.item_depth = None;
        self.items += 1;
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
        // The permanent address, where that is another.
        if is_absolute(&item.guid) {
            self.links.add(item.guid.trim(), LinkKind::Other, None);
        }
        for enclosure in &item.enclosures {
            self.links.add(enclosure, LinkKind::Other, None);
        }
        for link in item.links {
            self.links.push(link);
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
