"""A crawl of the hostile web comes to its end and keeps every rule.

One crawl of all sites, then a test for each of them, judged by what the server
saw and what the crawl says it saw.
"""

import os
import shutil
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import archive
import hostile
from geomi import Process, geomi
from hostile.server import HostileWeb

DELAY_S = 0.5
STALL_S = 30
ARGS = (
    "--scope", "any", "--allow-private", "127.1.0.0/16", "--site-delay", "500ms",
    "--user-agent", "geomi", "--set", "politeness.max_wait=60s", "--no-progress",
)  # fmt: skip
COLUMNS = (
    "number", "url", "site", "state", "code", "error", "is_robots", "charset", "title",
    "wire_bytes", "body_bytes", "total_us", "attempt",
)  # fmt: skip


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="geomi-hostile-"))
        if not os.environ.get("GEOMI_KEEP"):
            cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dir = cls.folder / "crawl"
        cls.web = HostileWeb(hostile.sites)
        cls.addClassCleanup(cls.web.stop)
        seeds = cls.folder / "seeds.txt"
        seeds.write_text("".join(f"{cls.web.seed(site)}\n" for site in cls.web.sites))
        with Process(["crawl", "--seeds", seeds, "-o", cls.dir, *ARGS]) as process:
            cls.run_ = process.wait(400)
        cls.read_visits()

    @classmethod
    def read_visits(cls):
        """Gives each log the visits of its site, in order."""
        cls.visits = defaultdict(list)
        rows = archive.query(f"select {', '.join(COLUMNS)} from visits order by number", cls.dir)
        for row in rows:
            visit = dict(zip(COLUMNS, row))
            parts = urlsplit(visit["url"])
            visit["path"] = parts.path + (f"?{parts.query}" if parts.query else "")
            cls.visits[parts.hostname].append(visit)
        for log in cls.web.logs.values():
            log.visits = cls.visits[log.address]

    def each_log(self):
        return [log for log in self.web.logs.values() if not log.name.startswith("inside")]

    def none(self, complaints):
        complaints = list(complaints)
        self.assertEqual(complaints, [], "\n".join(complaints[:40]))

    def test_all_it_comes_to_its_end(self):
        # Sites that ask for an hour's wait and traps leave URLs behind.
        self.assertEqual(self.run_.code, 4, self.run_)
        status = archive.status(self.dir)
        self.assertEqual(status["reason"], "incomplete")
        self.assertGreater(status["left"]["urls"], 0)
        self.assertNotIn("panic", self.run_.err)
        print(
            f"  measured: hostile web: {len(self.web.sites)} sites in {self.run_.seconds:.0f} s,"
            f" {self.run_.rss_mib:.0f} MiB, {self.run_.cpu_s:.0f} s of CPU",
            flush=True,
        )
        self.assertLess(self.run_.rss_mib, 1024)

    def test_all_nothing_stalls(self):
        times = sorted(at for log in self.web.logs.values() for at in times_of(log))
        longest = max(later - earlier for earlier, later in zip(times, times[1:]))
        self.assertLess(longest, STALL_S)

    def test_all_the_inside_is_left_alone(self):
        for log in self.web.logs.values():
            if log.name.startswith("inside"):
                self.assertEqual((log.events, log.paths), ([], []), log.name)
        rows = archive.query("select distinct ip from visits where ip is not null", self.dir)
        self.none(f"{ip} was asked" for (ip,) in rows if not ip.startswith("127.1."))

    def test_all_sites_rest(self):
        """The next request starts no earlier than the delay after the last answer."""
        self.none(
            f"{log.name}: {after.path} came {after.arrived - before.ended:.3f} s after {before.path}"
            for log in self.each_log()
            for before, after in zip(log.requests, log.requests[1:])
            if before.ended and after.arrived - before.ended < DELAY_S
        )

    def test_all_robots_come_first(self):
        self.none(
            f"{log.name}: {log.paths[0]} was asked for before robots.txt"
            for log in self.each_log()
            if log.paths and log.paths[0] != "/robots.txt" and "redirect to another" not in log.name
        )

    def test_all_requests_are_well_formed(self):
        self.none(
            said
            for log in self.each_log()
            for r in log.requests
            for said in ill(log, r, self.web.port)
        )

    def test_all_visits_are_bounded(self):
        self.none(
            f"{visit['url'][:200]}: {visit['total_us'] / 1e6:.0f} s, {visit['wire_bytes']} bytes"
            for visits in self.visits.values()
            for visit in visits
            if (visit["total_us"] or 0) > 66e6 or (visit["wire_bytes"] or 0) > 24 << 20
        )

    def test_all_counts_agree(self):
        archive.check_counts(self, self.dir)
        run = geomi("verify", self.dir)
        self.assertEqual(run.code, 0, run)

    def test_all_archives_are_readable(self):
        checked = archive.tool("warcio", "check", *archive.warcs(self.dir))
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)


def times_of(log):
    yield from log.events
    for request in log.requests:
        yield request.arrived
        if request.ended:
            yield request.ended


def ill(log, request, port):
    """What is wrong with a request as such: RFC 9112 3, RFC 9110 7.2, 10.1.5."""
    target, fields = request.path, request.headers
    if request.method != "GET":
        yield f"{log.name}: method {request.method}"
    if not target.startswith("/") or "#" in target or not all(0x20 < ord(c) < 0x7F for c in target):
        yield f"{log.name}: target {target[:100]!r}"
    if fields.get("host") != f"{log.address}:{port}":
        yield f"{log.name}: Host is {fields.get('host')!r}"
    if "geomi" not in fields.get("user-agent", ""):
        yield f"{log.name}: User-Agent is {fields.get('user-agent')!r}"
    if {"content-length", "transfer-encoding", "range"} & set(fields):
        yield f"{log.name}: fields {sorted(fields)}"


def test_of(name):
    def judged(self):
        site = next(site for site in self.web.sites if site.name == name)
        log = self.web.logs[name]
        said = list(site.judge(log, log.visits))
        seen = [f"{r.connection}: {r.path[:100]}" for r in log.requests[:20]]
        got = [
            (
                v["url"][-60:],
                v["state"],
                v["code"],
                v["error"],
                v["title"] and v["title"][:40],
                v["charset"],
            )
            for v in log.visits[:20]
        ]
        lines = [site.rule, *said, "asked:", *seen, "visits:", *map(str, got)]
        self.assertEqual(said, [], "\n".join(lines))

    return judged


class Names:
    """The names of the sites, which do not depend on their addresses."""

    port = 0

    def __call__(self, name, path="/"):
        return f"http://127.1.0.1{path}"


for each in hostile.sites(Names()):
    method = "test_" + "".join(c if c.isalnum() else "_" for c in each.name)
    setattr(Hostile, method, test_of(each.name))
