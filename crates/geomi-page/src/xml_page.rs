//! XML that is no sitemap and no feed: SVG files, XHTML under another type, and any
//! other XML that names addresses.
//!
//! It is walked as a page is ([`crate::html`]), by the rules of XML. Prefixes are
//! left out (`h:img` is `img`), because real documents bind them wrongly. Elements
//! that are not known lead somewhere by `href`, `src` and `xlink:href`. Three
//! formats have addresses elsewhere: OPML, `OpenSearch` descriptions and the
//! configuration of tiles (`browserconfig`, by its `src`).

use geomi_model::{Document, DocumentKind, LinkKind};

use crate::charset;
use crate::content::Content;
use crate::html;
use crate::link_list::LinkList;
use crate::reader::{Extractor, PageInput, ReadLimits};
use crate::xml::{Piece, Xml};

/// Reads XML documents, for their links.
#[derive(Clone, Copy, Debug, Default)]
pub struct XmlReader;

impl Extractor for XmlReader {
    fn mime(&self) -> &'static str {
        "text/xml"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        match content.mime {
            "" => content.body.trim_ascii_start().starts_with(b"<?xml"),
            "text/xml" | "application/xml" | "text/x-opml" | "text/vnd.wap.wml" => true,
            mime => mime.ends_with("+xml"),
        }
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        match Content::new("", input.body).root_name().as_deref() {
            Some(b"html") => html::examine_xml(input, limits).0,
            Some(b"opml") => read_list(input, limits, OPML),
            Some(b"OpenSearchDescription") => read_list(input, limits, OPEN_SEARCH),
            _ => {
                // It is no page: its text is not compared with that of pages.
                of_links(html::examine_xml(input, limits).0)
            }
        }
    }
}

/// Where a format has its addresses.
#[derive(Clone, Copy)]
enum Place {
    /// In an attribute of any element.
    Attribute(&'static str, LinkKind),
    /// In the text of an element.
    Text(&'static str, LinkKind),
}

const OPML: &[Place] = &[
    Place::Attribute("xmlUrl", LinkKind::Other),
    Place::Attribute("htmlUrl", LinkKind::Anchor),
    Place::Attribute("url", LinkKind::Anchor),
];

const OPEN_SEARCH: &[Place] = &[
    Place::Text("Image", LinkKind::Embedded),
    Place::Attribute("template", LinkKind::Other),
];

fn read_list(input: &PageInput<'_>, limits: &ReadLimits, places: &[Place]) -> Document {
    let decoded = charset::decode(input, limits);
    let mut xml = Xml::new(&decoded.text);
    let mut links = LinkList::new(input.url, limits.links_max, limits);
    let mut text_kind = None;
    while let Some(piece) = xml.next() {
        match piece {
            Piece::Start(tag) => {
                text_kind = None;
                for place in places {
                    match *place {
                        Place::Attribute(name, kind) => {
                            // `{searchTerms}` is to be filled in.
                            let value = tag.attribute(name).filter(|it| !it.contains('{'));
                            if let Some(value) = value {
                                links.add(value.trim(), kind, None);
                            }
                        }
                        Place::Text(name, kind) if tag.is(name) => text_kind = Some(kind),
                        Place::Text(..) => {}
                    }
                }
            }
            Piece::Text(text) => {
                if let Some(kind) = text_kind {
                    links.add(text.trim(), kind, None);
                }
            }
            Piece::End => text_kind = None,
        }
        if links.is_full() {
            links.cut();
            break;
        }
    }
    let (links, truncated) = links.finish();
    of_links(Document {
        charset: Some(decoded.charset),
        links,
        truncated,
        ..Document::default()
    })
}

/// A document of XML of which only the links and the charset count.
fn of_links(read: Document) -> Document {
    Document {
        kind: DocumentKind::Xml,
        charset: read.charset,
        links: read.links,
        truncated: read.truncated,
        links_dropped: read.links_dropped,
        ..Document::default()
    }
}
