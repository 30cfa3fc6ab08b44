"""Pages: markup without measure, odd links, wrong types. WHATWG HTML and URL."""

from hostile.build import Site, answer, page, robots
from hostile.judge import (
    asked,
    at_most,
    check,
    never,
    only,
    requests_at_most,
    state,
)


def sites(at):
    return [*markup(at), *links(), *types(), *manners()]


def plain(name, rule, body, *checks):
    body = body if isinstance(body, bytes) else body.encode()
    return Site(name, rule, {"/": answer(body), "/a": page()}, check(state("/", "OK"), *checks))


def markup(at):
    parse = "HTML 13.2: every input is parsed, in time and memory"
    link = '<a href="/a">a</a>'
    yield plain("a hundred thousand nested tags", parse, "<div>" * 100_000 + link)
    yield plain("a hundred thousand nested tables", parse, "<table><tr><td>" * 100_000 + link)
    yield plain("a hundred thousand formatting tags", parse, "<b><i><p>" * 100_000 + link)
    yield plain("attribute of 10 MB", parse, f'<p class="{"x" * 10_000_000}">{link}', asked("/a"))
    yield plain(
        "link of 10 MB",
        parse,
        f'<a href="/{"x" * 10_000_000}">x</a>{link}',
        asked("/a"),
        requests_at_most(4),
    )
    yield plain(
        "a hundred thousand attributes",
        parse,
        "<p " + " ".join(f"a{n}=b" for n in range(100_000)) + f">{link}",
        asked("/a"),
    )
    yield plain("tag that is never closed", parse, f"{link}<p " + "x" * 5_000_000, asked("/a"))
    yield plain(
        "comment that is never closed", parse, f"{link}<!-- " + "- " * 2_500_000, asked("/a")
    )
    yield plain(
        "script that is never closed",
        parse,
        f"{link}<script>" + '"<a href=/no>" ' * 100_000,
        asked("/a"),
        never("/no"),
    )
    yield plain("title of 5 MB", parse, f"<title>{'t' * 5_000_000}</title>{link}", asked("/a"))
    yield plain("a million entities", parse, f"<p>{'&nbsp;&#x41;' * 500_000}{link}", asked("/a"))
    yield plain("NUL bytes", parse, b"<p>\0\0\0<a href=/a>\0a</a>" + b"\0" * 1_000_000, asked("/a"))
    yield plain(
        "half a million links to one page",
        parse,
        "".join(f"<a href=/a#{n}>x</a>" for n in range(500_000)),
        asked("/a"),
        at_most("/a", 1),
    )
    yield plain(
        "half a million base elements",
        "HTML 4.2.3: the first counts",
        "<base href=/b/>" * 500_000 + '<a href="../a">',
        asked("/a"),
    )
    many = "".join(f"<a href=/no/{n}>x</a>" for n in range(500_000))
    yield Site(
        "half a million forbidden links",
        "RFC 9309 2.2.2",
        {"/robots.txt": robots("User-agent: *\nDisallow: /no/\n"), "/": answer(many)},
        check(state("/", "OK"), only("/")),
    )
    absent = "".join(
        f'<a href="http://127.1.{200 + n // 200}.{n % 200 + 1}:{at.port}/">x</a>'
        for n in range(1000)
    )
    yield Site(
        "a thousand hosts that are not there",
        "they end, and hold up nobody",
        {"/": answer(absent + link), "/a": page()},
        check(only("/", "/a")),
    )
    foreign = "".join(f'<a href="http://10.{n >> 8}.{n & 255}.1/">x</a>' for n in range(20_000))
    yield Site(
        "twenty thousand hosts of the inside",
        "addresses that were not allowed",
        {"/": answer(foreign)},
        check(only("/")),
    )


def links():
    """How a link becomes a request: URL 4.4, HTML 2.4.3."""

    def linked(name, rule, href, wanted, body=None, type="text/html; charset=utf-8", also=()):
        text = body or f'<a href="{href}">x</a>'
        return Site(
            name,
            rule,
            {"/": answer(text, type=type), wanted: page()},
            check(only("/", wanted, *also)),
        )

    url = "URL 4.4"
    yield linked(
        "link: white space around and inside",
        url + ": stripped and removed",
        " \n\t/a\nb\tc \n",
        "/abc",
    )
    yield linked("link: backslashes", url + ": are slashes", "\\a\\b", "/a/b")
    yield linked("link: dots", url + ": shortened", "/x/../y/./z/%2e%2E/a", "/y/a")
    yield linked("link: beyond the root", url + ": shortened", "/../../../a", "/a")
    yield linked(
        "link: Hangul in the path", url + ": UTF-8, percent-encoded", "/한글", "/%ED%95%9C%EA%B8%80"
    )
    yield linked(
        "link: Hangul in the query of EUC-KR",
        "HTML 2.4.3: the query in the page's encoding",
        "",
        "/%ED%95%9C?q=%C7%D1",
        body='<a href="/한?q=한">x</a>'.encode("euc-kr"),
        type="text/html; charset=euc-kr",
    )
    yield linked("link: entities", "HTML 13.2.5.72", "/a?b=1&amp;c=2&#x26;d=3", "/a?b=1&c=2&d=3")
    yield linked("link: fragment", "RFC 9110 7.1", "/a#b", "/a")
    yield linked("link: base", "HTML 4.2.3", "", "/b/a", body='<base href="/b/c"><a href="a">x</a>')
    yield linked(
        "link: base of a script",
        "HTML 4.2.3: data: and javascript: are no bases",
        "",
        "/a",
        body='<base href="javascript:x"><a href="/a">x</a>',
    )
    yield linked(
        "link: two bases",
        "HTML 4.2.3: the first counts",
        "",
        "/b/a",
        body='<base href="/b/"><base href="/c/"><a href="a">x</a>',
    )
    odd = [
        "mailto:a@b",
        "tel:1",
        "javascript:go('/no')",
        "data:text/html,<a href=/no>",
        "about:blank",
        "http://",
        "http://[",
        "http://a b/",
        "http://%zz/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://127.2.0.1:99999/",
        "blob:x",
        "ws://127.2.0.1/",
        "#",
        "?",
    ]
    yield Site(
        "link: nonsense of every kind",
        "URL 4.4: failures are no links",
        {"/": page(*odd, "/a"), "/a": page()},
        check(asked("/a"), never("/no"), requests_at_most(4)),
    )
    yield Site(
        "link: in comments and scripts",
        "HTML 13.2",
        {
            "/": answer(
                "<!-- <a href=/no1> --><script>'<a href=/no2>'</script><style><a href=/no3></style>"
                "<textarea><a href=/no4></textarea><template><a href=/no5></template><title><a href=/no6></title><a href=/a>"
            ),
            "/a": page(),
        },
        check(asked("/a"), never("/no1", "/no2", "/no3", "/no4", "/no6")),
    )


def types():
    """Types that are wrong, missing or nonsense."""
    link = '<!DOCTYPE html><title>t</title><a href="/a">a</a>'
    noise = bytes(n * 73 % 256 for n in range(200_000))
    yield Site(
        "type: none",
        "RFC 9110 8.3: may be sniffed",
        {"/": answer(link, type=None), "/a": page()},
        check(state("/", "OK", "code")),
    )
    yield Site(
        "type: nonsense",
        "RFC 9110 8.3",
        {"/": answer(link, type=";;;/"), "/a": page()},
        check(state("/", "OK", "code")),
    )
    yield Site(
        "type: very long",
        "limits",
        {"/": answer(link, type="text/html; x=" + "y" * 20_000), "/a": page()},
        check(state("/", "OK", "code", "hErr")),
    )
    yield Site(
        "type: plain text with markup",
        "MIME sniffing: text/plain is never HTML",
        {"/": answer(link, type="text/plain"), "/a": page()},
        check(only("/")),
    )
    yield Site(
        "type: a picture called HTML",
        "every input is parsed",
        {"/": answer(b"\x89PNG\r\n\x1a\n" + noise), "/a": page()},
        check(state("/", "OK", "code")),
    )
    yield Site(
        "type: HTML called a picture",
        "RFC 9110 8.3",
        {"/": answer(link, type="image/png"), "/a": page()},
        check(only("/")),
    )
    yield Site(
        "type: broken XML",
        "every input is parsed",
        {
            "/": answer(
                '<?xml version="1.0"?><html xmlns="x"><a href="/a"><b></a>',
                type="application/xhtml+xml",
            ),
            "/a": page(),
        },
        check(state("/", "OK", "code")),
    )
    laughs = (
        '<!DOCTYPE l [<!ENTITY a "lol">'
        + "".join(f'<!ENTITY {c} "{f"&{p};" * 10}">' for p, c in zip("abcdefghi", "bcdefghij"))
        + "]><l>&j;</l>"
    )
    yield Site(
        "type: a billion laughs",
        "entities are not expanded",
        {"/": answer(laughs, type="application/xml")},
        check(state("/", "OK", "code")),
    )


def manners():
    """What a page asks of robots."""
    obey = "the page's word on its links is kept (crawl.nofollow)"
    no = page("/no", title="t")
    for name, meta in [
        ("meta", '<meta name="robots" content="nofollow">'),
        ("meta in capitals", '<META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW">'),
        ("none", '<meta name=robots content="none">'),
        ("our name", '<meta name="geomi" content="nofollow">'),
    ]:
        yield Site(
            f"nofollow: {name}", obey, {"/": page("/no", head=meta), "/no": no}, check(only("/"))
        )
    yield Site(
        "nofollow: header",
        obey,
        {"/": page("/no", headers=[("X-Robots-Tag", "noindex, nofollow")]), "/no": no},
        check(only("/")),
    )
    yield Site(
        "nofollow: header with our name",
        obey,
        {"/": page("/no", headers=[("X-Robots-Tag", "geomi: nofollow")]), "/no": no},
        check(only("/")),
    )
    yield Site(
        "nofollow: header for another",
        obey,
        {"/": page("/a", headers=[("X-Robots-Tag", "otherbot: nofollow")]), "/a": page()},
        check(only("/", "/a")),
    )
    yield Site(
        "nofollow: one link",
        obey,
        {
            "/": answer('<a rel="external NoFollow" href="/no">x</a><a href="/a">x</a>'),
            "/a": page(),
        },
        check(only("/", "/a")),
    )
    yield Site(
        "noindex only",
        "noindex says nothing of links",
        {"/": page("/a", head='<meta name="robots" content="noindex">'), "/a": page()},
        check(only("/", "/a")),
    )
