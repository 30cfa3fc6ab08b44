//! A test bed of ways to link: each case is a piece of a page, a style sheet, a
//! script or a header, and where it leads.
//!
//! Links are written as their kind and their address, relative to the site where
//! possible: `a` anchor, `f` frame, `h` other, `e` embedded, `s` script, `g` form. A
//! `-` stands for `nofollow`, a `!` for an advertisement.

mod bed;

use bed::{Case, check_all, letter, read, written};
use geomi_page::{link_header, refresh_header};

#[test]
fn elements_and_their_attributes() {
    check_all("text/html", ELEMENTS);
}

const ELEMENTS: &[Case] = &[
    ("<a href=x>", &["a /dir/x"]),
    ("<a href=x ping='/p /q'>", &["a /dir/x", "h /p", "h /q"]),
    ("<a href=x rel=nofollow>", &["a- /dir/x"]),
    ("<a href='\n\t x \n'>", &["a /dir/x"]),
    ("<a href=//other.example/x>", &["a http://other.example/x"]),
    ("<a href=http:x>", &["a /dir/x"]),
    ("<map><area href=x ping=/p></map>", &["a /dir/x", "h /p"]),
    (
        "<frameset><frame src=x longdesc=y></frameset>",
        &["f /dir/x", "h /dir/y"],
    ),
    ("<iframe src=x></iframe>", &["e /dir/x"]),
    ("<iframe srcdoc='&lt;a href=/x&gt;'></iframe>", &["a /x"]),
    (
        "<iframe srcdoc='<img src=&quot;/i.png&quot;>'></iframe>",
        &["e /i.png"],
    ),
    ("<iframe longdesc=x></iframe>", &["h /dir/x"]),
    ("<link rel=stylesheet href=s.css>", &["e /dir/s.css"]),
    ("<link rel=icon href=i.ico>", &["e /dir/i.ico"]),
    ("<link rel='shortcut icon' href=i.ico>", &["e /dir/i.ico"]),
    ("<link rel=apple-touch-icon href=i.png>", &["e /dir/i.png"]),
    ("<link rel=manifest href=m.json>", &["e /dir/m.json"]),
    ("<link rel=modulepreload href=m.js>", &["e /dir/m.js"]),
    ("<link rel=next href=2>", &["h /dir/2"]),
    ("<link rel=alternate hreflang=ko href=/ko/>", &["h /ko/"]),
    (
        "<link rel=alternate type=application/rss+xml href=feed>",
        &["h /dir/feed"],
    ),
    ("<link rel=amphtml href=/amp>", &["h /amp"]),
    ("<link rel=import href=part.html>", &["h /dir/part.html"]),
    (
        "<link rel=preload as=image imagesrcset='a 1x, b 2x' href=c>",
        &["e /dir/c", "e /dir/a", "e /dir/b"],
    ),
    ("<link itemprop=url href=x>", &["h /dir/x"]),
    ("<img src=x.png>", &["e /dir/x.png"]),
    (
        "<img srcset='a.png 1x, b.png 2x'>",
        &["e /dir/a.png", "e /dir/b.png"],
    ),
    ("<img lowsrc=x>", &["e /dir/x"]),
    ("<img dynsrc=x>", &["e /dir/x"]),
    ("<img longdesc=x>", &["h /dir/x"]),
    ("<image src=x>", &["e /dir/x"]),
    (
        "<picture><source srcset='a.webp 400w'><img src=b.png></picture>",
        &["e /dir/a.webp", "e /dir/b.png"],
    ),
    (
        "<amp-img src=x.png srcset='y.png 2x'></amp-img>",
        &["e /dir/x.png", "e /dir/y.png"],
    ),
    ("<audio src=x></audio>", &["e /dir/x"]),
    ("<audio><source src=x></audio>", &["e /dir/x"]),
    ("<video src=x poster=p></video>", &["e /dir/x", "e /dir/p"]),
    ("<video><track src=t></video>", &["e /dir/t"]),
    ("<bgsound src=x>", &["e /dir/x"]),
    ("<embed src=x>", &["e /dir/x"]),
    ("<object data=x></object>", &["e /dir/x"]),
    (
        "<object codebase=/c/ data=x archive='a.jar b.jar'></object>",
        &["e /c/", "e /c/x", "e /c/a.jar", "e /c/b.jar"],
    ),
    (
        "<object classid=clsid:6BF5><param name=URL value=x></object>",
        &["e /dir/x"],
    ),
    (
        "<object><param name=movie value=x.swf><param name=quality value=high></object>",
        &["e /dir/x.swf"],
    ),
    ("<applet archive=a.jar></applet>", &["e /dir/a.jar"]),
    ("<applet object=x.ser></applet>", &["e /dir/x.ser"]),
    (
        "<layer src=x background=/b.png></layer><ilayer src=y></ilayer>",
        &["e /dir/x", "e /b.png", "e /dir/y"],
    ),
    (
        "<v:fill src=x /><v:imagedata src=y></v:imagedata><xml src=z></xml>",
        &["e /dir/x", "e /dir/y", "e /dir/z"],
    ),
    ("<embed src=x pluginspage=/p>", &["e /dir/x", "h /p"]),
    (
        "<applet codebase=/c code=A.class></applet>",
        &["e /c", "e /c/A.class"],
    ),
    ("<script src=s.js></script>", &["e /dir/s.js"]),
    ("<input type=image src=x>", &["e /dir/x"]),
    ("<body background=b.gif>", &["e /dir/b.gif"]),
    (
        "<table background=b.gif><tr><td background=/c.gif>",
        &["e /dir/b.gif", "e /c.gif"],
    ),
    ("<blockquote cite=x>", &["h /dir/x"]),
    (
        "<q cite=x></q><ins cite=y></ins><del cite=z></del>",
        &["h /dir/x", "h /dir/y", "h /dir/z"],
    ),
    ("<html manifest=x>", &["h /dir/x"]),
    ("<head profile='/p /q'>", &["h /p", "h /q"]),
    ("<menuitem icon=/i.png>", &["e /i.png"]),
    ("<div itemscope itemid=/item/1>", &["h /item/1"]),
    ("<import implementation=/x.htc>", &["h /x.htc"]),
    ("<isindex action=/search>", &["g /search"]),
    ("<base href=/b/><a href=x>", &["a /b/x"]),
    ("<a ng-href=/x>", &["a /x"]),
    ("<svg><a xlink:href=x></a></svg>", &["a /dir/x"]),
    ("<svg><image xlink:href=x /></svg>", &["e /dir/x"]),
    ("<svg><image href=x /></svg>", &["e /dir/x"]),
    (
        "<svg><use xlink:href='icons.svg#a' /></svg>",
        &["e /dir/icons.svg"],
    ),
    (
        "<svg><script xlink:href=/s.js></script></svg>",
        &["e /s.js"],
    ),
    ("<svg><script href=/s.js></script></svg>", &["e /s.js"]),
    ("<svg><feImage href=/f.png /></svg>", &["e /f.png"]),
    ("<svg><style>@import '/s.css';</style></svg>", &["e /s.css"]),
    (
        "<svg><rect fill='url(a.svg#g)' stroke=\"url('b.svg')\" cursor='url(c.cur),auto'/></svg>",
        &["e /dir/a.svg", "e /dir/b.svg", "e /dir/c.cur"],
    ),
    (
        "<svg><g filter=url(/f#x) mask=url(/m) clip-path=url(/c)><path marker-end=url(/e) fill=url(#a)></g></svg>",
        &["e /f", "e /m", "e /c", "e /e"],
    ),
    (
        "<svg><image><animate attributeName=href values='/a;/b' to=/c /></image></svg>",
        &["e /a", "e /b", "e /c"],
    ),
    (
        "<svg><a><set attributeName=xlink:href to=/x /><animate attributeName=x to=/no /></a></svg>",
        &["e /x"],
    ),
    ("<math><annotation src=/x>y</annotation></math>", &["e /x"]),
    (
        "<iframe srcdoc='<base href=/b/><img src=x><a href=/y>'></iframe><img src=x>",
        &["e /dir/x", "e /b/x", "a /y"],
    ),
    (
        "<base href=/b/><iframe srcdoc='<base href=c/><img src=x>'></iframe>",
        &["e /b/c/x"],
    ),
    (
        "<iframe srcdoc='<base href=/b/><iframe srcdoc=\"<base href=c/><img src=x>\"></iframe>'></iframe>",
        &["e /b/c/x"],
    ),
    (
        "<iframe src=\"data:text/html,<img src='http://example.com/x'><a href='/no'>\"></iframe>",
        &["e /x"],
    ),
    (
        "<iframe src=data:text/html;base64,PGEgaHJlZj1odHRwOi8vZXhhbXBsZS5jb20veD4=></iframe>",
        &["a /x"],
    ),
    (
        "<link rel=stylesheet href=\"data:text/css,@import%20%22http://example.com/x%22;a{b:url(no)}\">",
        &["e /x"],
    ),
    (
        "<a href='data:text/html,<a href=http://example.com/no>'>",
        &[],
    ),
    ("<noscript><img src=x></noscript>", &["e /dir/x"]),
    ("<noframes><a href=x></noframes>", &["a /dir/x"]),
    ("<noembed><a href=x></noembed>", &["a /dir/x"]),
    ("<template><a href=x></template>", &["s /dir/x"]),
    (
        "<template shadowrootmode=open><a href=x></template>",
        &["a /dir/x"],
    ),
    (
        "<!--[if IE]><link rel=stylesheet href=ie.css><![endif]-->",
        &["e /dir/ie.css"],
    ),
    (
        "<!--[if !IE]><!--><a href=x><!--<![endif]-->",
        &["a /dir/x"],
    ),
    ("<![if !IE]><a href=x><![endif]>", &["a /dir/x"]),
];

#[test]
fn meta_elements() {
    check_all("text/html", META);
}

const META: &[Case] = &[
    (
        "<meta http-equiv=refresh content='0; url=x'>",
        &["h /dir/x"],
    ),
    (
        "<meta http-equiv=Refresh content='5;URL=\"/x\"'>",
        &["h /x"],
    ),
    ("<meta property=og:image content=/i.png>", &["h /i.png"]),
    (
        "<meta property=og:url content=http://example.com/x>",
        &["h /x"],
    ),
    (
        "<meta property=og:video:secure_url content=https://v.example/1>",
        &["h https://v.example/1"],
    ),
    ("<meta name=twitter:image content=/i.png>", &["h /i.png"]),
    ("<meta name=twitter:player content=/p>", &["h /p"]),
    (
        "<meta name=citation_pdf_url content=http://example.com/x.pdf>",
        &["h /x.pdf"],
    ),
    ("<meta itemprop=image content=i/1.png>", &["h /dir/i/1.png"]),
    (
        "<meta name=msapplication-TileImage content=/t.png>",
        &["h /t.png"],
    ),
    (
        "<meta name=msapplication-config content=/c.xml>",
        &["h /c.xml"],
    ),
    (
        "<meta name=msapplication-square70x70logo content=/l.png>",
        &["h /l.png"],
    ),
    (
        "<meta name=msapplication-task content='name=x;action-uri=/t;icon-uri=/i.ico'>",
        &["h /t", "h /i.ico"],
    ),
    (
        "<meta name=copyright content=\"<img src='/c.png'>\">",
        &["e /c.png"],
    ),
    (
        "<meta name=description content='see /x and http://e.com/y'>",
        &[],
    ),
    (
        "<meta name=viewport content='width=device-width, initial-scale=1.0'>",
        &[],
    ),
];

#[test]
fn what_scripts_load_later() {
    check_all("text/html", LAZY);
}

const LAZY: &[Case] = &[
    ("<img data-src=x.jpg>", &["e /dir/x.jpg"]),
    ("<img data-original=/x.jpg>", &["e /x.jpg"]),
    ("<img data-lazy=x.jpg>", &["e /dir/x.jpg"]),
    ("<img data-lazy-src=x.jpg>", &["e /dir/x.jpg"]),
    ("<img data-hi-res-src=x.jpg>", &["e /dir/x.jpg"]),
    (
        "<img data-srcset='a.jpg 1x, b.jpg 2x'>",
        &["e /dir/a.jpg", "e /dir/b.jpg"],
    ),
    ("<img data-echo=x.jpg>", &["e /dir/x.jpg"]),
    ("<div data-bg=x.jpg>", &["e /dir/x.jpg"]),
    ("<div data-bg='url(\"x.jpg\")'>", &["e /dir/x.jpg"]),
    ("<div data-background=/x.jpg>", &["e /x.jpg"]),
    (
        "<div data-bgset='a.jpg 100w, b.jpg 200w'>",
        &["e /dir/a.jpg", "e /dir/b.jpg"],
    ),
    ("<div data-background-image=/x.jpg>", &["e /x.jpg"]),
    ("<video data-poster=/x.jpg>", &["e /x.jpg"]),
    ("<a data-zoom-image=/x.jpg>", &["e /x.jpg"]),
    (
        "<a data-large_image=https://cdn.example/x.jpg>",
        &["e https://cdn.example/x.jpg"],
    ),
    ("<div data-href=x.html>", &["s /dir/x.html"]),
    ("<tr data-href='/item?id=1'>", &["s /item?id=1"]),
    ("<div data-url=/load/more.php>", &["s /load/more.php"]),
    ("<div data-remote=/a/b>", &["s /a/b"]),
    ("<div data-options='{\"next\":\"/a/b\"}'>", &["s /a/b"]),
    (
        "<img src=data:image/gif;base64,R0 data-src=x.jpg>",
        &["e /dir/x.jpg"],
    ),
    (
        "<div data-id=12 data-toggle=modal data-target='#x' data-date=2020/01/02>",
        &[],
    ),
    ("<div data-src='{{item.src}}' data-url='/a/{id}'>", &[]),
    (
        "<div data-title='/ is a slash' data-text='http is a protocol'>",
        &[],
    ),
];

#[test]
fn forms_that_can_be_sent_as_they_are() {
    check_all("text/html", FORMS);
}

const FORMS: &[Case] = &[
    ("<form action=x></form>", &["g /dir/x"]),
    (
        "<form action=x method=GET><button>Go</button></form>",
        &["g /dir/x"],
    ),
    (
        "<form action=x><input type=hidden name=a value='1 2'><input type=submit></form>",
        &["g /dir/x?a=1+2"],
    ),
    (
        "<form action=x><input type=submit name=go value=Go></form>",
        &["g /dir/x?go=Go"],
    ),
    (
        "<form action=x><input name=q value=fish></form>",
        &["g /dir/x?q=fish"],
    ),
    (
        "<form action=x><input type=checkbox name=c checked></form>",
        &["g /dir/x?c=on"],
    ),
    ("<form><button formaction=/y>Go</button></form>", &["g /y"]),
    (
        "<form action='javascript:location=\"/j\"'></form>",
        &["s /j"],
    ),
    ("<form action=x><input name=q></form>", &[]),
    (
        "<form action=x><input type=password name=p value=x></form>",
        &[],
    ),
    ("<form action=x><textarea name=t></textarea></form>", &[]),
    ("<form action=x><select name=s></select></form>", &[]),
    ("<form action=x method=post></form>", &[]),
    (
        "<form action=x><button formmethod=post>a</button></form>",
        &[],
    ),
    (
        "<form action=x><button formmethod=POST name=a value=1>a</button><button>b</button></form>",
        &[],
    ),
    (
        "<form action=x><input type=image formmethod=post></form>",
        &[],
    ),
    (
        "<form action=x><button>a</button><button formmethod=post formaction=y>b</button></form>",
        &["g /dir/x"],
    ),
    (
        "<form action=x method=post><button formmethod=get formaction=y>a</button></form>",
        &["g /dir/y"],
    ),
    (
        "<form id=f action=x></form><input form=f type=hidden name=a value=1><button form=f>Go</button>",
        &["g /dir/x?a=1"],
    ),
    (
        "<form id=f action=x></form><button form=f formmethod=post>",
        &[],
    ),
    ("<form id=f action=x></form><input form=f name=q>", &[]),
    (
        "<form id=f action=x></form><textarea form=f></textarea>",
        &[],
    ),
    (
        "<input form=f name=q value=1><form id=f action=x></form>",
        &[],
    ),
    (
        "<form action=x><input form=g name=q><button>Go</button></form>",
        &["g /dir/x"],
    ),
];

#[test]
fn style_in_pages() {
    check_all("text/html", STYLE);
}

const STYLE: &[Case] = &[
    ("<style>a{background:url(x.png)}</style>", &["e /dir/x.png"]),
    ("<style>@import 's.css';</style>", &["e /dir/s.css"]),
    ("<div style='background:url(x.png)'>", &["e /dir/x.png"]),
    (
        "<div style=\"background-image: url(&quot;x.png&quot;)\">",
        &["e /dir/x.png"],
    ),
    (
        "<div style='background:url(data:image/png;base64,AA)'>",
        &[],
    ),
    ("<div style='fill:url(#a)'>", &[]),
    ("<style>/* url(x.png) */ a{content:'url(y)'}</style>", &[]),
];

#[test]
fn style_sheets() {
    check_all("text/css", SHEETS);
}

const SHEETS: &[Case] = &[
    ("a{background:url(x.png)}", &["e /dir/x.png"]),
    ("a{background:url( 'x y.png' )}", &["e /dir/x%20y.png"]),
    (
        "@import \"a.css\"; @import url(/b.css) screen;",
        &["e /dir/a.css", "e /b.css"],
    ),
    (
        "@font-face{font-family:x;src:url(x.woff2) format('woff2'),url(x.ttf)}",
        &["e /dir/x.woff2", "e /dir/x.ttf"],
    ),
    (
        "a{background:image-set('a.png' 1x, 'b.png' 2x)}",
        &["e /dir/a.png", "e /dir/b.png"],
    ),
    (
        "a{background:-webkit-image-set(url(a.png) 1x)}",
        &["e /dir/a.png"],
    ),
    (
        "a{cursor:url(c.cur),auto;list-style:url(l.gif)}",
        &["e /dir/c.cur", "e /dir/l.gif"],
    ),
    ("a{mask:url(m.svg#a)}", &["e /dir/m.svg"]),
    ("a{background:url(a\\)b.png)}", &["e /dir/a)b.png"]),
    (
        "@charset 'utf-8'; @namespace svg url(http://www.w3.org/2000/svg);",
        &[],
    ),
    (
        "a{background:url(data:image/png,x)} b{behavior:url(#default#VML)}",
        &[],
    ),
    ("/* url(x) @import 'y' */", &[]),
    ("a{b:u\\72l(/x)} @\\69mport '/y';", &["e /x", "e /y"]),
    ("a{b:url(a b(c);} d{b:url(/x", &["e /x"]),
    ("a{b:url(a b);} d{b:url(/x)}", &["e /x"]),
    (
        "@import url(\"data:text/css,@import 'data:text/css,a{b:url(http://example.com/x)}';\");",
        &["e /x"],
    ),
];

#[test]
fn scripts_in_pages() {
    check_all("text/html", SCRIPTS);
}

const SCRIPTS: &[Case] = &[
    ("<script>location = 'x'</script>", &["s /dir/x"]),
    ("<script>window.location=\"/x\"</script>", &["s /x"]),
    ("<script>document.location.href = '/x'</script>", &["s /x"]),
    ("<script>top.location.replace('/x')</script>", &["s /x"]),
    ("<script>self.location.assign(`/x`)</script>", &["s /x"]),
    ("<script>window.open('/x', 'w')</script>", &["s /x"]),
    ("<script>fetch('/x', {method: 'POST'})</script>", &["s /x"]),
    ("<script>xhr.open('GET', '/x?y=1')</script>", &["s /x?y=1"]),
    (
        "<script>navigator.sendBeacon('/x.gif')</script>",
        &["s /x.gif"],
    ),
    (
        "<script>var i = new Image(); i.src = 'x.gif'</script>",
        &["s /dir/x.gif"],
    ),
    (
        "<script>var a = '/one/two', b = 'http://example.com/three'</script>",
        &["s /one/two", "s /three"],
    ),
    ("<script>location = '/a' + '/b'</script>", &["s /a/b"]),
    (
        "<script type=module>import '/m.js'; import('./n.js')</script>",
        &["s /m.js", "s /dir/n.js"],
    ),
    (
        "<script>document.write('<a href=\"/x\">x</a>')</script>",
        &["s /x"],
    ),
    (
        "<script>e.innerHTML = \"<img src='/x.png'>\"</script>",
        &["s /x.png"],
    ),
    (
        "<script type=application/ld+json>{\"@context\":\"https://schema.org\",\"url\":\"http://example.com/x\",\"image\":\"/i/1.png\"}</script>",
        &["s /x", "s /i/1.png"],
    ),
    (
        "<script type=application/json>{\"next\":\"\\/a\\/b\"}</script>",
        &["s /a/b"],
    ),
    ("<svg><script>location='/x'</script></svg>", &["s /x"]),
    ("<a href=\"javascript:location.href='/x'\">", &["s /x"]),
    ("<a href=\"javascript:go(&#39;/a/b&#39;)\">", &["s /a/b"]),
    ("<a href=\"javascript:window.open(%22/x%22)\">", &["s /x"]),
    ("<area href=\"JavaScript: location='x'\">", &["s /dir/x"]),
    ("<div onclick=\"location.href='/x'\">", &["s /x"]),
    (
        "<tr onclick='window.open(&quot;/x&quot;)' onmouseover='hover()'>",
        &["s /x"],
    ),
    (
        "<select onchange=\"location='/list?c=1'\"></select>",
        &["s /list?c=1"],
    ),
    (
        "<body onload=\"setTimeout(function(){location='/x'},100)\">",
        &["s /x"],
    ),
    ("<script>location='/x'</script><a href=/x>", &["a /x"]),
    (
        "<script>setTimeout(\"location.href='/x'\",100)</script>",
        &["s /x"],
    ),
    (
        "<script>S=JSON.parse(\"{\\\"url\\\":\\\"/x/y\\\"}\")</script>",
        &["s /x/y"],
    ),
    (
        "<select onchange=\"location=this.value\"><option value=''>-<option value=/x>a<option value='y.html'>b</select><option value=/no>",
        &["s /x", "s /dir/y.html"],
    ),
    (
        "<select onchange='window.open(this.options[this.selectedIndex].value)'><option value=http://example.com/x>a</select>",
        &["s /x"],
    ),
    ("<select onchange='go()'><option value=/no></select>", &[]),
    ("<div data-action=\"location.href='/x'\">", &["s /x"]),
];

#[test]
fn script_files() {
    check_all("text/javascript", SCRIPT_FILES);
    check_all("application/javascript", &SCRIPT_FILES[..1]);
}

const SCRIPT_FILES: &[Case] = &[
    ("var url = \"http://example.com/x\";", &["s /x"]),
    ("routes = [{path: '/app/route'}]", &["s /app/route"]),
    ("import x from './m.js'", &["s /dir/m.js"]),
    ("fetch('/api/list.json')", &["s /api/list.json"]),
    ("location = 'relative-to-a-page.html'", &[]),
    ("// http://example.com/comment\n/* '/a/b' */", &[]),
];

#[test]
fn data_files() {
    check_all("application/manifest+json", MANIFESTS);
    check_all("application/json", MANIFESTS);
    check_all(
        "application/json",
        &[(
            "{\"a\":{\"icons\":1},\"url\":\"/no\",\"src\":\"no.png\"}",
            &[],
        )],
    );
    check_all(
        "application/json",
        &[("{\"next\":\"http://example.com/x\"}", &["h /x"])],
    );
    check_all(
        "application/rss+xml",
        &[(
            "<rss><channel><item><link>/x</link></item></channel></rss>",
            &["a /x"],
        )],
    );
    check_all(
        "application/xml",
        &[(
            "<urlset><url><loc>http://example.com/x</loc></url></urlset>",
            &["a /x"],
        )],
    );
}

const MANIFESTS: &[Case] = &[(
    "{\"name\":\"x.y\",\"start_url\":\"../\",\"icons\":[{\"src\":\"i/1.png\",\"sizes\":\"1x1\"}],\"shortcuts\":[{\"url\":\"/new?x\"}]}",
    &["h /", "e /dir/i/1.png", "h /new?x"],
)];

#[test]
fn what_leads_nowhere() {
    let cases: Vec<Case> = NOWHERE.iter().map(|page| (*page, [].as_slice())).collect();
    check_all("text/html", &cases);
}

const NOWHERE: &[&str] = &[
    "<a href=mailto:a@b.c><a href=tel:123><a href=sms:1><a href=ftp://e.com/x>",
    "<a href='javascript:void(0)'><a href='javascript:;'><a href='javascript:history.back()'>",
    "<img src=data:image/png;base64,AAAA><img src=blob:http://example.com/1>",
    "<a href=#top><a href=''><a href><a name=x><a href='  '>",
    "<a href='{{url}}'><a href='/x/{{id}}'><a href='${url}'><a href='<%= url %>'><a href='{% url x %}'>",
    "<img src='<?php echo $src ?>'>",
    "<link rel=preconnect href=//c.example><link rel=dns-prefetch href=//d.example>",
    "<!-- <a href=x> -->",
    "<textarea><a href=x></textarea><title><a href=x></title><xmp><a href=x></xmp>",
    "<script type=text/template><a href=x></script>",
    "<script type=text/x-handlebars>location='/a/b'</script>",
    "<script>// location = '/a/b'</script>",
    "<script>/* location = '/a/b' */</script>",
    "<script>x = /location='\\/a\\/b'/</script>",
    "<script>x = `/a/${b}/c`; y = '/a/' + b; z = b + '/c/d'</script>",
    "<script>x = 'text/html'; y = '/'; z = '1/2/3'; w = 'a, b/c'</script>",
    "<script>x = 'http://www.w3.org/2000/svg'; y = '/user/:id'; z = '/a/%s'</script>",
    "<script>s.replace('/a', 'b'); db.open('x'); if (location == '/a') {}</script>",
    "<div itemtype=http://schema.org/Thing>",
    "<div onclick='toggle(this)' onfocus='this.value=\"\"'>",
    "<table background=red>",
    "<p>http://example.com/only/text</p>",
];

#[test]
fn links_in_advertisements_are_marked() {
    check_all("text/html", ADVERTS);
}

const ADVERTS: &[Case] = &[
    (
        "<div class=ad><a href=x></div><a href=y>",
        &["a /dir/y", "a! /dir/x"],
    ),
    (
        "<aside><div id=banner><a href=x></div><a href=y></aside>",
        &["a /dir/y", "a! /dir/x"],
    ),
    (
        "<ins class=adsbygoogle><a href=x></ins><a href=y>",
        &["a /dir/y", "a! /dir/x"],
    ),
    ("<div class=ad><a href=x></div><a href=x>", &["a /dir/x"]),
    (
        "<nav><div class=ad><a href=x></nav><a href=y>",
        &["a /dir/y", "a! /dir/x"],
    ),
    (
        "<div class=ad><article><a href=x></article></div>",
        &["a /dir/x"],
    ),
    ("<div class=header><a href=x></div>", &["a /dir/x"]),
];

#[test]
fn headers() {
    let links = link_header("</a.css>; rel=preload, <2>; rel=\"next\", <//c>; rel=preconnect");
    let links: Vec<_> = links.iter().map(|l| (l.target, letter(l.kind))).collect();
    assert_eq!(links, [("/a.css", "e"), ("2", "h")]);
    assert_eq!(refresh_header("0; url=/x"), Some("/x"));
    assert_eq!(refresh_header("5"), None);
}

#[test]
fn white_space_before_an_address_is_no_part_of_it() {
    let blank = " \n\t".repeat(700_000);
    for (page, expected) in [
        (format!("<a href='{blank}x'>"), "a /dir/x"),
        (format!("<a href={blank}x>"), "a /dir/x"),
        (format!("<img src=\"{blank}/x{blank}\">"), "e /x"),
        (
            format!("<div style='background:url({blank}x.png)'>"),
            "e /dir/x.png",
        ),
        (
            format!("<meta http-equiv=refresh content='0;{blank}url={blank}x'>"),
            "h /dir/x",
        ),
        (
            format!("<script>location ={blank}'/x/y'</script>"),
            "s /x/y",
        ),
    ] {
        let page = read("text/html", &page);
        let found: Vec<String> = page.links.iter().map(written).collect();
        assert_eq!(found, [expected]);
        assert!(!page.truncated, "{expected}");
    }
}

#[test]
fn scripts_and_styles_of_any_shape_take_linear_time() {
    for piece in [
        "'",
        "\"",
        "`",
        "/",
        "=/[",
        "/*",
        "//",
        "'+",
        "'a'+",
        "location='",
        "\\",
        "'\\",
        "(/'",
        "<a href=",
        "'<a href=x>'+",
        "url(",
        "url('",
        "image-set(",
        "@import '",
        "\n'",
        "/'\n",
    ] {
        let body = piece.repeat(200_000 / piece.len());
        for page in [
            format!("<script>{body}</script>"),
            format!("<style>{body}</style>"),
            format!("<a onclick=\"{}\">", body.replace('"', "")),
        ] {
            read("text/html", &page);
        }
    }
    read(
        "text/html",
        &"<!--[if IE]><a href=x><![endif]-->".repeat(10_000),
    );
    read(
        "text/html",
        &"<iframe srcdoc='<a href=x>'></iframe>".repeat(10_000),
    );
}

#[test]
fn the_bed_is_large() {
    let tables = [
        ELEMENTS,
        META,
        LAZY,
        FORMS,
        STYLE,
        SHEETS,
        SCRIPTS,
        SCRIPT_FILES,
        MANIFESTS,
        ADVERTS,
    ];
    let positive = tables.iter().flat_map(|table| table.iter());
    assert!(positive.filter(|(_, links)| !links.is_empty()).count() >= 120);
}
