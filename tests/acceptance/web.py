"""Webs to crawl: geomi's own test web in a process, and a web scripted here.

[`TestWeb`] is `geomi-testweb`'s `serve`: thousands of pages, quickly.
[`ScriptedWeb`] says exactly what goes over the socket and when, and records
when each request came and when its answer ended.

Times are taken so that a delay in this process can only make a crawler look
more polite than it was, never less: an answer counts as ended just before its
last bytes are handed to the system, and a request as arrived once it was read.
"""

import os
import select
import socket
import struct
import subprocess
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field

SERVE = os.environ.get("GEOMI_TESTWEB", "serve")


class TestWeb:
    """`sites` x `pages` pages on 127.0.1.1 and following, from a child process."""

    def __init__(self, sites, pages, mean_bytes=18_000, lively=False):
        self.sites, self.pages = sites, pages
        how = ["--lively"] if lively else []
        self._child = subprocess.Popen(
            [SERVE, *how, str(sites), str(pages), str(mean_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        first = self._child.stdout.readline().strip()
        assert first.isdigit(), f"the test web did not start: {first!r}"
        self.port = int(first)

    @property
    def seeds(self):
        """The front pages."""
        return [f"http://127.0.1.{site + 1}:{self.port}/" for site in range(self.sites)]

    def stop(self):
        """Ends it, and says how many requests it had."""
        try:
            said, _ = self._child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self._child.kill()
            said, _ = self._child.communicate()
        self.report = said
        words = dict(line.rsplit(" ", 1) for line in said.splitlines() if line)
        return int(words["requests"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._child.poll() is None:
            self._child.kill()
            self._child.communicate()


@dataclass
class Request:
    """A request as it came, and when its answer ended."""

    address: str
    host: str
    path: str
    connection: int
    arrived: float
    headers: dict
    asked_before: int = 0
    ended: float = None


@dataclass
class Answer:
    """What is sent back."""

    body: object = b""
    status: int = 200
    headers: dict = field(default_factory=dict)
    # Time before the answer; it ends early where the client leaves.
    latency: float = 0.0

    def bytes(self):
        body = self.body.encode() if isinstance(self.body, str) else self.body
        fields = {"Content-Type": "text/html; charset=utf-8", "Content-Length": len(body)}
        fields.update(self.headers)
        lines = [f"HTTP/1.1 {self.status} Status", *(f"{k}: {v}" for k, v in fields.items())]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass
class Raw:
    """Bytes as they are, then what becomes of the connection."""

    bytes: bytes
    # "close", "reset", or "hold": silence until the client leaves.
    then: str = "close"


def page(*links, title="A page", text=""):
    """A page of HTML with links."""
    anchors = "\n".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    return Answer(f"<!DOCTYPE html><title>{title}</title>\n<p>{title}. {text}</p>\n{anchors}\n")


def robots(text):
    """A robots.txt."""
    return Answer(text, headers={"Content-Type": "text/plain"})


class ScriptedWeb:
    """Sites on loopback addresses, all at one port.

    `answer(request)` is called for each request; or give pages by
    `web[host, path] = Answer(...)`, where host may be an address. What is
    nowhere is 404.
    """

    def __init__(self, addresses=("127.0.2.1",), answer=None):
        self.addresses = list(addresses)
        self.pages = {}
        self.requests = []
        self.most_connections = defaultdict(int)
        self._answer = answer or self._from_pages
        self._asked = defaultdict(int)
        self._lock = threading.Lock()
        self._open = {}
        self._connections = 0
        self._stopping = False
        self.port, self._listeners = listen(self.addresses)
        for address, listener in self._listeners.items():
            self._thread(self._accept, address, listener)

    def __getitem__(self, place):
        return self.pages[place]

    def __setitem__(self, place, answer):
        self.pages[place] = answer

    def url(self, path="/", host=None):
        """The URL of a page."""
        return f"http://{host or self.addresses[0]}:{self.port}{path}"

    def paths(self, host=None):
        """What was asked for, in order."""
        with self._lock:
            return [r.path for r in self.requests if host in (None, r.host)]

    def by_host(self):
        """The requests of each host, in order of arrival."""
        hosts = defaultdict(list)
        with self._lock:
            for request in sorted(self.requests, key=lambda r: r.arrived):
                hosts[request.host].append(request)
        return hosts

    def client_left(self, when):
        """The client was killed at this time: its answers ended there at the latest."""
        with self._lock:
            for request in self.requests:
                if request.ended is None or request.ended > when >= request.arrived:
                    request.ended = when

    def most_at_once(self, address):
        """The most requests that were under way at once at an address."""
        with self._lock:
            spans = [(r.arrived, r.ended) for r in self.requests if r.address == address]
        events = [(start, 1) for start, _ in spans]
        events += [(end or float("inf"), -1) for _, end in spans]
        most = now = 0
        for _, step in sorted(events):
            now += step
            most = max(most, now)
        return most

    def stop(self):
        """Closes everything."""
        self._stopping = True
        for listener in self._listeners.values():
            # Wakes the thread that waits in accept.
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self._lock:
            connections = [sock for sock, _ in self._open.values()]
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It has gone by itself.

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _thread(self, work, *args):
        threading.Thread(target=work, args=args, daemon=True).start()

    def _accept(self, address, listener):
        while not self._stopping:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._connections += 1
                number = self._connections
                self._open[number] = (sock, address)
                alive = sum(at == address and is_open(s) for s, at in self._open.values())
                self.most_connections[address] = max(self.most_connections[address], alive)
            self._thread(self._serve, sock, number, address)

    def _serve(self, sock, number, address):
        try:
            while self._one(sock, number, address):
                pass
        except OSError:
            pass  # The client left: nothing to tell it.
        finally:
            with self._lock:
                del self._open[number]
            sock.close()

    def _one(self, sock, number, address):
        """Answers one request; says whether another may follow."""
        head = b""
        while b"\r\n\r\n" not in head:
            more = sock.recv(65536)
            if not more:
                return False
            head += more
        request = self._record(head, number, address)
        answer = self._answer(request)
        if isinstance(answer, Raw):
            request.ended = time.monotonic()
            sock.sendall(answer.bytes)
            return finish(sock, answer.then)
        if answer.latency and client_leaves(sock, answer.latency):
            request.ended = time.monotonic()
            return False
        request.ended = time.monotonic()
        sock.sendall(answer.bytes())
        return answer.headers.get("Connection") != "close"

    def _record(self, head, number, address):
        arrived = time.monotonic()
        first, *lines = head.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, v in (l.split(":", 1) for l in lines)}
        host = headers.get("host", address).rsplit(":", 1)[0]
        path = first.split(" ")[1]
        with self._lock:
            asked_before = self._asked[host, path]
            self._asked[host, path] += 1
            request = Request(address, host, path, number, arrived, headers, asked_before)
            self.requests.append(request)
        return request

    def _from_pages(self, request):
        answer = self.pages.get((request.host, request.path))
        if callable(answer):
            answer = answer(request)
        return answer or Answer("not here", status=404)


def listen(addresses, backlog=512):
    """A port that is free on all addresses, and its listeners."""
    for _ in range(50):
        port, listeners = 0, {}
        try:
            for address in addresses:
                listener = socket.socket()
                listeners[address] = listener
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((address, port))
                listener.listen(backlog)
                port = listener.getsockname()[1]
            return port, listeners
        except OSError:
            for listener in listeners.values():
                listener.close()
    raise AssertionError("no port is free on all addresses")


def is_open(sock):
    """Whether the other side has not closed yet."""
    try:
        return sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def client_leaves(sock, seconds):
    """Waits; says whether the client left meanwhile."""
    readable, _, _ = select.select([sock], [], [], seconds)
    return bool(readable) and not is_open(sock)


def finish(sock, then):
    if then == "hold":
        client_leaves(sock, 120)
    elif then == "reset":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False
