"""Limits, signals, a full disk, a second writer: each ends as it should, and
the same command goes on from there."""

import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import archive
from geomi import Case, Process, geomi, wait_until
from web import ScriptedWeb, TestWeb, page

FAST = ("--site-delay", "0s", "--site-connections", 4, "-c", 16)


class Limits(Case):
    def saved(self):
        return archive.status(self.dir)["counters"]["saved"]

    def finish(self, web, *args):
        """The same again with a limit far away gets to the end: a limit once given
        stays in the directory's geomi.toml until another one is."""
        run = self.crawl(*args)
        self.assertEqual(run.done[1], 0, run)
        captures = archive.check_counts(self, self.dir)
        self.assertEqual(max(captures.values()), 1)
        pages = [url for url in captures if not url.endswith("/robots.txt")]
        self.assertEqual(len(pages), web.sites * web.pages)
        self.verify()

    def test_max_pages(self):
        with TestWeb(3, 200) as web:
            crawl = ["--seeds", self.seeds(web.seeds), "--scope", "any", *FAST]
            run = self.crawl(*crawl, "-n", 250, code=4)
            self.assertEqual(self.saved(), 250)
            self.assertIn("max-pages", run.last_line)
            self.verify()
            self.finish(web, *crawl, "-n", 10_000)

    def test_max_bytes(self):
        with TestWeb(3, 200) as web:
            crawl = ["--seeds", self.seeds(web.seeds), "--scope", "any", *FAST]
            run = self.crawl(*crawl, "--max-bytes", "3MB", code=4)
            self.assertIn("max-bytes", run.last_line)
            size = archive.status(self.dir)["counters"]["wire_bytes"]
            self.assertGreaterEqual(size, 3_000_000)
            self.assertLess(size, 3_000_000 + 16 * 200_000, "only what was under way came after")
            self.verify()
            self.finish(web, *crawl, "--max-bytes", "1GB")

    def test_max_time(self):
        with TestWeb(2, 50) as web:
            crawl = ["--seeds", self.seeds(web.seeds), "--scope", "any"]
            run = self.crawl(*crawl, "--site-delay", "100ms", "--max-time", "2s", code=4)
            self.assertIn("max-time", run.last_line)
            self.assertLess(run.seconds, 30)
            self.verify()
            self.finish(web, *crawl, *FAST, "--max-time", "10m")

    def test_depth(self):
        with TestWeb(1, 200) as web:
            self.crawl(*web.seeds, "-d", 1, *FAST)
        deepest = archive.query("select max(depth) from visits", self.dir)
        self.assertEqual(deepest, [(1,)])
        self.assertGreater(self.saved(), 10)

    def test_a_first_signal_finishes_what_is_under_way(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(signal=number.name), TestWeb(3, 300) as web:
                self.dir = self.folder / number.name
                crawl = ["--seeds", self.seeds(web.seeds), "--scope", "any", *FAST]
                with Process(self.crawl_args(*crawl)) as process:
                    wait_until(lambda: process.poll() or self.lines() > 100)
                    process.signal(number)
                    run = process.wait(30)
                self.assertEqual(run.code, code, run)
                self.assertRegex(run.last_line, r"^done: .* \(stopped\) -> ")
                self.assertLess(self.lines(), 900, "it was stopped in the middle")
                self.verify()
                self.finish(web, *crawl)
                self.assertEqual(web.stop(), 3 * 301, "nothing was asked for twice")

    def lines(self):
        try:
            return (self.dir / "log.jsonl").read_bytes().count(b"\n")
        except FileNotFoundError:
            return 0

    def test_a_second_signal_stops_now(self):
        with ScriptedWeb() as web:
            host = web.addresses[0]
            web[host, "/"] = page("/slow.html", "/quick.html")
            web[host, "/quick.html"] = page()
            slow = page()
            slow.latency = 40
            web[host, "/slow.html"] = slow
            patient = ["--set", "fetch.silence_timeout=60s"]
            args = self.crawl_args(web.url(), "--site-delay", "0s", *patient)
            with Process(args) as crawl:
                wait_until(lambda: crawl.poll() or "/slow.html" in web.paths())
                crawl.signal(signal.SIGINT)
                # The first signal waits for the answer: give it time to be heard.
                time.sleep(0.5)
                self.assertIsNone(crawl.poll(), "the first signal lets the answer come")
                asked = time.monotonic()
                crawl.signal(signal.SIGINT)
                run = crawl.wait(30)
                self.assertLess(time.monotonic() - asked, 5)
            self.assertEqual(run.code, 130, run)
            self.assertRegex(run.last_line, r"^done: ")
            self.verify()
            slow.latency = 0
            run = self.crawl(web.url(), "--site-delay", "0s", *patient)
            self.assertEqual(run.done[:2], (3, 0), run)
        captures = archive.check_counts(self, self.dir)
        self.assertEqual(max(captures.values()), 1)
        self.verify()

    def test_without_its_frontier_a_crawl_begins_anew_and_keeps_what_it_has(self):
        with TestWeb(2, 50) as web:
            crawl = ["--seeds", self.seeds(web.seeds), "--scope", "any", *FAST]
            self.crawl(*crawl)
            before = set(archive.query("select epoch_us(time), url from visits", self.dir))
            shutil.rmtree(self.dir / "frontier")
            self.crawl(*crawl)
            after = archive.query("select epoch_us(time), url from visits", self.dir)
            self.assertEqual(len(before - set(after)), 0, "visits were forgotten")
            self.assertEqual(len(after), 2 * len(before), "all were visited again")
            self.assertEqual(len(archive.log(self.dir)), len(after), "log.jsonl against visits")
            self.assertEqual(len(archive.cdxj(self.dir)), len(after), "CDXJ against visits")
            self.verify()

    def test_a_second_writer_is_refused_by_name(self):
        with TestWeb(2, 50) as web:
            args = self.crawl_args(*web.seeds, "--site-delay", "100ms")
            with Process(args) as first:
                wait_until(lambda: first.poll() or self.lines() > 4)
                second = geomi(*args)
                self.assertEqual(second.code, 1, second)
                self.assertIn(str(first.pid), second.err)
                first.signal(signal.SIGINT)
                run = first.wait(30)
            self.assertEqual(run.code, 130, run)
            self.verify()


@unittest.skipUnless(os.environ.get("GEOMI_MAY_MOUNT"), "only root may mount a small disk")
class FullDisk(Case):
    def mount(self, size):
        self.small = self.folder / "disk"
        self.small.mkdir()
        options = f"size={size}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.small], check=True)
        self.addCleanup(subprocess.run, ["umount", self.small], check=True)
        self.dir = self.small / "crawl"

    def grow(self, size):
        subprocess.run(["mount", "-o", f"remount,size={size}", self.small], check=True)

    def fill_and_go_on(self, size, pages, *options):
        self.mount(size)
        with TestWeb(8, pages) as web:
            crawl = ["--seeds", self.seeds(web.seeds), "--scope", "any", *FAST]
            run = geomi(*self.crawl_args(*crawl, *options))
            self.assertEqual(run.code, 5, run)
            self.assertRegex(run.err + run.out, re.compile("disk|space|room", re.I), run)
            self.assertGreater(len(archive.log(self.dir)), 100, "it was filled in the middle")
            # Full still: the same end, and nothing is harmed.
            run = geomi(*self.crawl_args(*crawl, *options))
            self.assertEqual(run.code, 5, run)
            self.grow("2g")
            run = self.crawl(*crawl)
            self.assertEqual(run.done[:2], (8 * pages, 0), run)
            captures = archive.check_counts(self, self.dir)
            self.assertEqual(max(captures.values()), 1)
            self.assertEqual(len(captures), 8 * (pages + 1))
            self.verify()

    def test_a_disk_nearly_full_stops_the_crawl_and_room_lets_it_go_on(self):
        # 64 MiB are left alone by default, as far as a look every second can tell.
        self.fill_and_go_on("100m", 2000)

    def test_a_write_that_fails_stops_the_crawl_and_room_lets_it_go_on(self):
        self.fill_and_go_on("12m", 500, "--set", "output.min_free=0B")
