"""Header fields that are too many, too long, or not well formed. RFC 9110 5, RFC 9112 5."""

from hostile.build import Endless, Raw, Site, answer, page
from hostile.judge import GAVE_UP, asked, check, never, state, title
from hostile.transport import ANY, FAULTY, X, broken

LENGTH = b"Content-Type: text/html\r\nContent-Length: %d\r\n" % len(X)


def with_lines(lines, end=b"\r\n"):
    return b"HTTP/1.1 200 OK\r\n" + LENGTH + lines + end + X


def sites(at):
    return [*floods(), *forms(), *meanings()]


def floods():
    yield broken(
        "field of 1 MiB",
        "RFC 9110 5.4: limits",
        Raw(with_lines(b"X: " + b"y" * (1 << 20) + b"\r\n")),
        state("/x", *ANY),
    )
    yield broken(
        "ten thousand fields",
        "RFC 9110 5.4: limits",
        Raw(with_lines(b"".join(b"X-%d: y\r\n" % n for n in range(10_000)))),
        state("/x", *ANY),
    )
    yield broken(
        "fields without end",
        "RFC 9110 5.4: limits",
        Raw(b"HTTP/1.1 200 OK\r\n", Endless(b"X-More: and more\r\n" * 999)),
        state("/x", *FAULTY),
    )
    yield broken(
        "a field name without end",
        "RFC 9110 5.4: limits",
        Raw(b"HTTP/1.1 200 OK\r\n", Endless(b"x" * 65536)),
        state("/x", *FAULTY),
    )


def forms():
    loose = ("OK", *GAVE_UP)
    yield broken(
        "folded field",
        "RFC 9112 5.2: obs-fold is a space",
        Raw(with_lines(b"X-Folded: one\r\n two\r\n\tthree\r\n"), then="keep"),
        state("/x", "OK"),
        title("/x", "x"),
        reuse="allowed",
    )
    yield broken(
        "fold before the first field",
        "RFC 9112 2.2: rejected or ignored",
        Raw(b"HTTP/1.1 200 OK\r\n X: y\r\n" + LENGTH + b"\r\n" + X),
        state("/x", *loose),
    )
    yield broken(
        "obs-text in a field",
        "RFC 9110 5.5: opaque",
        Raw(with_lines(b"X-Raw: caf\xe9 \xff\xfe\r\n"), then="keep"),
        state("/x", "OK"),
        reuse="allowed",
    )
    yield broken(
        "bare line feeds",
        "RFC 9112 2.2: may be taken as line ends",
        Raw(with_lines(b"").replace(b"\r\n", b"\n")),
        state("/x", *loose),
    )
    yield broken(
        "bare carriage return",
        "RFC 9112 2.2: invalid, or a space",
        Raw(with_lines(b"X-Cr: a\rb\r\n")),
        state("/x", *loose),
    )
    yield broken(
        "NUL in a field",
        "RFC 9110 5.5: dangerous, reject or replace",
        Raw(with_lines(b"X-Nul: a\0b\r\n")),
        state("/x", *loose),
    )
    yield broken(
        "space before the colon",
        "RFC 9112 5.1",
        Raw(with_lines(b"X-Space : y\r\n")),
        state("/x", *loose),
    )
    yield broken(
        "space before the colon of the length",
        "RFC 9112 5.1: never half-read",
        Raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length : 5\r\n\r\nhello" + X,
            then="close",
        ),
        state("/x", *loose),
    )
    yield broken(
        "line without a colon", "RFC 9112 5", Raw(with_lines(b"nonsense\r\n")), state("/x", *loose)
    )
    yield broken(
        "field without a name", "RFC 9112 5", Raw(with_lines(b": value\r\n")), state("/x", *loose)
    )


def meanings():
    yield Site(
        "HSTS over plain HTTP",
        "RFC 6797 8.1: ignored",
        {"/": page("/a", headers=[("Strict-Transport-Security", "max-age=9999")]), "/a": page()},
        check(state("/a", "OK"), asked("/a")),
    )
    yield Site(
        "refresh to elsewhere",
        "HTML 4.2.5.3: at most a link",
        {"/": page(headers=[("Refresh", "0; url=file:///etc/passwd")])},
        check(state("/", "OK"), never("/etc")),
    )
    flood = [("Set-Cookie", f"c{n}={'v' * 3000}") for n in range(15)]

    def judged(log, _):
        for request in log.requests:
            if len(request.head) > 16_384:
                yield f"{request.path}: a request of {len(request.head)} bytes"

    yield Site(
        "flood of cookies",
        "RFC 6265 6.1: limits",
        {"/": page("/a", "/b", headers=flood), "/a": page(headers=flood), "/b": page()},
        check(judged, asked("/a", "/b")),
    )
    name = "cookie for another host"

    def kept(log, _):
        if any("stolen" in r.headers.get("cookie", "") for r in log.requests):
            yield "a cookie for another host was sent"

    foreign = [
        ("Set-Cookie", "stolen=1; Domain=127.1.0.1"),
        ("Set-Cookie", "stolen=2; Domain=test"),
    ]
    yield Site(
        name,
        "RFC 6265 5.3: the domain must match",
        {"/": page("/a", headers=foreign), "/a": page()},
        check(kept, asked("/a")),
    )
    yield Site(
        "download offered",
        "RFC 6266: stored, whatever its name says",
        {
            "/": page("/a"),
            "/a": answer(
                "x", headers=[("Content-Disposition", 'attachment; filename="../../../etc/passwd"')]
            ),
        },
        check(state("/a", "OK", "code")),
    )
