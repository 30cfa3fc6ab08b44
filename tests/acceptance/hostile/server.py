"""The server: every site on an address of its own, all in one event loop.

Times are taken so that a delay in this process can only make a crawler look
more polite than it was: an answer counts as ended when its last bytes began to
be sent, a request as arrived once it was read.
"""

import asyncio
import contextlib
import socket
import struct
import threading
import time
from dataclasses import dataclass, field

from hostile.build import Endless, Raw, answer
from web import listen

# Addresses the crawl may not use, where somebody listens all the same.
INSIDE = ("127.2.0.1", "127.0.0.1")
# Nothing is held longer.
PATIENCE_S = 200


@dataclass
class Request:
    """A request as it came, and when its answer ended."""

    method: str
    path: str
    headers: dict
    head: bytes
    connection: int
    arrived: float
    asked_before: int
    ended: float = None


@dataclass
class Log:
    """What one address saw, and what the crawl says of it."""

    name: str
    address: str
    requests: list = field(default_factory=list)
    # When connections were opened and closed, and drops dripped.
    events: list = field(default_factory=list)
    visits: list = field(default_factory=list)
    web: object = None

    @property
    def paths(self):
        return [request.path for request in self.requests]

    def other(self, name):
        return self.web.logs[f"{self.name}: {name}"]


class Addresses:
    """Gives every name an address when it is first mentioned."""

    def __init__(self, port):
        self.port, self.known = port, {}

    def __getitem__(self, name):
        number = len(self.known)
        return self.known.setdefault(name, f"127.1.{number // 200}.{number % 200 + 1}")

    def __call__(self, name, path="/"):
        """The URL of a path on the host of that name."""
        return f"http://{self[name]}:{self.port}{path}"


class HostileWeb:
    """All sites, served from a thread of their own."""

    def __init__(self, make_sites):
        self.port, inside = listen(INSIDE)
        at = Addresses(self.port)
        self.sites = make_sites(at)
        self.logs, self._listeners, self._connections = {}, [], 0
        for site in self.sites:
            self._open(site.name, at[site.name], site.pages, site)
            for name, pages in site.others.items():
                self._open(f"{site.name}: {name}", at[f"{site.name}: {name}"], pages, None)
        for address, listener in inside.items():
            self._add(f"inside {address}", address, {}, None, listener)
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._started.wait()

    def seed(self, site):
        return f"{site.scheme}://{self.logs[site.name].address}:{self.port}{site.seed}"

    def stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        for _, listener, _, _ in self._listeners:
            listener.close()

    def _open(self, name, address, pages, site):
        listener = None
        if site is None or site.listens:
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, self.port))
            listener.listen(64)
        self._add(name, address, pages, site, listener)

    def _add(self, name, address, pages, site, listener):
        log = self.logs[name] = Log(name, address, web=self)
        if listener:
            self._listeners.append((log, listener, pages, site))

    def _run(self):
        asyncio.set_event_loop(self._loop)
        for log, listener, pages, site in self._listeners:
            self._loop.run_until_complete(self._serve(log, listener, pages, site))
        self._loop.call_soon(self._started.set)
        self._loop.run_forever()

    async def _serve(self, log, listener, pages, site):
        async def connected(reader, writer):
            self._connections += 1
            number = self._connections
            log.events.append(time.monotonic())
            # The client may leave at any time; that is its right.
            with contextlib.suppress(
                OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError
            ):
                await converse(log, pages, site, number, reader, writer)
            log.events.append(time.monotonic())
            with contextlib.suppress(OSError):
                writer.close()

        await asyncio.start_server(connected, sock=listener, limit=1 << 20)


async def converse(log, pages, site, number, reader, writer):
    """One connection to its end."""
    if site and site.greeting:
        await send(site.greeting, log, None, reader, writer)
        return
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        request = record(log, head, number)
        reply = pages.get(request.path, NOT_FOUND)
        while callable(reply):
            reply = reply(request)
        if isinstance(reply, bytes):
            reply = Raw(reply, then="keep")
        if not await send(reply, log, request, reader, writer):
            return


NOT_FOUND = answer("not here", status="404 Not Found", type="text/plain")


def record(log, head, number):
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    words = first.split(" ")
    fields = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    method, path = words[0], words[1] if len(words) > 1 else ""
    before = log.paths.count(path)
    request = Request(method, path, headers, head, number, time.monotonic(), before)
    log.requests.append(request)
    return request


async def send(raw, log, request, reader, writer):
    """Takes the steps of an answer; says whether another may follow."""
    for step in raw.steps:
        if request:
            request.ended = time.monotonic()
        if isinstance(step, Endless):
            await send_without_end(step, log, request, reader, writer)
            return False
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
        elif await client_leaves(reader, step):
            return False
    if raw.then == "hold":
        await client_leaves(reader, PATIENCE_S)
    elif raw.then == "reset":
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
    return raw.then == "keep"


async def send_without_end(step, log, request, reader, writer):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and not writer.is_closing():
        if request:
            request.ended = time.monotonic()
        writer.write(step.bytes)
        await writer.drain()
        if step.pause:
            log.events.append(time.monotonic())
        if step.pause and await client_leaves(reader, step.pause):
            return


async def client_leaves(reader, seconds):
    """Waits; says whether the client left meanwhile."""
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(end_of(reader), seconds)
        return True
    return False


async def end_of(reader):
    # What a client says before its turn is not listened to.
    while await reader.read(65536):
        pass
