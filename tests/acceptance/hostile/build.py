"""What sites are made of: answers, pages, and steps that break the rules.

A page of a site is bytes (a whole answer, after which the connection stays
open), a [`Raw`] (steps, then what becomes of the connection), or a function of
the request that returns one of these.
"""

import gzip
from dataclasses import dataclass, field
from functools import cache

HTML = "text/html; charset=utf-8"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
NO_LENGTH = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


@dataclass
class Endless:
    """The same bytes again and again, until the client leaves."""

    bytes: bytes
    pause: float = 0.0


class Raw:
    """Steps: bytes are sent, a number is a pause in seconds, an `Endless` does
    not end. Then "close", "reset", "keep", or "hold": silence."""

    def __init__(self, *steps, then="close"):
        self.steps, self.then = steps, then


@dataclass
class Site:
    """One misbehaviour: what is served, the rule it is about, and who judges."""

    name: str
    rule: str
    pages: dict
    judge: object
    # Further hosts that belong to the story, by name.
    others: dict = field(default_factory=dict)
    seed: str = "/"
    scheme: str = "http"
    # Instead of reading a request: what a connection gets at once.
    greeting: Raw = None
    # Whether anybody listens there.
    listens: bool = True


def answer(body=b"", status="200 OK", type=HTML, headers=(), length=True):
    """A whole answer."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}"]
    if type is not None:
        lines.append(f"Content-Type: {type}")
    lines += [f"{name}: {value}" for name, value in headers]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def html(*links, title="a page", head="", text=""):
    """The text of a page."""
    anchors = "\n".join(f'<p><a href="{link}">link</a></p>' for link in links)
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body><p>{text}</p>\n{anchors}</body></html>"


def page(*links, headers=(), **how):
    """A good page with links."""
    return answer(html(*links, **how), headers=headers)


def robots(text, type="text/plain", status="200 OK", headers=()):
    """A robots.txt."""
    return answer(text, status=status, type=type, headers=headers)


def redirect(to, status="302 Found"):
    """A redirect, or a 3xx that says nothing where `to` is None."""
    return answer("moved", status=status, headers=[("Location", to)] if to is not None else [])


def head(*lines, version="HTTP/1.1 200 OK"):
    """The header of an answer, line by line, as it is."""
    return "\r\n".join([version, *lines]).encode("latin-1") + b"\r\n\r\n"


def chunks(*parts, last=b"0\r\n\r\n"):
    """Parts in chunked coding."""
    coded = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return coded + last


@cache
def gzip_bomb(start, filler=b" ", size=64 << 20):
    """A small file that begins like this and is large once unpacked."""
    return gzip.compress(start + filler * size, 9)


# What a server might slip in behind an answer, for the next request to find.
FORGED = answer(html("/forged", title="forged"))
