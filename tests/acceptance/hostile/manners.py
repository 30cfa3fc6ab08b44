"""Asking to wait, and links that lead on and on."""

import time
from email.utils import formatdate

from hostile.build import Site, answer, page
from hostile.judge import asked, at_most, check, pause, requests_at_most, state


def sites(at):
    return [*waiting(), *traps()]


def busy(value, status="503 Service Unavailable"):
    """A page that is there at the second request only."""

    def said(request):
        wanted = value() if callable(value) else value
        fields = [("Retry-After", wanted)] if wanted is not None else []
        return (
            page(title="here")
            if request.asked_before
            else answer("busy", status=status, headers=fields)
        )

    return said


def waiting():
    rule = "RFC 9110 10.2.3"
    yield Site(
        "retry after three seconds",
        rule,
        {"/": busy("3")},
        check(state("/", "OK"), pause("/", "/", 3.0)),
    )
    yield Site(
        "retry after three seconds, 429",
        rule + ", RFC 6585 4",
        {"/": busy("3", "429 Too Many")},
        check(state("/", "OK"), pause("/", "/", 3.0)),
    )
    date = lambda: formatdate(time.time() + 9, usegmt=True)
    # The date has whole seconds, so up to one of the nine is lost.
    yield Site(
        "retry at a date", rule, {"/": busy(date)}, check(state("/", "OK"), pause("/", "/", 7.9))
    )
    old = lambda: time.strftime("%A, %d-%b-%y %H:%M:%S GMT", time.gmtime(time.time() + 9))
    yield Site(
        "retry at a date of RFC 850",
        "RFC 9110 5.6.7: obsolete forms are accepted",
        {"/": busy(old)},
        check(state("/", "OK"), pause("/", "/", 7.9)),
    )
    yield Site(
        "retry at a date of asctime",
        "RFC 9110 5.6.7: obsolete forms are accepted",
        {"/": busy(lambda: time.asctime(time.gmtime(time.time() + 9)))},
        check(state("/", "OK"), pause("/", "/", 7.9)),
    )
    for value in [
        "-5",
        "abc",
        "1e9",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Fri, 99 Foo 2099 99:99:99 GMT",
        "",
    ]:
        yield Site(
            f"retry after {value or 'nothing'}",
            rule + ": no panic, no stall",
            {"/": busy(value)},
            check(requests_at_most(4)),
        )
    yield Site(
        "retry after a day",
        "a wait over max_wait retires the site",
        {"/": page("/b", "/c"), "/b": busy("86400"), "/c": page()},
        check(at_most("/b", 1)),
    )
    yield Site(
        "retry after more seconds than there are",
        "RFC 9110 10.2.3: no overflow",
        {"/": busy("9" * 40)},
        check(at_most("/", 1)),
    )
    yield Site(
        "retry in the year 9999",
        "a wait over max_wait retires the site",
        {"/": busy("Fri, 31 Dec 9999 23:59:59 GMT")},
        check(at_most("/", 1)),
    )
    always = answer("slow down", status="429 Too Many Requests")
    yield Site(
        "storm of 429",
        "RFC 6585 4",
        {"/": page(*(f"/p{n}" for n in range(10))), **{f"/p{n}": always for n in range(10)}},
        check(requests_at_most(35)),
    )
    yield Site(
        "storm of 503",
        "RFC 9110 15.6.4",
        {
            "/": page(*(f"/p{n}" for n in range(10))),
            **{f"/p{n}": answer(status="503 No") for n in range(10)},
        },
        check(requests_at_most(35)),
    )


# A trap's server gives up after so many pages: a crawler that is caught is told
# from one that is not, and the crawl comes to its end either way.
TRAP = 40


def trap(name, rule, grow, most):
    """Each page links to the next, which `grow` makes of its path."""
    pages, path = {}, "/"
    for number in range(TRAP):
        following = grow(path, number)
        pages[path] = page(following, "/a", text=f"page {number}")
        path = following
    pages["/a"] = page(title="a")
    # Where the part that differs is taken off.
    pages.setdefault("/s", pages[grow("/", 0)] if "#" not in grow("/", 0) else page(grow("/", 1)))
    return Site(name, rule, pages, check(asked("/a"), requests_at_most(most)))


def traps():
    yield trap(
        "trap: a segment repeated",
        "REQUIREMENTS C6: repeated path segments",
        lambda path, n: path + "x/",
        20,
    )
    yield trap("trap: two segments repeated", "REQUIREMENTS C6", lambda path, n: path + "a/b/", 20)
    yield trap(
        "trap: ever longer names",
        "REQUIREMENTS C6: URL length",
        lambda path, n: path + f"{n:0200}",
        14,
    )
    yield trap(
        "trap: session in the query",
        "REQUIREMENTS C6: session ids",
        lambda path, n: f"/s?PHPSESSID={n:032x}",
        6,
    )
    yield trap(
        "trap: session in the path",
        "REQUIREMENTS C6: session ids",
        lambda path, n: f"/s;jsessionid={n:032X}",
        6,
    )
    yield trap(
        "trap: tracking in the query", "REQUIREMENTS C6", lambda path, n: f"/s?utm_source=x{n}", 6
    )
    yield trap(
        "trap: spellings of one page",
        "URL 4.5: fragments are not sent",
        lambda path, n: f"/s#{n}",
        5,
    )
    yield trap("trap: dots that stay in place", "URL 4.4", lambda path, n: "/s/" + "../s/" * n, 5)
