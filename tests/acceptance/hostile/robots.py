"""robots.txt: RFC 9309, and what Google documents where the RFC is silent.

Every site's front page links to /ok, /no and some more; the file decides which
of them may be asked for.
"""

import gzip

from hostile.build import Endless, Raw, Site, answer, gzip_bomb, head, page, redirect
from hostile.build import robots as file
from hostile.judge import asked, at_most, check, never, only, other, pause, requests_at_most

GOOD = page()
NO = "User-agent: *\nDisallow: /no\n"


def ruled(name, rule, text, allowed=("/ok",), refused=("/no",), **how):
    """A site whose robots.txt permits some links and refuses others."""
    reply = text if not isinstance(text, str) else file(text, **how)
    links = [*allowed, *refused]
    pages = {"/robots.txt": reply, "/": page(*links), **{path: GOOD for path in links}}
    return Site(name, rule, pages, check(only("/", *allowed), at_most("/robots.txt", 1)))


def shut(name, rule, reply, **others):
    """A site that may not be asked for anything."""
    return Site(
        name,
        rule,
        {"/robots.txt": reply, "/": page("/ok")},
        check(only(), at_most("/robots.txt", 4)),
        **others,
    )


def open_(name, rule, reply):
    """A site that may be asked for everything."""
    return Site(
        name,
        rule,
        {"/robots.txt": reply, "/": page("/ok"), "/ok": GOOD},
        check(only("/", "/ok"), at_most("/robots.txt", 3)),
    )


def sites(at):
    return [*absent(), *moved(at), *shapes(), *delays(), *sizes()]


def absent():
    """Files that cannot be had, or should not have been."""
    yield shut(
        "robots: everything forbidden", "RFC 9309 2.2.2", file("User-agent: *\nDisallow: /\n")
    )
    for status in [
        "400 Bad Request",
        "401 Unauthorized",
        "403 Forbidden",
        "404 Not Found",
        "410 Gone",
        "451 Unavailable",
    ]:
        yield open_(
            f"robots: {status[:3]}",
            "RFC 9309 2.3.1.3: unavailable, all is allowed",
            answer("no", status=status),
        )
    for status in [
        "429 Too Many Requests",
        "500 Internal Server Error",
        "502 Bad Gateway",
        "503 Service Unavailable",
        "599 Odd",
    ]:
        yield shut(
            f"robots: {status[:3]}",
            "RFC 9309 2.3.1.4: unreachable, all is forbidden (429 as Google does)",
            answer(NO, status=status),
        )
    yield shut("robots: silence", "RFC 9309 2.3.1.4: unreachable", Raw(then="hold"))
    yield shut("robots: reset", "RFC 9309 2.3.1.4: unreachable", Raw(then="reset"))
    yield shut("robots: closed", "RFC 9309 2.3.1.4: unreachable", Raw())
    yield shut("robots: not HTTP", "RFC 9309 2.3.1.4: unreachable", Raw(b"220 mail.test ESMTP\r\n"))
    cut = head("Content-Type: text/plain", "Content-Length: 9999") + NO.encode()
    yield Site(
        "robots: cut short",
        "RFC 9309 2.3.1.4: what came of it holds at least",
        {"/robots.txt": Raw(cut), "/": page("/no")},
        check(never("/no"), at_most("/robots.txt", 4)),
    )
    yield open_("robots: empty", "RFC 9309 2.2: no rules", file(""))
    yield open_("robots: 204", "RFC 9309 2.3.1.1", head(version="HTTP/1.1 204 No Content"))
    yield open_(
        "robots: a page of HTML instead",
        "RFC 9309 2.3.1.1: what can be parsed",
        answer("<!DOCTYPE html><p>User-agent matters</p>"),
    )
    later = lambda request: (
        file(NO)
        if request.asked_before
        else answer("no", status="503 Busy", headers=[("Retry-After", "2")])
    )
    yield Site(
        "robots: 503 at first",
        "RFC 9309 2.3.1.4: may be asked again",
        {"/robots.txt": later, "/": page("/no")},
        check(never("/no"), at_most("/robots.txt", 3)),
    )


def moved(at):
    """Files behind redirects."""

    def hops(count):
        names = ["/robots.txt", *(f"/r{n}" for n in range(1, count))]
        pages = {here: redirect(there) for here, there in zip(names, [*names[1:], "/rules"])}
        return {**pages, "/rules": file(NO), "/": page("/ok", "/no"), "/ok": GOOD, "/no": GOOD}

    for count in (1, 5):
        yield Site(
            f"robots: {count} redirects",
            "RFC 9309 2.3.1.2: at least five are followed",
            hops(count),
            check(asked("/rules", "/ok"), never("/no")),
        )
    yield Site(
        "robots: nine redirects",
        "RFC 9309 2.3.1.2: may be unavailable",
        hops(9),
        check(requests_at_most(20)),
    )
    yield Site(
        "robots: redirect to itself",
        "RFC 9309 2.3.1.2",
        {"/robots.txt": redirect("/robots.txt"), "/": page()},
        check(at_most("/robots.txt", 8)),
    )
    yield Site(
        "robots: redirect without a target",
        "RFC 9309 2.3.1.2",
        {"/robots.txt": redirect(None), "/": page()},
        check(at_most("/robots.txt", 4)),
    )
    name = "robots: redirect to another host"
    yield Site(
        name,
        "RFC 9309 2.3.1.2: the rules are the first host's",
        {
            "/robots.txt": redirect(at(f"{name}: far", "/rules")),
            "/": page("/ok", "/no"),
            "/ok": GOOD,
            "/no": GOOD,
        },
        check(only("/", "/ok"), other("far", asked("/rules"))),
        others={"far": {"/rules": file(NO)}},
    )
    yield Site(
        "robots: redirect inside",
        "addresses that were not allowed",
        {"/robots.txt": redirect(f"http://127.2.0.1:{at.port}/robots.txt"), "/": page()},
        check(at_most("/robots.txt", 4)),
    )
    yield Site(
        "robots: redirect to a file",
        "RFC 9110 15.4",
        {"/robots.txt": redirect("file:///etc/passwd"), "/": page()},
        check(at_most("/robots.txt", 4)),
    )


def shapes():
    """The file as bytes: line ends, marks, rubbish."""
    parse = "RFC 9309 2.2: what can be parsed is used"
    yield ruled("robots: byte order mark", "Google: ignored", "\ufeff" + NO)
    yield ruled(
        "robots: line ends of the Mac",
        "RFC 9309 2.2: EOL is CR, LF or CRLF",
        NO.replace("\n", "\r"),
    )
    yield ruled("robots: line ends of DOS", "RFC 9309 2.2", NO.replace("\n", "\r\n"))
    yield ruled("robots: no last line end", "RFC 9309 2.2", NO.rstrip())
    yield ruled(
        "robots: rubbish in the middle",
        parse,
        file(b"User-agent: *\n\xff\xfe\x00\x01\x80 rubbish\n\0\0\nDisallow: /no\n"),
    )
    yield ruled(
        "robots: markup around the rules",
        parse,
        "<html><pre>\n" + NO + "</pre></html>\n",
        type="text/html",
    )
    yield ruled(
        "robots: another content type",
        "Google: types are not looked at",
        NO,
        type="application/octet-stream",
    )
    yield ruled(
        "robots: compressed",
        "RFC 9110 8.4",
        file(gzip.compress(NO.encode()), headers=[("Content-Encoding", "gzip")]),
    )
    yield ruled(
        "robots: in chunks",
        "RFC 9112 7.1",
        head("Transfer-Encoding: chunked")
        + b"".join(b"1\r\n%c\r\n" % c for c in NO.encode())
        + b"0\r\n\r\n",
    )
    yield ruled(
        "robots: spaces and comments",
        "RFC 9309 2.2",
        "  User-agent  :  *  # all\n\tDisallow\t:\t/no # that\n# Disallow: /ok\n",
    )
    yield ruled(
        "robots: names in capitals",
        "RFC 9309 2.2: case-insensitive",
        "USER-AGENT: *\nDISALLOW: /no\n",
    )
    yield ruled(
        "robots: unknown lines",
        "RFC 9309 2.2.4: do not interfere",
        "User-agent: *\nHost: x\nSitemap: nonsense\nNoindex: /ok\nDisallow: /no\nClean-param: a /\n",
    )
    yield ruled(
        "robots: a rule before any group",
        "RFC 9309 2.2.1: a rule belongs to a group",
        "Disallow: /ok\n" + NO,
    )


def delays():
    """Crawl-delay, which no RFC knows and the contract honours."""

    def delayed(value, name):
        return {
            "/robots.txt": file(f"User-agent: *\nCrawl-delay: {value}\n"),
            "/": page("/ok"),
            "/ok": GOOD,
        }

    yield Site(
        "robots: delay of three seconds",
        "Crawl-delay is honoured",
        delayed(3, "three"),
        check(pause("/", "/ok", 3.0)),
    )
    yield Site(
        "robots: delay with a fraction",
        "Crawl-delay is honoured",
        delayed("1.5", "half"),
        check(pause("/", "/ok", 1.5)),
    )
    yield Site(
        "robots: delay of a day",
        "a wait over max_wait retires the site",
        delayed(86400, "day"),
        check(requests_at_most(2)),
    )
    for value in ["-5", "abc", "nan", "inf", "1e400"]:
        yield Site(
            f"robots: delay of {value}",
            "no panic, no stall",
            delayed(value, value),
            check(requests_at_most(3)),
        )
    yield Site(
        "robots: delay of more seconds than there are",
        "a wait over max_wait retires the site",
        delayed("9" * 40, "long"),
        check(requests_at_most(2)),
    )
    yield Site(
        "robots: another's delay",
        "RFC 9309 2.2.1",
        {
            "/robots.txt": file("User-agent: x\nCrawl-delay: 99999\n\n" + NO),
            "/": page("/ok"),
            "/ok": GOOD,
        },
        check(asked("/ok")),
    )


def sizes():
    """Files that are large."""
    filler = "# nothing to see here, only filling up the file\n"
    limit = "RFC 9309 2.5: at least 500 KiB are parsed"
    yield ruled(
        "robots: a rule after 400 KiB",
        limit,
        "User-agent: *\n" + filler * (400 * 1024 // len(filler)) + "Disallow: /no\n",
    )
    yield ruled(
        "robots: 20 MiB of comments", limit, NO + filler * (20 * 1024 * 1024 // len(filler))
    )
    yield ruled(
        "robots: without end",
        limit,
        Raw(head("Content-Type: text/plain") + NO.encode(), Endless(filler.encode() * 999)),
    )
    yield ruled("robots: a line of 1 MiB", limit, NO + "Disallow: /" + "x" * (1 << 20) + "\n")
    yield ruled(
        "robots: ten thousand rules",
        limit,
        NO + "".join(f"Disallow: /d{n}\n" for n in range(10_000)),
    )
    yield ruled(
        "robots: ten thousand groups",
        limit,
        "".join(f"User-agent: bot{n}\nDisallow: /\n" for n in range(10_000)) + NO,
    )
    bomb = gzip_bomb(NO.encode(), b"#")
    yield ruled("robots: a bomb", limit, file(bomb, headers=[("Content-Encoding", "gzip")]))
