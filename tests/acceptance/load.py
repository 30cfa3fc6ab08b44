"""Many at once: folders of many crawls, and many who watch and ask a console."""

import http.client
import json
import selectors
import socket
import threading
import time
from urllib.parse import urlsplit

from geomi import Process, wait_until

# What people and programs look at while a crawl runs.
PLACES = (
    "/",
    "/crawls/{}",
    "/crawls/{}/log",
    "/api/v1/crawls",
    "/api/v1/crawls/{}",
    "/api/v1/crawls/{}/stats?points=100",
    "/api/v1/crawls/{}/sites?limit=20",
    "/api/v1/crawls/{}/queue",
)


def rss_mib(pid):
    """What a process holds in memory."""
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise AssertionError(f"process {pid} is gone")


def many_crawls(root, count, like):
    """Fills a folder with crawls at rest, each with the status of a real one."""
    status = json.loads((like / "status.json").read_text())
    for number in range(count):
        folder = root / f"group-{number % 10}" / f"crawl-{number:04}"
        (folder / "frontier").mkdir(parents=True)
        status["counters"]["saved"] = number
        (folder / "status.json").write_text(json.dumps(status))


class ManySites:
    """A running crawl that knows many sites and is paused; stopped with the block."""

    def __init__(self, folder, dir, sites, port, env):
        seeds = folder / "many-seeds.txt"
        seeds.write_text("".join(f"http://s{n}.test:{port}/\n" for n in range(sites)))
        words = ["crawl", "--seeds", seeds, "-o", dir, "--no-progress", "--allow-private", "all"]
        words += ["--resolve", "*:127.0.1.1", "--site-delay", "60s"]
        self._process = Process(words, env=env)
        self.dir, self._sites, self._env = dir, sites, env

    def __enter__(self):
        status = self.dir / "status.json"
        known = lambda: status.exists() and json.loads(status.read_text())["seeds"]
        wait_until(lambda: known() >= self._sites, 300)
        with Process(["pause", self.dir], env=self._env) as pause:
            assert pause.wait().code == 0
        return self

    def __exit__(self, *_):
        self._process.kill()


class Asker:
    """One kept connection to a console, as a program uses it."""

    def __init__(self, url, token):
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"}

    def ask(self, path, codes=(200,)):
        """Seconds an answer took, to its last byte."""
        began = time.monotonic()
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        answer.read()
        assert answer.status in codes, f"{path}: {answer.status}"
        return time.monotonic() - began

    def close(self):
        self._connection.close()


class Crowd:
    """Those who watch a crawl and those who ask about it, until the block ends."""

    def __init__(self, url, token, crawl, watchers, reads_per_s, askers=8):
        self._url, self._token, self._crawl = url, token, crawl
        self._over = threading.Event()
        self.reads, self.slowest, self.bytes, self.lost = [0] * askers, 0.0, 0, 0
        self.faults = []
        self._sockets = [self._watch() for _ in range(watchers)]
        self._threads = [threading.Thread(target=self._drain)]
        self._threads += [
            threading.Thread(target=self._ask, args=(number, askers / reads_per_s))
            for number in range(askers)
        ]

    def _watch(self):
        place = urlsplit(self._url)
        stream = socket.create_connection((place.hostname, place.port), timeout=60)
        stream.sendall(
            f"GET /api/v1/crawls/{self._crawl}/events HTTP/1.1\r\nHost: {place.netloc}\r\n"
            f"Authorization: Bearer {self._token}\r\n\r\n".encode()
        )
        assert stream.recv(12) == b"HTTP/1.1 200", "a watcher was refused"
        stream.setblocking(False)
        return stream

    def _drain(self):
        with selectors.DefaultSelector() as waiting:
            for stream in self._sockets:
                waiting.register(stream, selectors.EVENT_READ)
            while not self._over.is_set():
                for key, _ in waiting.select(0.2):
                    got = key.fileobj.recv(1 << 18)
                    self.bytes += len(got)
                    if not got:
                        self.lost += 1
                        waiting.unregister(key.fileobj)

    def _ask(self, number, every):
        asker = Asker(self._url, self._token)
        due = time.monotonic() + every * number / len(self.reads)
        for turn in range(number, 1 << 30):
            # An event, so that the end of the block ends the pause too.
            if self._over.wait(max(0, due - time.monotonic())):
                break
            due += every
            place = PLACES[turn % len(PLACES)].format(self._crawl)
            try:
                # A crawl that has just ended has no queue any more.
                self.slowest = max(self.slowest, asker.ask(place, (200, 409)))
            except (AssertionError, OSError, http.client.HTTPException) as fault:
                self.faults.append(str(fault))
                break
            self.reads[number] += 1
        asker.close()

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join()
        for stream in self._sockets:
            stream.close()
