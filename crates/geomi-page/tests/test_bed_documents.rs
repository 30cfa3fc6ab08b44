//! The second test bed: links in documents other than HTML pages, and in documents
//! inside a page. See `bed` for how links are written.

mod bed;

use bed::{Case, check_all, read};
use geomi_model::DocumentKind;
use geomi_page::ReadLimits;

#[test]
fn xhtml_by_the_rules_of_xml() {
    check_all("application/xhtml+xml", XHTML);
    check_all("text/xml", XHTML);
    check_all("application/xml", XHTML);
}

const XHTML: &[Case] = &[
    (
        "<?xml version='1.0'?><?xml-stylesheet href='/s.css' type='text/css'?><html/>",
        &["e /s.css"],
    ),
    (
        "<html><head><title/><script src='/s.js'/><style/></head><body><a href='x'>x</a></body></html>",
        &["e /s.js", "a /dir/x"],
    ),
    (
        "<html><body><textarea/><iframe src='/f'/><a href='x'>x</a></body></html>",
        &["e /f", "a /dir/x"],
    ),
    (
        "<html><style><![CDATA[a{background:url(/x?a&amp=1)}]]></style></html>",
        &["e /x?a&amp=1"],
    ),
    (
        "<html><style>a{background:url(/x?a&amp;b)}</style></html>",
        &["e /x?a&b"],
    ),
    (
        "<html><script>//<![CDATA[\nlocation = '/x'\n//]]></script></html>",
        &["s /x"],
    ),
    (
        "<h:html xmlns:h='http://www.w3.org/1999/xhtml'><h:a href='/x'/><h:img src='/i'/></h:html>",
        &["a /x", "e /i"],
    ),
    (
        "<h:html><h:style>a{background:url(/x)}</h:style><h:a href='/y'/></h:html>",
        &["e /x", "a /y"],
    ),
    (
        "<!DOCTYPE html [<!ENTITY u \"/x\">]><html><a href='&u;?a=1&amp;b'>x</a></html>",
        &["a /x?a=1&b"],
    ),
    (
        "<html><nav/><template/><noscript/><div hidden='hidden'/><a href='x'>x</a></html>",
        &["a /dir/x"],
    ),
    ("<html><![CDATA[<a href='/no'>]]></html>", &[]),
];

#[test]
fn svg_files_and_other_xml() {
    check_all("image/svg+xml", XML);
    check_all("application/xml", XML);
    check_all(
        "",
        &[("<?xml version='1.0'?><r><a href='/x'/></r>", &["a /x"])],
    );
    let svg = read(
        "image/svg+xml",
        "<svg><title>t</title><text>words</text></svg>",
    );
    assert_eq!(svg.kind, DocumentKind::Xml);
    assert_eq!((svg.title, svg.fingerprint), (None, None));
    let page = read("text/xml", "<html><title>t</title><p>words</p></html>");
    assert_eq!(page.kind, DocumentKind::Html);
    assert_eq!(page.title.as_deref(), Some("t"));
}

const XML: &[Case] = &[
    (
        "<?xml-stylesheet type='text/css' href=\"/s.css\"?><svg><image href='/i'/></svg>",
        &["e /s.css", "e /i"],
    ),
    (
        "<s:svg xmlns:s='http://www.w3.org/2000/svg' xmlns:l='x'><s:image l:href='/i'/></s:svg>",
        &["e /i"],
    ),
    (
        "<svg><a xlink:href='/x'><text>x</text></a></svg>",
        &["a /x"],
    ),
    (
        "<svg><style><![CDATA[@import '/s.css';]]></style><script href='/s.js'/></svg>",
        &["e /s.css", "e /s.js"],
    ),
    (
        "<!DOCTYPE svg [<!ENTITY u '/x'>]><svg><image xlink:href='&u;'/></svg>",
        &["e /x"],
    ),
    ("<r><i x:type='simple' x:href='/x'>x</i></r>", &["h /x"]),
    (
        "<r xmlns:h='x'><h:img src='/i'/><h:a href='/x'/></r>",
        &["e /i", "a /x"],
    ),
    ("<r><xi:include href='/x'/></r>", &["h /x"]),
    (
        "<wml><card><go href='/x'/><a href='/y'/></card></wml>",
        &["h /x", "a /y"],
    ),
    (
        "<browserconfig><tile><square70x70logo src='/t.png'/></tile></browserconfig>",
        &["e /t.png"],
    ),
    (
        "<opml><body><outline xmlUrl='/f.xml' htmlUrl='/p'/></body></opml>",
        &["h /f.xml", "a /p"],
    ),
    (
        "<OpenSearchDescription><Image>/i.png</Image><Url template='/s?q={searchTerms}'/><Url template='/self'/></OpenSearchDescription>",
        &["e /i.png", "h /self"],
    ),
    (
        "<r xmlns='http://example.com/ns'>http://example.com/x</r>",
        &[],
    ),
];

#[test]
fn feeds_and_sitemaps() {
    check_all("application/xml", FEEDS);
}

const FEEDS: &[Case] = &[
    (
        "<feed xml:base='/b/'><logo>l.png</logo><icon>/i.ico</icon><link rel='next' href='2'/>\
         <entry xml:base='c/'><link href='x'/><link rel='enclosure' href='/e'/></entry>\
         <entry><link href='y'/></entry></feed>",
        &[
            "e /b/l.png",
            "e /i.ico",
            "h /b/2",
            "a /b/c/x",
            "h /e",
            "a /b/y",
        ],
    ),
    (
        "<feed><entry><link href='/x'/><content type='html'>&lt;img src='/i'&gt;&lt;a href='y'&gt;</content></entry></feed>",
        &["a /x", "e /i", "a /dir/y"],
    ),
    (
        "<feed><entry><link href='/x'/><content type='xhtml' xml:base='/b/'><div><a href='y'>y</a><img src='z'/></div></content></entry></feed>",
        &["a /x", "a /b/y", "e /b/z"],
    ),
    (
        "<feed><entry><link href='/x'/><content src='/s'/><media:group><media:thumbnail url='/t'/></media:group></entry></feed>",
        &["a /x", "h /s", "h /t"],
    ),
    (
        "<rss><channel><link>/p</link><image><url>/i.png</url><link>/no</link></image><item><link>/x</link>\
         <guid>http://example.com/g</guid><comments>http://example.com/c</comments><slash:comments>3</slash:comments>\
         <description>&lt;a href='/d'&gt;d&lt;/a&gt;</description>\
         <content:encoded><![CDATA[<img src='/e'>]]></content:encoded></item></channel></rss>",
        &["a /p", "e /i.png", "a /x", "h /g", "h /c", "a /d", "e /e"],
    ),
    (
        "<rss><channel><item><link>/x</link><guid>tag:1</guid><description>a &amp; b</description></item></channel></rss>",
        &["a /x"],
    ),
    (
        "<rss><channel><item><guid isPermaLink='false'>http://example.com/g</guid><link>/x</link></item></channel></rss>",
        &["a /x"],
    ),
    (
        "<urlset><url><loc>/x</loc><video:video><video:thumbnail_loc>/t</video:thumbnail_loc>\
         <video:content_loc>/c</video:content_loc><video:player_loc a='b'>/p</video:player_loc></video:video>\
         <image:image><image:loc>/i</image:loc></image:image></url></urlset>",
        &["a /x", "h /t", "h /c", "h /p", "h /i"],
    ),
    (
        "<urlset><url><loc>/x</loc></url><url><loc>/cut-of",
        &["a /x"],
    ),
    (
        "<urlset><url><loc>/x</loc><image:image><image:loc>/cut-of",
        &["a /x"],
    ),
    ("<urlset><url><loc>/x</loc><lastmod>2020", &["a /x"]),
];

#[test]
fn pages_inside_pages_are_read_eight_deep() {
    let inside = |depth: usize| {
        (0..depth).fold("<img src='/x'>".to_owned(), |page, _| {
            let page = page.replace('&', "&amp;").replace('"', "&quot;");
            format!("<iframe srcdoc=\"{page}\"></iframe>")
        })
    };
    for depth in 1..=8 {
        let page = read("text/html", &inside(depth));
        assert_eq!((page.links.len(), page.truncated), (1, false), "{depth}");
    }
    let page = read("text/html", &inside(9));
    assert_eq!((page.links.len(), page.truncated), (0, true));
}

#[test]
fn links_beyond_the_limits_are_counted() {
    let max = ReadLimits::default().links_max;
    let anchors: Vec<String> = (0..max + 7).map(|n| format!("<a href=/{n}>")).collect();
    let page = read("text/html", &anchors.concat());
    assert_eq!((page.links.len(), page.links_dropped), (max, 7));
    assert!(page.truncated);
    let strings: Vec<String> = (0..1_005).map(|n| format!("'/a/{n}';")).collect();
    let strings = strings.concat();
    let page = read(
        "text/html",
        &format!("<script>{strings}</script><a href=/x>"),
    );
    assert_eq!((page.links.len(), page.links_dropped), (1_001, 5));
    assert!(!page.truncated, "what scripts hold is a guess");
}

#[test]
fn no_more_entries_of_a_sitemap_are_read_than_allowed() {
    let max = ReadLimits::default().sitemap_links_max;
    let same = "<url><loc>/x</loc></url>".repeat(max + 1);
    let page = read(
        "text/xml",
        &format!("<urlset>{same}<url><loc>/y</loc></url></urlset>"),
    );
    assert_eq!((page.links.len(), page.truncated), (1, true));
    let same = "<url><loc>/x</loc></url>".repeat(max - 1);
    let page = read(
        "text/xml",
        &format!("<urlset>{same}<url><loc>/y</loc></url></urlset>"),
    );
    assert_eq!(page.links.len(), 2);
}
