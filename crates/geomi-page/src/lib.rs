//! Bytes to a document: charset, links, title, text, fingerprint.
//!
//! [`Readers`] holds one [`Extractor`] for each kind of content and gives a
//! [`Document`](geomi_model::Document) for whatever it is handed. The HTML
//! reader decodes the bytes (`charset`), cuts them into tags and text
//! (`tokenizer`), and walks the tokens once, collecting links, title, robots
//! wishes and a hash of the visible text.
//!
//! A page that is to be shown from somewhere else is written anew with its links
//! changed ([`rewrite_html`], [`rewrite_style_sheet`]), over the same tokens.
//!
//! Reading never fails and never panics: a broken page is a document with fewer
//! links. It takes time and memory linear in the input, within [`ReadLimits`].
//! No tree is built and no script is run, so what only a script writes is not
//! seen. Nothing here does I/O.
//!
//! ```
//! use geomi_page::{PageInput, ReadLimits, Readers};
//! use geomi_url::CrawlUrl;
//!
//! let url = CrawlUrl::parse("http://example.com/dir/page.html").unwrap();
//! let input = PageInput {
//!     url: &url,
//!     mime: Some("text/html"),
//!     charset_label: None,
//!     body: b"<title>Hello &amp; welcome</title><a href=next.html>next</a>",
//! };
//! let page = Readers::standard().read(&input, &ReadLimits::default());
//! assert_eq!(page.title.as_deref(), Some("Hello & welcome"));
//! assert_eq!(page.links[0].url.as_str(), "http://example.com/dir/next.html");
//! ```

mod advert;
mod charset;
#[cfg(test)]
mod conformance;
mod content;
mod css;
mod data_url;
mod element;
mod feed;
mod figure;
mod fnv;
mod fold;
mod foreign;
mod form;
mod gzip;
mod headers;
mod html;
mod image;
mod iso2022kr;
mod json;
mod link_list;
mod links;
mod number_words;
mod pdf;
mod plain;
mod prescan;
mod raw_text;
mod reader;
mod reference_table;
mod references;
mod rewrite;
mod robots;
mod script;
mod script_file;
mod sitemap;
mod sketch;
mod soft404;
mod spam;
mod text;
mod tokenizer;
mod url_list;
mod validity;
mod values;
mod xml;
mod xml_page;
mod xml_prelude;

pub use charset::declared_charset;
pub use content::{Content, XmlRoot};
pub use css::StyleReader;
pub use feed::FeedReader;
pub use gzip::GzipReader;
pub use headers::{HeaderLink, link_header, refresh_header};
pub use html::HtmlReader;
pub use image::ImageReader;
pub use json::JsonReader;
pub use pdf::PdfReader;
pub use plain::{charset_parameter, plain_text};
pub use reader::{Extractor, PageInput, ReadAs, ReadLimits, Readers};
pub use rewrite::{Placer, decode_text, rewrite_html, rewrite_style_sheet};
pub use robots::robots_tag;
pub use script_file::ScriptReader;
pub use sitemap::SitemapReader;
pub use spam::SpamFeatures;
pub use url_list::UrlListReader;
pub use validity::validity;
pub use xml_page::XmlReader;
