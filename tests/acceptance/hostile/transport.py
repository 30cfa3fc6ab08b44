"""Answers that stall, break off, lie about their length or are no HTTP.

The rules are RFC 9112 (HTTP/1.1) and RFC 9110. Most misbehave on /x, which the
front page links to before /after: that the connection of /x is not used for
/after is then in the server's log.
"""

from hostile.build import CHUNKED, FORGED, NO_LENGTH, Endless, Raw, Site, answer, chunks, head, page
from hostile.judge import (
    GAVE_UP,
    afresh,
    asked,
    at_most,
    check,
    code,
    cut,
    never,
    requests_at_most,
    state,
    title,
)

X = b"<title>x</title><p>text</p>"
LONG = b"<p>" + b"words and words " * 4096
LENGTH = head("Content-Type: text/html", "Content-Length: %d" % len(X))
HALF = head("Content-Type: text/html", "Content-Length: 100000")
ANY = ("OK", "code", "dTim", "hTim", *GAVE_UP)
# What a header without usable framing ends in.
FAULTY = (*GAVE_UP, "hTim", "dTim")


def broken(name, rule, x, *checks, reuse="never"):
    """A site whose /x misbehaves between good pages."""
    pages = {"/": page("/x", "/after"), "/x": x, "/after": page(title="after")}
    wanted = [title("/after", "after"), state("/after", "OK"), never("/forged")]
    if reuse == "never":
        wanted.append(afresh("/x", "/after"))
    return Site(name, rule, pages, check(*checks, *wanted, at_most("/x", 3)))


def once(reply):
    """Misbehaves at the first request only: sixty seconds are enough."""
    return lambda request: page(title="x") if request.asked_before else reply


def first(path, state):
    """The first visit of the path ended in this network state."""

    def judged(_, visits):
        got = [visit["state"] for visit in visits if visit["path"] == path][:1]
        if got != [state]:
            yield f"{path}: first {got}, not {state}"

    return judged


def sites(at):
    return [*endings(), *interim(), *connections()]


def endings():
    """Answers that do not come to an end, or to the wrong one."""
    yield broken(
        "endless body",
        "RFC 9112 6.3 rule 8, byte limit",
        Raw(NO_LENGTH, Endless(LONG)),
        state("/x", *ANY),
        cut("/x"),
    )
    yield broken(
        "endless chunks",
        "RFC 9112 7.1, byte limit",
        Raw(CHUNKED, Endless(b"10000\r\n" + LONG[:65536] + b"\r\n")),
        state("/x", *ANY),
        cut("/x"),
    )
    yield broken(
        "one chunk of 16 EiB",
        "RFC 9112 7.1: large sizes, no overflow",
        Raw(CHUNKED + b"fffffffffffffff0\r\n", Endless(LONG)),
        state("/x", *ANY),
        cut("/x"),
    )
    yield broken(
        "length of 8 EiB",
        "RFC 9110 8.6: large decimals, no overflow",
        Raw(head("Content-Type: text/html", "Content-Length: 9223372036854775807"), Endless(LONG)),
        state("/x", *ANY),
        cut("/x"),
    )
    yield broken(
        "silence instead of an answer", "deadline of silence", Raw(then="hold"), state("/x", "hTim")
    )
    yield broken(
        "silence in the header",
        "deadline of silence",
        Raw(b"HTTP/1.1 200 OK\r\nX-Half: th", then="hold"),
        state("/x", "hTim"),
    )
    yield broken(
        "silence in the body",
        "deadline of silence",
        Raw(HALF + b"<p>half", then="hold"),
        state("/x", "dTim"),
    )
    yield broken(
        "silence in a chunk",
        "deadline of silence",
        Raw(CHUNKED + b"100\r\n<p>half", then="hold"),
        state("/x", "dTim"),
    )
    yield broken(
        "silence before the last chunk",
        "deadline of silence",
        Raw(CHUNKED + chunks(X, last=b""), then="hold"),
        state("/x", "dTim"),
    )
    yield broken(
        "first byte after three seconds",
        "slow, within the deadline",
        Raw(3.0, LENGTH + X, then="keep"),
        state("/x", "OK"),
        reuse="allowed",
    )
    yield broken(
        "first byte after eight seconds",
        "slow, beyond the deadline",
        Raw(8.0, LENGTH + X),
        state("/x", "hTim"),
    )
    yield broken(
        "drip of the header",
        "deadline of the whole answer",
        once(Raw(b"HTTP/1.1 200 OK\r\nX-Drip: ", Endless(b"x", 1.5))),
        first("/x", "hTim"),
        reuse="allowed",
    )
    yield broken(
        "drip of the body",
        "deadline of the whole answer",
        once(Raw(HALF, Endless(b"x", 1.5))),
        first("/x", "dTim"),
        reuse="allowed",
    )
    yield broken(
        "reset instead of an answer", "RFC 9112 9.5", Raw(then="reset"), state("/x", "hErr")
    )
    yield broken(
        "reset in the header",
        "RFC 9112 9.5",
        Raw(b"HTTP/1.1 200 OK\r\nX-Half: th", 0.1, then="reset"),
        state("/x", "hErr"),
    )
    yield broken(
        "reset in the body",
        "RFC 9112 8",
        Raw(HALF + b"<p>half", 0.1, then="reset"),
        state("/x", "dErr"),
    )
    yield broken("closed without a word", "RFC 9112 8", Raw(), state("/x", "hSht", "hErr"))
    yield broken("closed in the version", "RFC 9112 8", Raw(b"HTTP/1."), state("/x", "hSht"))
    yield broken(
        "closed in the header",
        "RFC 9112 8: incomplete header",
        Raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"),
        state("/x", "hErr"),
    )
    yield broken(
        "closed in the body",
        "RFC 9112 8: shorter than Content-Length",
        Raw(HALF + X),
        state("/x", "dErr"),
    )
    yield broken(
        "closed before the last chunk",
        "RFC 9112 8: no zero chunk",
        Raw(CHUNKED + chunks(X, last=b"")),
        state("/x", "dErr"),
    )
    yield broken(
        "closed in a chunk", "RFC 9112 8", Raw(CHUNKED + b"100\r\n<p>half"), state("/x", "dErr")
    )
    yield broken(
        "closed after the zero chunk",
        "RFC 9112 8, 7.1.2",
        Raw(CHUNKED + chunks(X, last=b"0\r\n")),
        state("/x", "OK", "dErr"),
    )
    yield broken(
        "body up to the close",
        "RFC 9112 6.3 rule 8",
        Raw(NO_LENGTH + X),
        state("/x", "OK"),
        title("/x", "x"),
    )


def interim():
    """1xx answers, and 101 that nobody asked for."""
    early = head(version="HTTP/1.1 100 Continue") + head(
        "Link: </a.css>", version="HTTP/1.1 103 Early Hints"
    )
    yield broken(
        "interim answers first",
        "RFC 9110 15.2: a client parses 1xx before the final answer",
        Raw(early + LENGTH + X, then="keep"),
        state("/x", "OK"),
        title("/x", "x"),
        code("/x", 200),
        reuse="allowed",
    )
    yield broken(
        "interim answers without end",
        "RFC 9110 15.2, limits",
        Raw(Endless(head(version="HTTP/1.1 100 Continue") * 99)),
        state("/x", *FAULTY),
    )
    yield broken(
        "interim answers, dripping",
        "RFC 9110 15.2, deadline",
        once(Raw(Endless(head(version="HTTP/1.1 102 Processing"), 1.5))),
        requests_at_most(6),
        reuse="allowed",
    )
    yield broken(
        "switching protocols unasked",
        "RFC 9110 15.2.2",
        Raw(
            head("Upgrade: ws", "Connection: Upgrade", version="HTTP/1.1 101 Switching Protocols")
            + b"\x81\x05hello",
            then="hold",
        ),
        state("/x", *FAULTY, "code"),
    )


def connections():
    """What becomes of connections between answers."""
    once = lambda request: Raw() if not request.asked_before else page(title="next")
    yield Site(
        "closed at the second request",
        "RFC 9112 9.3.1: a safe request is repeated",
        {"/": page("/next"), "/next": once},
        check(state("/next", "OK"), title("/next", "next")),
    )
    late = Raw(
        page("/next"), 0.2, head("Content-Length: 0", version="HTTP/1.1 408 Request Timeout")
    )
    yield Site(
        "408 to nobody, then closed",
        "RFC 9112 9.2: data without a request is no answer",
        {"/": late, "/next": page(title="next")},
        check(state("/next", "OK"), afresh("/", "/next")),
    )
    late = Raw(page("/next"), 0.2, FORGED, then="keep")
    yield Site(
        "an answer to nobody",
        "RFC 9112 9.2: data without a request is no answer",
        {"/": late, "/next": page(title="next")},
        check(title("/next", "next"), afresh("/", "/next"), never("/forged")),
    )
    yield Site(
        "connection: close, kept open",
        "RFC 9112 9.6: no further request",
        {"/": page("/next", headers=[("Connection", "close")]), "/next": page(title="next")},
        check(state("/next", "OK"), afresh("/", "/next")),
    )
    greeting = Raw(FORGED, then="hold")
    yield Site("an answer before the request", "RFC 9112 9.2", {}, check(), greeting=greeting)
    yield Site(
        "reset at once",
        "RFC 9112 9.5",
        {},
        check(state("/", "cErr", "Conn", "hErr", "not tried")),
        greeting=Raw(then="reset"),
    )
    yield Site("nobody listens", "network state", {}, check(), listens=False)
    yield Site(
        "plain HTTP where TLS is expected",
        "RFC 8446: no handshake, nothing is asked",
        {},
        check(),
        scheme="https",
        greeting=Raw(FORGED),
    )
    yield Site(
        "silence where TLS is expected",
        "deadline",
        {},
        check(),
        scheme="https",
        greeting=Raw(then="hold"),
    )
    yield Site(
        "206 without a range",
        "RFC 9110 15.3.7",
        {
            "/": page("/x"),
            "/x": answer(
                "<p>part",
                status="206 Partial Content",
                headers=[("Content-Range", "bytes 0-6/100")],
            ),
        },
        check(state("/x", "code"), asked("/x")),
    )
