//! The reader against html5ever, which builds the whole tree.
//!
//! Both read the same tag soup; base, title and links must agree. html5ever's tree
//! builder reports every element it makes to a sink, which is all that is needed:
//! no tree is kept, only each node's parent, to tell what is inside a template.

#[path = "../../../tests/conformance_data.rs"]
mod conformance_data;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;

use conformance_data::conformance_data;
use geomi_model::LinkKind;
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, ns, parse_document};
use proptest::prelude::*;
use url::Url;

const PAGE: &str = "http://example.com/dir/page.html";

/// What both sides say of a page.
#[derive(PartialEq, Eq, Debug)]
struct Findings {
    title: Option<String>,
    links: Vec<String>,
}

fn by_geomi(html: &str) -> Findings {
    let url = CrawlUrl::parse(PAGE).expect("a URL");
    let input = PageInput {
        url: &url,
        mime: Some("text/html"),
        charset_label: Some("utf-8"),
        body: html.as_bytes(),
    };
    let page = Readers::standard().read(&input, &ReadLimits::default());
    Findings {
        title: page.title,
        // What scripts and templates hold is no finding of the tree.
        links: (page.links.iter())
            .filter(|link| link.kind != LinkKind::Script)
            .map(|link| link.url.to_string())
            .collect(),
    }
}

fn by_html5ever(html: &str) -> Findings {
    let mut options = ParseOpts::default();
    options.tree_builder.scripting_enabled = false;
    let nodes = parse_document(Sink::default(), options).one(html);
    let elements = || {
        nodes
            .iter()
            .enumerate()
            .filter(|&(index, node)| node.is_html() && !in_template(&nodes, index))
            .map(|(_, node)| node)
    };
    let title = elements()
        .find(|node| &*node.name.local == "title")
        .map(|node| node.text.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|title| !title.is_empty());
    let page = Url::parse(PAGE).expect("a URL");
    let base = elements()
        .filter(|node| &*node.name.local == "base")
        .find_map(|node| node.attribute("href"))
        .and_then(|href| page.join(href).ok())
        .filter(|base| !matches!(base.scheme(), "data" | "javascript"))
        .unwrap_or(page);
    let mut seen = HashSet::new();
    let links = elements()
        .flat_map(|node| {
            let names: &[&str] = match &*node.name.local {
                "a" | "area" | "link" => &["href"],
                "img" | "iframe" | "frame" | "script" | "embed" => &["src"],
                name if name.contains('-') => &["src", "href"],
                _ => &[],
            };
            names.iter().filter_map(|name| node.attribute(name))
        })
        .filter_map(|written| {
            let written = written.trim_matches(|c: char| c <= ' ');
            if written.is_empty() || written.starts_with('#') {
                return None;
            }
            CrawlUrl::from_url(&base.join(written).ok()?).ok()
        })
        .map(|url| url.to_string())
        .filter(|url| seen.insert(url.clone()))
        .collect();
    Findings { title, links }
}

struct Node {
    name: QualName,
    attributes: Vec<Attribute>,
    text: String,
    parent: Option<usize>,
}

impl Node {
    fn new(name: QualName, attributes: Vec<Attribute>) -> Self {
        Self {
            name,
            attributes,
            text: String::new(),
            parent: None,
        }
    }

    fn unnamed() -> Self {
        Self::new(QualName::new(None, ns!(), "".into()), Vec::new())
    }

    fn is_html(&self) -> bool {
        self.name.ns == ns!(html)
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|attribute| &*attribute.name.local == name)
            .map(|attribute| &*attribute.value)
    }
}

fn in_template(nodes: &[Node], mut index: usize) -> bool {
    while let Some(parent) = nodes[index].parent {
        if &*nodes[parent].name.local == "template" && nodes[parent].is_html() {
            return true;
        }
        index = parent;
    }
    false
}

/// Remembers the elements made, in order.
struct Sink {
    nodes: RefCell<Vec<Node>>,
}

impl Default for Sink {
    fn default() -> Self {
        Self {
            nodes: RefCell::new(vec![Node::unnamed()]),
        }
    }
}

impl Sink {
    fn add(&self, node: Node) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(node);
        nodes.len() - 1
    }

    fn place(&self, parent: usize, child: NodeOrText<usize>) {
        let mut nodes = self.nodes.borrow_mut();
        match child {
            NodeOrText::AppendNode(child) => {
                nodes[child].parent.get_or_insert(parent);
            }
            NodeOrText::AppendText(text) => nodes[parent].text.push_str(&text),
        }
    }
}

impl TreeSink for Sink {
    type Handle = usize;
    type Output = Vec<Node>;
    type ElemName<'a> = Name;

    fn finish(self) -> Vec<Node> {
        self.nodes.into_inner()
    }

    fn get_document(&self) -> usize {
        0
    }

    fn elem_name(&self, target: &usize) -> Name {
        Name(self.nodes.borrow()[*target].name.clone())
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> usize {
        self.add(Node::new(name, attrs))
    }

    fn create_comment(&self, _: StrTendril) -> usize {
        self.add(Node::unnamed())
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> usize {
        self.add(Node::unnamed())
    }

    fn append(&self, parent: &usize, child: NodeOrText<usize>) {
        self.place(*parent, child);
    }

    fn append_based_on_parent_node(&self, element: &usize, _: &usize, child: NodeOrText<usize>) {
        let parent = self.nodes.borrow()[*element].parent;
        self.place(parent.unwrap_or(0), child);
    }

    fn append_before_sibling(&self, sibling: &usize, child: NodeOrText<usize>) {
        let parent = self.nodes.borrow()[*sibling].parent;
        self.place(parent.unwrap_or(0), child);
    }

    fn get_template_contents(&self, target: &usize) -> usize {
        *target
    }

    fn same_node(&self, x: &usize, y: &usize) -> bool {
        x == y
    }

    // What follows changes the tree in ways that no finding depends on.
    fn parse_error(&self, _: Cow<'static, str>) {}
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn add_attrs_if_missing(&self, _: &usize, _: Vec<Attribute>) {}
    fn remove_from_parent(&self, _: &usize) {}
    fn reparent_children(&self, _: &usize, _: &usize) {}
}

/// A name that does not borrow from the cell.
#[derive(Debug)]
struct Name(QualName);

impl html5ever::interface::ElemName for Name {
    fn ns(&self) -> &html5ever::Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &html5ever::LocalName {
        &self.0.local
    }

    fn expanded(&self) -> ExpandedName<'_> {
        self.0.expanded()
    }
}

/// Tag soup of everything that touches tokens: quotes, comments, raw text,
/// references. Elements that make the tree builder drop or move whole tags
/// (`select`, `frameset`, `svg`) are tested by hand instead.
fn soup() -> impl Strategy<Value = String> {
    let tag = (
        prop::sample::select(vec![
            "a", "A", "area", "img", "iframe", "script", "title", "style", "textarea", "base",
            "link", "p", "div", "xmp", "noscript", "embed", "x-y", "template", "b", "table", "td",
        ]),
        prop::collection::vec(attribute(), 0..4),
        prop::sample::select(vec![">", "/>", " >", "\n>", "", " ", "/"]),
    )
        .prop_map(|(name, attributes, end)| format!("<{name}{}{end}", attributes.concat()));
    let end_tag = prop::sample::select(vec![
        "</a>",
        "</script>",
        "</SCRIPT >",
        "</title>",
        "</style/>",
        "</textarea x=y>",
        "</p>",
        "</>",
        "</xmp>",
        "</iframe>",
        "</noscript>",
        "</template>",
        "</div",
        "</ x>",
        "</b>",
    ])
    .prop_map(str::to_owned);
    let other = prop::sample::select(vec![
        "<!--",
        "-->",
        "--!>",
        "<!-->",
        "<!--->",
        "<!-- x -->",
        "<!x>",
        "<?x>",
        "<![CDATA[",
        "]]>",
        "<!doctype html>",
        "'",
        "\"",
        ">",
        "<",
        "=",
        "/",
        "text",
        " ",
        "\n",
        "&amp;",
        "&lt",
        "&notit;",
        "&#65;",
        "&#x",
        "한글",
        "<script>",
        "<!--<script>",
        "</script>",
        "<a href=/last>",
        "-",
        "!",
    ])
    .prop_map(str::to_owned);
    let piece = prop_oneof![3 => tag, 2 => end_tag, 2 => other];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

fn attribute() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "href", "HREF", "src", "x", "=", "\"", "href ", "src\n",
    ]);
    let equals = prop::sample::select(vec!["=", " = ", "", "=\n"]);
    let value = prop::sample::select(vec![
        "x",
        "'x y'",
        "\"/a>b\"",
        "/c?d&amp;e",
        "'?a&copy=1&copy'",
        "http://e.com/",
        "&#47;z",
        "''",
        "\"",
        "'",
        "//h.com/&notin;",
        "a/b",
        "<p",
        "../..",
        "'a\"b'",
        "javascript:x",
    ]);
    let gap = prop::sample::select(vec![" ", "\n", "/", "\t ", ""]);
    (gap, name, equals, value)
        .prop_map(|(gap, name, equals, value)| format!("{gap}{name}{equals}{value}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn both_find_the_same_in_tag_soup(html in soup()) {
        prop_assert_eq!(by_geomi(&html), by_html5ever(&html));
    }
}

#[test]
fn both_find_the_same_in_html5lib_inputs() {
    let test = "both_find_the_same_in_html5lib_inputs";
    let Some(folder) = conformance_data(test, "html5lib/tokenizer") else {
        return;
    };
    let files = std::fs::read_dir(&folder).unwrap();
    let mut compared = 0;
    for file in files {
        let json = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        for test in json["tests"].as_array().into_iter().flatten() {
            let input = test["input"].as_str().unwrap();
            for html in [
                format!("<title>t</title>{input}<a href=/end>"),
                format!("<title>{input}</title><a href=/end>"),
                format!("<a href=\"/{input}\"><a href='/{input}'><a href=/end>"),
                format!("<script>{input}</script><a href=/end>"),
            ] {
                // A NUL is dropped or replaced by the tree builder.
                if !html.contains('\0') {
                    assert_eq!(by_geomi(&html), by_html5ever(&html), "from {html:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 10_000, "only {compared} pages were compared");
}
