"""The operator's commands, seen from outside."""

import csv
import html.parser
import io
import json
import os
import subprocess
import time
import urllib.parse

from geomi import Case, Process, geomi, wait_until
from web import Answer, ScriptedWeb, TestWeb, page

# Crawls of one test are not seen by those of another.
QUICK = ["--scope", "any", "--site-delay", "0s", "--site-connections", "4"]


class Operator(Case):
    def setUp(self):
        super().setUp()
        self.env = {"XDG_RUNTIME_DIR": str(self.folder / "runtime")}

    def geomi(self, *args, code=0):
        run = geomi(*args, env=self.env)
        self.assertEqual(run.code, code, run)
        return run

    def json(self, *args, code=0):
        return json.loads(self.geomi(*args, "--format", "json", code=code).out)

    def small_crawl(self, web):
        self.crawl("--seeds", self.seeds(web.seeds), *QUICK)


class Commands(Operator):
    def test_json_of_every_command_parses(self):
        with TestWeb(2, 30, 4_000, lively=True) as web:
            self.small_crawl(web)
            status = self.json("crawl", "-o", self.dir, "--no-progress")
            self.assertEqual(status["state"], "done")
            self.json("fetch", web.seeds[0], "--site-delay", "0s")
        self.json("verify", self.dir)
        self.assertIn("causes", self.json("explain", self.dir)["crawl"])
        self.json("explain", self.dir, web.seeds[0])
        self.json("explain", self.dir, "127.0.1.1")
        report = self.json("report", self.dir, "--top", "0")
        self.assertEqual(report["overview"]["saved"], status["counters"]["saved"])
        self.assertEqual(self.json("ls"), [])
        self.assertEqual(len(self.json("ls", self.folder)), 1)
        summary = self.json("export", self.dir, "--as", "urls", "-o", self.folder / "urls.txt")
        self.assertGreater(summary["exported"], 0)
        self.assertIn("politeness.site_delay", self.json("config", "-o", self.dir))
        self.assertEqual(self.json("schema")["type"], "object")

    def test_help_of_every_command_has_an_example(self):
        names = [
            line.split()[0]
            for line in self.geomi("--help").out.splitlines()
            if line.startswith("  ") and line[2:3].islower()
        ]
        self.assertIn("export", names)
        for name in names:
            said = self.geomi(name, "--help").out
            self.assertIn("Example", said, name)
            self.assertIn("Exit code", said, name)

    def test_report_as_csv_agrees_with_json(self):
        with TestWeb(3, 20, 4_000, lively=True) as web:
            self.small_crawl(web)
        rows = self.json("report", self.dir, "--section", "sites", "--top", "0")["sites"]["rows"]
        said = self.geomi("report", self.dir, "--section", "sites", "--top", "0", "--format", "csv")
        table = list(csv.DictReader(io.StringIO(said.out)))
        self.assertEqual([row["site"] for row in table], [row["site"] for row in rows])
        self.geomi("verify", self.dir, "--format", "csv", code=2)

    def test_completions_and_man_pages(self):
        script = self.geomi("completions", "bash").out
        subprocess.run(["bash", "-n"], input=script.encode(), check=True)
        self.assertIn(".SH SYNOPSIS", self.geomi("man", "crawl").out)


class Steering(Operator):
    def steered(self, web, *more):
        args = self.crawl_args(*web, "--scope", "host", *more)
        return Process(args, env=self.env)

    def test_a_pause_stops_requests_within_a_second(self):
        hosts = [f"127.0.2.{n + 1}" for n in range(4)]
        with ScriptedWeb(hosts) as web:
            for host in hosts:
                web[host, "/"] = page(*[f"/{n}" for n in range(200)])
                for n in range(200):
                    web[host, f"/{n}"] = page(title=f"{n} of {host}")
            seeds = [web.url(host=host) for host in hosts]
            with self.steered(seeds, "--site-delay", "20ms") as crawl:
                wait_until(lambda: len(web.requests) > 40)
                self.geomi("pause", self.dir)
                paused = time.monotonic()
                late = lambda: [r for r in web.requests if r.arrived > paused + 1]
                wait_until(lambda: time.monotonic() > paused + 2)
                self.assertEqual(late(), [])
                self.geomi("resume", self.dir)
                wait_until(lambda: len(late()) > 10)
                self.geomi("set", self.dir, "politeness.site_delay=0s")
                run = crawl.wait()
            self.assertEqual(run.done[0], 4 * 201, run)
        self.verify()

    def test_live_exclusions_and_delays_hold_from_the_next_request(self):
        with ScriptedWeb() as web:
            host = web.addresses[0]
            web[host, "/"] = page(*[f"/{kind}/{n}" for n in range(60) for kind in ("keep", "drop")])
            for n in range(60):
                for kind in ("keep", "drop"):
                    web[host, f"/{kind}/{n}"] = page(title=f"{kind} {n}")
            with self.steered([web.url()], "--site-delay", "20ms") as crawl:
                wait_until(lambda: len(web.requests) > 10)
                settings = ["scope.exclude+=*/drop/*", "politeness.site_delay=100ms"]
                self.geomi("set", self.dir, *settings)
                changed = time.monotonic()
                self.geomi("set", self.dir, "cluster.partitions=7", code=2)
                run = crawl.wait()
            self.assertEqual(run.code, 0, run)
            later = [r for r in web.requests if r.arrived > changed]
            self.assertGreater(len(later), 20)
            self.assertFalse([r.path for r in later if r.path.startswith("/drop/")])
            for before, after in zip(later, later[1:]):
                self.assertGreaterEqual(after.arrived - before.ended, 0.099)
            self.assertEqual(sum(p.startswith("/keep/") for p in web.paths()), 60)
        self.verify()

    def test_stop_and_resume_lose_nothing(self):
        with TestWeb(3, 40, 4_000) as web:
            args = self.crawl_args("--seeds", self.seeds(web.seeds), "--scope", "any")
            with Process([*args, "--site-delay", "50ms"], env=self.env) as crawl:
                wait_until(lambda: (self.dir / "log.jsonl").exists())
                wait_until(lambda: (self.dir / "log.jsonl").read_text().count("\n") > 5)
                self.geomi("stop", self.dir)
                self.assertEqual(crawl.wait().code, 143)
            self.verify()
            run = self.crawl("--seeds", self.seeds(web.seeds), *QUICK)
            self.assertEqual(run.done[0], 120, run)
            # Pages and robots.txt of three sites, each once.
            self.assertEqual(web.stop(), 120 + 3)


class Robot2003(Operator):
    SCALE = 100

    def test_its_gaps_limits_and_depth_in_scaled_time(self):
        with ScriptedWeb() as web:
            host = web.addresses[0]
            latency = 0.06
            for depth in range(9):
                answer = page(f"/{depth + 1}", title=f"{depth} links away")
                # Every second one is slow enough for ten times to be more than 30 s.
                answer.latency = latency if depth % 2 else 0.0
                web[host, f"/{depth}"] = answer
            long = "/" + "x" * 260
            web[host, "/"] = page("/1", long, "/big", title="Start")
            web[host, long] = page(title="A long name")
            web[host, "/big"] = Answer(b"<p>" + b"word " * (3 << 20 >> 2))
            run = self.crawl(
                web.url(), "--preset", "robot-2003", "--time-scale", self.SCALE, seconds=120
            )  # fmt: skip
            self.assertEqual(run.code, 0, run)
            requests = web.by_host()[host]
            for before, after in zip(requests, requests[1:]):
                took = before.ended - before.arrived
                least = max(30 / self.SCALE, 10 * took)
                self.assertGreaterEqual(after.arrived - before.ended, least - 0.002, before.path)
            paths = web.paths()
            self.assertIn("/5", paths)
            self.assertNotIn("/6", paths, "five links away is far enough")
            self.assertNotIn(long, paths)
        said = self.geomi("export", self.dir, "--as", "jsonl", "--url", "*/big").out
        self.assertEqual(json.loads(said)["body_bytes"], 2 << 20)

    def test_its_numbers(self):
        numbers = {
            "crawl.connections": "30",
            "crawl.sites_in_memory": "450",
            "crawl.tries": "1",
            "scope.depth": "5",
            "scope.url_chars_max": "255",
            "scope.seed_chars_max": "100",
            "scope.party_urls_max": "640000",
            "fetch.silence_timeout": '"5s"',
            "fetch.body_max": '"2MiB"',
            "politeness.adaptive_floor": '"30s"',
            "politeness.adaptive_factor": "10",
        }
        shown = self.json("config", "--preset", "robot-2003")
        for key, value in numbers.items():
            self.assertEqual(str(shown[key]["value"]).replace("_", ""), value, key)
            self.assertEqual(shown[key]["from"], "preset robot-2003")


class Links(html.parser.HTMLParser):
    """Title and links of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.title, self._in_title = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self._in_title = tag == "title"
        if tag == "a":
            self.links.append(dict(attrs).get("href"))

    def handle_endtag(self, _):
        self._in_title = False

    def handle_data(self, data):
        if self._in_title:
            self.title += data


class Mirror(Operator):
    def browse(self, path):
        """The page as a browser shows it, opened from the file system."""
        shown = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={self.folder / 'profile'}", "--dump-dom", path.as_uri()],
            capture_output=True, timeout=120, env={**os.environ, "HOME": str(self.folder)},
        )  # fmt: skip
        self.assertEqual(shown.returncode, 0, shown.stderr.decode())
        return Links(shown.stdout.decode())

    def test_a_mirror_opens_in_a_browser_with_working_links(self):
        with TestWeb(3, 25, 4_000, lively=True) as web:
            self.small_crawl(web)
        titles = {}
        for line in self.geomi("export", self.dir, "--as", "jsonl", "--code", "200").out.splitlines():
            visit = json.loads(line)
            titles[visit["url"]] = visit.get("title")
        mirror = self.folder / "mirror"
        self.geomi("export", self.dir, "--as", "files", "-o", mirror)
        start = self.browse(mirror / "index.html")
        local = lambda base, link: (base.parent / urllib.parse.unquote(link.split("#")[0])).resolve()
        entries = [local(mirror / "index.html", l) for l in start.links if l and ":" not in l]
        self.assertGreaterEqual(len(entries), 3)
        followed = set()
        for entry in entries[:3]:
            shown = self.browse(entry)
            self.assertIn(shown.title.strip(), titles.values())
            inner = [local(entry, l) for l in shown.links if l and not urllib.parse.urlsplit(l).scheme]
            for target in inner[:40]:
                self.assertTrue(target.is_file(), f"{entry} links to {target}")
                self.assertTrue(target.is_relative_to(mirror.resolve()))
            followed.update(inner[:2])
        self.assertTrue(followed)
        for target in followed:
            self.assertIn(self.browse(target).title.strip(), titles.values())

    def test_crawl_log_has_heritrix_fields_in_order(self):
        with TestWeb(2, 20, 4_000, lively=True) as web:
            self.small_crawl(web)
        lines = self.geomi("export", self.dir, "--as", "crawl-log").out.splitlines()
        self.assertGreater(len(lines), 40)
        for line in lines:
            fields = line.split()
            self.assertEqual(len(fields), 12, line)
            stamp, code, size, url, path, via, mime, worker, fetched, digest, source, notes = fields
            self.assertRegex(stamp, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertRegex(code, r"^-?\d+$")
            self.assertRegex(size, r"^(\d+|-)$")
            self.assertTrue(url.startswith("http://127.0.1."), line)
            self.assertRegex(path, r"^([RELPXSM]+|-)$")
            self.assertRegex(fetched, r"^(\d{17}\+\d+|-)$")
            self.assertRegex(digest, r"^(sha1:[A-Z2-7]{32}|-)$")
