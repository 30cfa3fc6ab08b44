"""Answers that are framed wrongly, or are no HTTP at all. RFC 9112 4, 6 and 7."""

from hostile.build import CHUNKED, FORGED, Endless, Raw, chunks, head
from hostile.judge import code, state, title
from hostile.transport import ANY, FAULTY, LENGTH, X, broken


def sites(at):
    return [*lengths(), *codings(), *no_http()]


def lengths():
    """Lengths that are wrong, doubled, or no numbers."""

    def with_length(*values):
        fields = [f"Content-Length: {value}" for value in values]
        return head("Content-Type: text/html", *fields)

    yield broken(
        "body longer than its length",
        "RFC 9112 6.3, 9.2: surplus is no answer",
        Raw(LENGTH + X + FORGED, then="keep"),
        state("/x", "OK"),
        title("/x", "x"),
    )
    yield broken(
        "two different lengths",
        "RFC 9112 6.3 rule 5: unrecoverable",
        Raw(with_length(len(X), len(X) + len(FORGED)) + X + FORGED, then="keep"),
        state("/x", *FAULTY),
    )
    yield broken(
        "a list of different lengths",
        "RFC 9112 6.3 rule 5",
        Raw(with_length(f"{len(X)}, 5") + X, then="keep"),
        state("/x", *FAULTY),
    )
    yield broken(
        "twice the same length",
        "RFC 9112 6.3 rule 5: may be taken as one",
        Raw(with_length(len(X), len(X)) + X, then="keep"),
        state("/x", *ANY),
        reuse="allowed",
    )
    for name, value in [
        ("negative", "-27"),
        ("signed", "+27"),
        ("hexadecimal", "0x1b"),
        ("with a tail", "27abc"),
        ("empty", ""),
        ("with a fraction", "27.0"),
        ("over 64 bits", "18446744073709551643"),
    ]:
        yield broken(
            f"length {name}",
            "RFC 9110 8.6: 1*DIGIT; RFC 9112 6.3 rule 5",
            Raw(with_length(value) + X + FORGED, then="keep"),
            state("/x", *FAULTY),
        )
    yield broken(
        "length and chunks",
        "RFC 9112 6.3 rule 3: chunked wins, not reused",
        Raw(
            head("Content-Type: text/html", "Transfer-Encoding: chunked", "Content-Length: 5")
            + chunks(X),
            then="keep",
        ),
        state("/x", *ANY),
    )
    yield broken(
        "204 with a body",
        "RFC 9112 6.3 rule 1: no body",
        Raw(
            head("Content-Length: %d" % len(FORGED), version="HTTP/1.1 204 No Content") + FORGED,
            then="keep",
        ),
        code("/x", 204, None),
    )
    yield broken(
        "304 with a body",
        "RFC 9112 6.3 rule 1: no body",
        Raw(
            head("Content-Length: %d" % len(FORGED), version="HTTP/1.1 304 Not Modified") + FORGED,
            then="keep",
        ),
        code("/x", 304, None),
    )


def codings():
    """Transfer codings in disorder."""

    def coded(value, body, version="HTTP/1.1 200 OK"):
        return (
            head("Content-Type: text/html", f"Transfer-Encoding: {value}", version=version) + body
        )

    bad = "RFC 9112 7.1"
    yield broken(
        "chunk size that is no number",
        bad,
        Raw(CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n", then="keep"),
        state("/x", "dErr", "dTim"),
    )
    yield broken(
        "chunk size negative",
        bad,
        Raw(CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n", then="keep"),
        state("/x", "dErr", "dTim"),
    )
    yield broken(
        "chunk size with 0x",
        bad,
        Raw(CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n", then="keep"),
        state("/x", "dErr", "dTim"),
    )
    yield broken(
        "chunk size over 64 bits",
        bad + ": no overflow",
        Raw(CHUNKED + b"10000000000000005\r\nhello\r\n0\r\n\r\n", then="keep"),
        state("/x", "dErr", "dTim"),
    )
    yield broken(
        "chunk size missing",
        bad,
        Raw(CHUNKED + b"\r\nhello\r\n0\r\n\r\n", then="keep"),
        state("/x", "dErr", "dTim"),
    )
    yield broken(
        "chunk without its line end",
        bad,
        Raw(CHUNKED + b"5\r\nhelloXX0\r\n\r\n", then="keep"),
        state("/x", "dErr", "dTim"),
    )
    yield broken(
        "chunks with bare line feeds",
        bad,
        Raw(CHUNKED + b"5\nhello\n0\n\n", then="keep"),
        state("/x", *ANY),
        reuse="allowed",
    )
    yield broken(
        "chunk extension of 2 MiB",
        "RFC 9112 7.1.1: limit the length",
        Raw(CHUNKED + b"5;x=" + b"y" * (2 << 20) + b"\r\nhello\r\n0\r\n\r\n"),
        state("/x", *ANY),
    )
    yield broken(
        "chunk extension without end",
        "RFC 9112 7.1.1: limit the length",
        Raw(CHUNKED + b"5;", Endless(b"y" * 65536)),
        state("/x", *FAULTY),
    )
    yield broken(
        "trailers without end",
        "RFC 9112 7.1.2, byte limit",
        Raw(CHUNKED + chunks(X, last=b"0\r\n"), Endless(b"X-Trailer: more and more\r\n" * 999)),
        state("/x", *ANY),
    )
    yield broken(
        "a hundred thousand chunks of a byte",
        "RFC 9112 7.1",
        Raw(CHUNKED + chunks(*[b"x"] * 100_000), then="keep"),
        state("/x", "OK"),
        reuse="allowed",
    )
    yield broken(
        "chunked twice",
        "RFC 9112 6.1: not more than once",
        Raw(coded("chunked, chunked", chunks(chunks(X)))),
        state("/x", *ANY),
    )
    yield broken(
        "chunked not last",
        "RFC 9112 6.3 rule 4: up to the close",
        Raw(coded("chunked, identity", X)),
        state("/x", *ANY),
    )
    yield broken(
        "unknown transfer coding",
        "RFC 9112 6.1, 6.3 rule 4",
        Raw(coded("quux", X)),
        state("/x", *ANY),
    )
    yield broken(
        "chunked in HTTP/1.0",
        "RFC 9112 6.1: faulty framing, not reused",
        Raw(coded("chunked", chunks(X), "HTTP/1.0 200 OK"), then="keep"),
        state("/x", *ANY),
    )
    yield broken(
        "HTTP/1.0 without keep-alive",
        "RFC 9112 9.3: does not persist",
        Raw(
            head(
                "Content-Type: text/html", "Content-Length: %d" % len(X), version="HTTP/1.0 200 OK"
            )
            + X,
            then="keep",
        ),
        state("/x", "OK"),
    )


def no_http():
    """Answers that are no HTTP, or almost."""
    noise = bytes((number * 7919 >> 3) % 256 for number in range(100_000))
    for name, said in [
        ("a mail server", b"220 mail.test ESMTP ready\r\n"), ("a shell server", b"SSH-2.0-OpenSSH_9.9\r\n"),
        ("noise", noise), ("bare HTML", b"<html><title>x</title><p>HTTP/0.9 lives</p></html>"),
        ("a radio station", b"ICY 200 OK\r\nContent-Type: text/html\r\n\r\n" + X),
        ("a version in small letters", b"http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ("a version without digits", b"HTTP/x.y 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ("HTTP/2 in the clear", b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80\0\x04\0\1\0\0\0\x05\0\xff\xff\xff"),
        ("a TLS alert", b"\x15\x03\x01\0\x02\x02\x16 and that is all")]:  # fmt: skip
        yield broken(f"not HTTP: {name}", "RFC 9112 4: status-line", Raw(said), state("/x", "hNpr"))
    for name, line in [
        ("two digits", "HTTP/1.1 20 OK"),
        ("four digits", "HTTP/1.1 2000 OK"),
        ("letters", "HTTP/1.1 abc OK"),
        ("zero", "HTTP/1.1 000 OK"),
        ("nothing", "HTTP/1.1"),
    ]:
        yield broken(
            f"status of {name}",
            "RFC 9110 15: 100 to 599, three digits",
            Raw(head("Content-Length: 0", version=line)),
            state("/x", "hNpr", "hErr", "code"),
        )
    yield broken(
        "status 999",
        "RFC 9110 15: invalid, as if 5xx",
        Raw(head("Content-Length: 0", version="HTTP/1.1 999 What")),
        state("/x", "code", "hNpr", "hErr"),
    )
    yield broken(
        "no reason phrase",
        "RFC 9112 4: may be empty",
        Raw(
            head("Content-Type: text/html", "Content-Length: %d" % len(X), version="HTTP/1.1 200 ")
            + X,
            then="keep",
        ),
        state("/x", "OK"),
        reuse="allowed",
    )
    yield broken(
        "status line of 1 MiB",
        "limit of the header",
        Raw(head("Content-Length: 0", version="HTTP/1.1 200 " + "k" * (1 << 20))),
        state("/x", *ANY),
    )
    yield broken(
        "a status line without end",
        "limit of the header",
        Raw(b"HTTP/1.1 200 ", Endless(b"k" * 65536)),
        state("/x", *FAULTY),
    )
