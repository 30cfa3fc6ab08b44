"""Content codings: bombs, nests, and labels that lie. RFC 9110 8.4."""

import gzip
import zlib
from functools import cache

import brotli

from hostile.build import Site, answer, gzip_bomb, html, page
from hostile.judge import GAVE_UP, asked, check, cut, state, title

START = html("/a", title="coded").encode()
EXPANDED = 64 << 20
ANY = ("OK", "code", *GAVE_UP, "dTim")


def sites(at):
    return [*bombs(), *labels()]


def coded(name, rule, body, coding, *checks):
    return Site(
        name,
        rule,
        {
            "/": page("/x", "/after"),
            "/x": answer(body, headers=[("Content-Encoding", coding)]),
            "/a": page(),
            "/after": page(title="after"),
        },
        check(title("/after", "after"), *checks),
    )


def zstd_bomb():
    """A frame whose blocks each say: the same byte 128 KiB times (RFC 8878 3.1.1.2)."""
    block = ((128 << 10) << 3 | 1 << 1).to_bytes(3, "little") + b" "
    first = (len(START) << 3).to_bytes(3, "little") + START
    return b"\x28\xb5\x2f\xfd\x00\x58" + first + block * (EXPANDED >> 17)


@cache
def bomb_bodies():
    """(name, coding, body) of each bomb."""
    big = START + b" " * EXPANDED
    once, deflated = gzip_bomb(START), zlib.compress(big, 9)
    return [
        ("gzip", "gzip", once),
        ("deflate", "deflate", deflated),
        ("zstd", "zstd", zstd_bomb()),
        ("brotli", "br", brotli.compress(big, quality=3)),
        ("gzip in gzip", "gzip, gzip", gzip.compress(once, 9)),
        ("deflate in gzip", "deflate, gzip", gzip.compress(deflated, 9)),
    ]


def bombs():
    limit = "the limit holds after decoding"
    for name, coding, body in bomb_bodies():
        yield coded(f"bomb: {name}", limit, body, coding, state("/x", *ANY), cut("/x"))
    layers = START
    for _ in range(100):
        layers = gzip.compress(layers)
    yield coded(
        "bomb: a hundred layers", limit, layers, ", ".join(["gzip"] * 100), state("/x", *ANY)
    )


def labels():
    rule = "RFC 9110 8.4: codings in the order applied"
    good = gzip.compress(START)
    yield coded(
        "coding: x-gzip",
        "RFC 9110 8.4.1.3: as gzip",
        good,
        "x-gzip",
        state("/x", "OK"),
        asked("/a"),
    )
    yield coded(
        "coding: name in capitals",
        "RFC 9110 8.4.1: case-insensitive",
        good,
        "GZIP",
        state("/x", "OK"),
        asked("/a"),
    )
    yield coded("coding: identity", rule, START, "identity", state("/x", "OK"), asked("/a"))
    yield coded(
        "coding: two gzip members",
        "RFC 1952 2.2: members follow one another",
        gzip.compress(START[:60]) + gzip.compress(START[60:]),
        "gzip",
        state("/x", "OK"),
        asked("/a"),
    )
    raw = zlib.compressobj(wbits=-15)
    yield coded(
        "coding: deflate without its wrapper",
        "RFC 9110 8.4.1.2: some send it so",
        raw.compress(START) + raw.flush(),
        "deflate",
        state("/x", *ANY),
    )
    yield coded("coding: gzip that is plain", rule, START, "gzip", state("/x", *ANY))
    yield coded(
        "coding: gzip cut short", rule, gzip.compress(START * 50)[:100], "gzip", state("/x", *ANY)
    )
    yield coded(
        "coding: gzip with a wrong sum",
        "RFC 1952 2.3.1",
        good[:-8] + b"12345678",
        "gzip",
        state("/x", *ANY),
    )
    yield coded("coding: gzip with a tail", rule, good + b"tail" * 99, "gzip", state("/x", *ANY))
    yield coded("coding: unknown", "RFC 9110 8.4", START, "quux", state("/x", *ANY))
    yield coded("coding: gzip of nothing", rule, b"", "gzip", state("/x", *ANY))
