//! Script files: addresses among their strings.

use std::borrow::Cow;

use geomi_model::{Document, DocumentKind, LinkKind};

use crate::charset;
use crate::content::Content;
use crate::link_list::LinkList;
use crate::links::SCRIPT_LINKS_MAX;
use crate::reader::{Extractor, PageInput, ReadLimits};
use crate::script::{Code, Found, each_address};

/// Reads script files, without running them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptReader;

impl Extractor for ScriptReader {
    fn mime(&self) -> &'static str {
        "text/javascript"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        matches!(
            content.mime,
            "text/javascript"
                | "application/javascript"
                | "application/x-javascript"
                | "text/ecmascript"
                | "application/ecmascript"
                | "text/jscript"
                | "text/x-javascript"
        )
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        // A script says in no way of its own which charset it is in, and its
        // addresses are ASCII: guessing would cost more than it brings.
        let text: Cow<'_, str> = match input.charset_label {
            Some(_) => charset::decode(input, limits).text,
            None => String::from_utf8_lossy(input.body),
        };
        let links_max = limits.links_max.min(SCRIPT_LINKS_MAX);
        let mut links = LinkList::new(input.url, links_max, limits);
        each_address(&text, Code::File, |found| match found {
            Found::Address(address) => links.add(&address, LinkKind::Script, None),
            // What it holds is no deeper, and relative to no page that is known.
            Found::Code(code, _) => each_address(&code, Code::File, |found| {
                if let Found::Address(address) = found {
                    links.add(&address, LinkKind::Script, None);
                }
            }),
            Found::Markup(_) => {}
        });
        let links_dropped = links.dropped();
        let (links, truncated) = links.finish();
        Document {
            kind: DocumentKind::Script,
            links,
            truncated,
            links_dropped,
            ..Document::default()
        }
    }
}
