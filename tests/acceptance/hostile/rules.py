"""robots.txt: whose group holds, and which paths a rule is about. RFC 9309 2.2.1 to 2.2.3."""

from hostile.build import Site, page
from hostile.build import robots as file
from hostile.judge import asked, check
from hostile.robots import GOOD, NO, open_, ruled


def sites(at):
    return [*groups(), *matching()]


def groups():
    """Which group is ours."""
    both = "User-agent: *\nDisallow: /\n\nUser-agent: {}\nDisallow: /no\n"
    own = "RFC 9309 2.2.1: the group of the product token"
    yield ruled("robots: our own group", own, both.format("geomi"))
    yield ruled("robots: our group in capitals", own + ", case-insensitive", both.format("GEOMI"))
    yield ruled(
        "robots: our group comes first",
        own,
        "User-agent: geomi\nDisallow: /no\n\nUser-agent: *\nDisallow: /\n",
    )
    yield ruled(
        "robots: our group twice",
        "RFC 9309 2.2.1: groups are combined",
        "User-agent: geomi\nDisallow: /no\n\nUser-agent: x\nDisallow: /ok\n\nUser-agent: geomi\nDisallow: /never\n",
        refused=("/no", "/never"),
    )
    yield ruled(
        "robots: a group of several",
        own,
        "User-agent: other\nUser-agent: geomi\nUser-agent: third\nDisallow: /no\n\nUser-agent: *\nDisallow: /\n",
    )
    yield ruled(
        "robots: a longer name than ours",
        own + ", not a beginning of it",
        "User-agent: geomibot\nDisallow: /\n\n" + NO,
    )
    yield ruled("robots: a shorter name than ours", own, "User-agent: geo\nDisallow: /\n\n" + NO)
    yield open_(
        "robots: only others are named",
        "RFC 9309 2.2.1: no group, no rules",
        file("User-agent: other\nDisallow: /\n"),
    )
    yield open_(
        "robots: our group is empty",
        "RFC 9309 2.2.1",
        file("User-agent: geomi\nDisallow:\n\nUser-agent: *\nDisallow: /\n"),
    )
    yield ruled(
        "robots: a blank line inside a group",
        "RFC 9309 2.2: blank lines mean nothing",
        "User-agent: *\n\n\nDisallow: /no\n",
    )
    yield ruled(
        "robots: two groups for all",
        "RFC 9309 2.2.1: combined",
        NO + "User-agent: *\nDisallow: /never\n",
        refused=("/no", "/never"),
    )


def matching():
    """Which paths a rule is about."""
    every = "User-agent: *\n"
    most = "RFC 9309 2.2.2: the most octets win"
    yield ruled(
        "robots: the longest rule",
        most,
        every + "Disallow: /a\nAllow: /a/b\nDisallow: /a/b/c\n",
        ("/a/b/x",),
        ("/a/x", "/a/b/c/x"),
    )
    yield ruled(
        "robots: rules of one length",
        "RFC 9309 2.2.2: allow wins",
        every + "Disallow: /page\nAllow: /page\n",
        ("/page",),
        (),
    )
    yield ruled(
        "robots: allow after disallow all",
        most,
        every + "Disallow: /\nAllow: /ok\nAllow: /$\n",
        ("/ok",),
        ("/no", "/other"),
    )
    yield ruled(
        "robots: letters of two cases",
        "RFC 9309 2.2.2: case-sensitive",
        every + "Disallow: /No\n",
        ("/no",),
        ("/No",),
    )
    star = "RFC 9309 2.2.3: * is any sequence"
    yield ruled(
        "robots: star in the middle",
        star,
        every + "Disallow: /*/no/\n",
        ("/no/x",),
        ("/a/no/x", "/a/b/no/x"),
    )
    yield ruled(
        "robots: star and end",
        star + ", $ the end",
        every + "Disallow: /*.php$\n",
        ("/a.php?x=1", "/a.php5"),
        ("/a.php", "/b/c.php"),
    )
    yield ruled(
        "robots: end only",
        "RFC 9309 2.2.3: $ is the end",
        every + "Disallow: /no$\n",
        ("/no/x", "/noo"),
        ("/no",),
    )
    yield ruled(
        "robots: dollar inside",
        "RFC 9309 2.2.3: $ ends a pattern only",
        every + "Disallow: /a$b\n",
        ("/a",),
        ("/a$b",),
    )
    yield ruled(
        "robots: the query counts",
        "RFC 9309 2.2.2",
        every + "Disallow: /*?id=\n",
        ("/a?x=1", "/b"),
        ("/a?id=1", "/b?id=2"),
    )
    octets = "RFC 9309 2.2.2: octets compared, percent-encoded alike"
    hangul = "/%ED%95%9C"
    yield ruled(
        "robots: Hangul in the rule", octets, every + "Disallow: /한\n", ("/ok",), (hangul + "x",)
    )
    yield ruled(
        "robots: Hangul percent-encoded",
        octets,
        every + "Disallow: /%ed%95%9c\n",
        ("/ok",),
        (hangul + "x",),
    )
    yield ruled(
        "robots: unreserved percent-encoded",
        octets,
        every + "Disallow: /%7Euser\nDisallow: /%6Eo\n",
        ("/ok",),
        ("/~user/x", "/no"),
    )
    yield ruled(
        "robots: a slash percent-encoded",
        octets + "; reserved stay apart",
        every + "Disallow: /a%2Fb\n",
        ("/a/b",),
        ("/a%2Fb",),
    )
    bomb = every + "Disallow: /" + "*a" * 900 + "*b\n"
    yield ruled("robots: a bomb of stars", "RFC 9309 2.2.3, in time", bomb, ("/" + "a" * 1900,), ())
    yield Site(
        "robots: itself forbidden",
        "RFC 9309 2.2.2: /robots.txt is always allowed",
        {"/robots.txt": file(every + "Disallow: /robots.txt\n"), "/": page("/ok"), "/ok": GOOD},
        check(asked("/", "/ok")),
    )
