"""Sitemaps named in robots.txt: sitemaps.org's protocol, and what breaks it."""

from hostile.build import Endless, Raw, Site, answer, gzip_bomb, head, page, robots
from hostile.judge import asked, at_most, check, never, other, requests_at_most

GOOD = page()
XML = "application/xml"
OPEN = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'


def urlset(*urls):
    return OPEN + "".join(f"<url><loc>{url}</loc></url>\n" for url in urls) + "</urlset>"


def index(*urls):
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>\n" for url in urls)
    return f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</sitemapindex>'


def sites(at):
    def mapped(name, rule, pages, *checks, extra="", **others):
        named = robots(f"User-agent: *\nDisallow: /no\n{extra}Sitemap: {at(name, '/map.xml')}\n")
        return Site(
            name,
            rule,
            {"/robots.txt": named, "/": GOOD, "/ok": GOOD, "/no": GOOD, **pages},
            check(asked("/"), never("/no"), *checks),
            **others,
        )

    def site(name, rule, body, *checks, **how):
        return mapped(
            name,
            rule,
            {"/map.xml": body if not isinstance(body, str) else answer(body, type=XML)},
            *checks,
            **how,
        )

    name = "sitemap: good"
    yield site(name, "sitemaps.org", urlset(at(name, "/ok"), at(name, "/no")), asked("/ok"))
    name = "sitemap: bomb"
    bomb = gzip_bomb(urlset("/ok").encode())
    yield site(name, "50 MB at most", answer(bomb, type="application/gzip"), requests_at_most(8))
    yield site(
        "sitemap: bomb by coding",
        "50 MB at most",
        answer(bomb, type=XML, headers=[("Content-Encoding", "gzip")]),
        requests_at_most(8),
    )
    yield site(
        "sitemap: without end",
        "50 MB at most",
        Raw(head("Content-Type: application/xml") + OPEN.encode(), Endless(b"<url></url>" * 5000)),
        requests_at_most(8),
    )
    name = "sitemap: index of itself"
    yield site(name, "no loops", index(at(name, "/map.xml")), at_most("/map.xml", 3))
    name = "sitemap: index of an index"
    deep = {f"/m{n}.xml": answer(index(at(name, f"/m{n + 1}.xml")), type=XML) for n in range(40)}
    yield mapped(
        name,
        "an index lists no indexes",
        {"/map.xml": answer(index(at(name, "/m0.xml")), type=XML), **deep},
        requests_at_most(30),
    )
    name = "sitemap: sixty thousand entries"
    yield site(
        name,
        "50,000 at most",
        urlset(*(at(name, f"/no/{n}") for n in range(60_000))),
        requests_at_most(8),
    )
    name = "sitemap: entries of the inside"
    yield site(
        name,
        "addresses that were not allowed",
        urlset(
            f"http://127.2.0.1:{at.port}/secret", "http://169.254.169.254/", "file:///etc/passwd"
        ),
        requests_at_most(8),
    )
    name = "sitemap: entries of another host"
    yield site(
        name,
        "sitemaps.org: the other host's robots.txt holds",
        urlset(at(f"{name}: far", "/no")),
        other("far", never("/no")),
        others={"far": {"/robots.txt": robots("User-agent: *\nDisallow: /\n"), "/no": GOOD}},
    )
    laughs = (
        '<!DOCTYPE l [<!ENTITY a "lol">'
        + "".join(f'<!ENTITY {c} "{f"&{p};" * 10}">' for p, c in zip("abcdefghi", "bcdefghij"))
        + "]>"
    )
    name = "sitemap: a billion laughs"
    yield site(
        name,
        "entities are not expanded",
        laughs + f"<urlset><url><loc>{at(name, '/ok')}?&j;</loc></url></urlset>",
        requests_at_most(8),
    )
    name = "sitemap: entity of a file"
    yield site(
        name,
        "external entities are not read",
        '<!DOCTYPE l [<!ENTITY f SYSTEM "file:///etc/hostname">]>' + urlset(at(name, "/?&f;")),
        requests_at_most(8),
    )
    name = "sitemap: cut in the middle"
    yield site(
        name,
        "what came is used",
        urlset(at(name, "/ok"), at(name, "/ok2"))[:-30],
        requests_at_most(8),
    )
    yield site(
        "sitemap: a page instead",
        "every input is parsed",
        answer("<!DOCTYPE html><a href=/ok>x</a>"),
        requests_at_most(8),
    )
    yield site("sitemap: silence", "deadlines", Raw(then="hold"), requests_at_most(9))
    yield site(
        "sitemap: forbidden by robots",
        "RFC 9309 2.2.2",
        urlset(),
        never("/map.xml"),
        extra="Disallow: /map.xml\n",
    )
    name = "sitemap: relative and odd names"
    extra = (
        "Sitemap: /rel.xml\nSitemap:\nSitemap: file:///etc/passwd\nSitemap: http://[\n"
        + "".join(f"Sitemap: {at(name, '/no')}{n}\n" for n in range(2000))
    )
    yield site(
        name, "sitemaps.org: full URLs", urlset(at(name, "/ok")), requests_at_most(10), extra=extra
    )
