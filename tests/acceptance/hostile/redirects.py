"""Redirects: loops, chains, and targets nobody should go to. RFC 9110 10.2.2, 15.4."""

from hostile.build import Site, answer, page, redirect, robots
from hostile.judge import (
    asked,
    at_most,
    check,
    code,
    never,
    only,
    other,
    requests_at_most,
    state,
    title,
)

END = page(title="end")
# 127.2.0.1, where somebody listens whom the crawl may not ask, in the spellings
# a URL parser accepts (WHATWG URL, IPv4 parser), and others of the inside.
INSIDE = {
    "plain": "127.2.0.1", "decimal": "2130837505", "hexadecimal": "0x7f020001", "octal": "0177.02.0.01",
    "of two parts": "127.131073", "of three parts": "127.2.1", "mixed": "0x7f.2.1", "fullwidth": "１２７.２.０.１",
    "percent-encoded": "%31%32%37.2.0.1", "with a final dot": "127.2.0.1.", "mapped": "[::ffff:127.2.0.1]",
    "mapped in hexadecimal": "[::ffff:7f02:1]", "loopback of IPv6": "[::1]", "localhost": "localhost",
    "under localhost": "a.localhost", "nowhere": "0.0.0.0", "with credentials": "user:pw@127.2.0.1",
}  # fmt: skip


def sites(at):
    return [*turning(), *chains(), *targets(at), *inside(at)]


def turning():
    yield Site(
        "redirect to itself",
        "RFC 9110 15.4: detect loops",
        {"/": redirect("/")},
        check(at_most("/", 3)),
    )
    yield Site(
        "redirects in a circle",
        "RFC 9110 15.4: detect loops",
        {"/": redirect("/a"), "/a": redirect("/")},
        check(asked("/a"), requests_at_most(8)),
    )
    grow = lambda request: redirect(request.path + "x")
    yield Site(
        "redirects that grow",
        "RFC 9110 15.4, five redirects",
        {"/": grow, **{"/" + "x" * n: grow for n in range(1, 30)}},
        check(never("/" + "x" * 7)),
    )
    yield Site(
        "redirect without a target",
        "RFC 9110 15.4",
        {"/": redirect(None)},
        check(state("/", "code"), at_most("/", 1)),
    )
    yield Site(
        "redirect to nothing",
        "RFC 9110 10.2.2: the empty reference is the page itself",
        {"/": redirect("")},
        check(at_most("/", 3)),
    )


def chains():
    def chain(length):
        return {
            "/": redirect("/1"),
            **{f"/{n}": redirect(f"/{n + 1}") for n in range(1, length)},
            f"/{length}": END,
        }

    yield Site("five redirects", "limit of five", chain(5), check(asked("/5"), title("/5", "end")))
    yield Site("six redirects", "limit of five", chain(6), check(asked("/5"), never("/6")))
    for status in [
        "301 Moved Permanently",
        "303 See Other",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ]:
        yield Site(
            f"redirect {status[:3]}",
            "RFC 9110 15.4",
            {"/": redirect("/to", status), "/to": END},
            check(code("/", int(status[:3])), title("/to", "end"), at_most("/to", 1)),
        )
    yield Site(
        "300 with a target",
        "RFC 9110 15.4.1: may be followed",
        {"/": redirect("/to", "300 Multiple Choices"), "/to": END},
        check(code("/", 300), at_most("/to", 1)),
    )


def targets(at):
    yield Site(
        "relative redirect",
        "RFC 9110 10.2.2",
        {"/": page("/a/b"), "/a/b": redirect("../c?d"), "/c?d": END},
        check(asked("/c?d")),
    )
    yield Site(
        "redirect with a fragment",
        "RFC 9110 7.1: no fragment in a request",
        {"/": redirect("/to#part"), "/to": END},
        check(only("/", "/to")),
    )
    yield Site(
        "redirect with spaces and controls",
        "RFC 9112 3.2: no such bytes in a request line",
        {"/": redirect("/a b\tc\x01"), "/a%20bc%01": END, "/a%20b%09c%01": END},
        check(requests_at_most(4)),
    )
    yield Site(
        "redirect with a space",
        "URL 4.4: percent-encoded",
        {"/": redirect("/a b"), "/a%20b": END},
        check(only("/", "/a%20b")),
    )
    yield Site(
        "redirect in raw UTF-8",
        "URL 4.4: percent-encoded",
        {"/": redirect("/한".encode().decode("latin-1"))},
        check(only("/", "/%ED%95%9C")),
    )
    yield Site(
        "redirect in raw EUC-KR",
        "RFC 9110 5.5: obs-text is opaque",
        {"/": redirect("/가".encode("euc-kr").decode("latin-1"))},
        check(only("/", "/%B0%A1")),
    )
    yield Site(
        "redirect of 1 MiB",
        "limits",
        {"/": redirect("/" + "x" * (1 << 20))},
        check(requests_at_most(4), never("/x")),
    )
    yield Site(
        "redirect over 2,048 characters",
        "limit of a URL",
        {"/": redirect("/" + "x" * 3000)},
        check(requests_at_most(2)),
    )
    twice = answer("moved", status="302 Found", headers=[("Location", "/a"), ("Location", "/b")])
    yield Site(
        "two targets",
        "RFC 9110 5.3: one field at most",
        {"/": twice, "/a": END, "/b": END},
        check(requests_at_most(3)),
    )
    for name, url in [
        ("a file", "file:///etc/passwd"),
        ("a script", "javascript:alert(1)"),
        ("data", "data:text/html,<a href=/y>"),
        ("FTP", "ftp://127.2.0.1/"),
        ("a scheme of its own", "gopher://127.2.0.1/"),
        ("nonsense", "http://[::1"),
    ]:
        yield Site(
            f"redirect to {name}",
            "RFC 9110 15.4: http and https only",
            {"/": redirect(url)},
            check(only("/"), at_most("/", 1)),
        )
    name = "redirect across sites"
    yield Site(
        name,
        "RFC 9309 2.2: the target's robots.txt is asked first",
        {"/": redirect(at(f"{name}: far", "/to"))},
        check(other("far", asked("/robots.txt", "/to"))),
        others={"far": {"/to": END}},
    )
    name = "redirect to where robots forbid"
    yield Site(
        name,
        "RFC 9309 2.2.2",
        {"/": redirect(at(f"{name}: far", "/to"))},
        check(other("far", only())),
        others={"far": {"/robots.txt": robots("User-agent: *\nDisallow: /\n"), "/to": END}},
    )
    name = "redirect back and forth"
    far = f"{name}: far"
    yield Site(
        name,
        "RFC 9110 15.4: detect loops",
        {"/": redirect(at(far))},
        check(requests_at_most(8)),
        others={"far": {"/": redirect(at(name))}},
    )


def inside(at):
    for name, host in INSIDE.items():
        url = f"http://{host}:{at.port}/secret"
        raw = url.encode().decode("latin-1")
        yield Site(
            f"leading inside: {name}",
            "addresses that were not allowed are not connected to",
            {"/": page("/r", url), "/r": redirect(raw), "/secret": END},
            check(only("/", "/r")),
        )
    for name, host in [
        ("cloud metadata", "169.254.169.254"),
        ("private network", "10.0.0.1"),
        ("unique local", "[fd00:ec2::254]"),
    ]:
        yield Site(
            f"leading inside: {name}",
            "addresses that were not allowed are not connected to",
            {
                "/": page("/r", f"http://{host}/latest/meta-data/"),
                "/r": redirect(f"http://{host}/latest/"),
            },
            check(only("/", "/r"), at_most("/r", 1)),
        )
