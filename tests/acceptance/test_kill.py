"""kill -9 at random moments: nothing is lost, nothing is stored twice."""

import random
import time

import archive
from geomi import Case, Process, wait_until
from web import TestWeb

SITES, PAGES, CONNECTIONS, KILLS = 20, 500, 32, 8


class Kill(Case):
    def test_eight_kills_lose_no_page_and_store_none_twice(self):
        draw = random.Random(20)
        with TestWeb(SITES, PAGES) as web:
            args = self.crawl_args(
                "--seeds", self.seeds(web.seeds), "--scope", "any", "--site-delay", "0s",
                "--site-connections", 8, "-c", CONNECTIONS,
            )  # fmt: skip
            for kill in range(KILLS):
                with Process(args) as crawl:
                    self.wait_for_a_moment(crawl, draw, kill)
                    run = crawl.kill()
                    self.assertEqual(run.code, -9, f"it ended before kill {kill}: {run}")
            with Process(args) as crawl:
                run = crawl.wait()
            requests = web.stop()
        self.assertEqual(run.code, 0, run)
        self.check_archive()
        urls = SITES * (PAGES + 1)
        repeated = requests - urls
        self.measured("requests repeated", f"{repeated} over {KILLS} kills")
        self.assertGreaterEqual(repeated, 0, "every URL was asked for")
        self.assertLessEqual(repeated, KILLS * CONNECTIONS)

    def wait_for_a_moment(self, crawl, draw, kill):
        """A moment somewhere in the next eighth of the pages, and one of the kills
        at the very beginning of a run, when it still repairs what the last one left."""
        pause = draw.uniform(0, 0.05)
        if kill != 4:
            pages = self.pages_logged() + draw.randrange(SITES * PAGES // (KILLS + 1))
            wait_until(
                lambda: self.pages_logged() >= pages or crawl.poll(),
                why=f"the crawl did not get to {pages} pages",
            )
        time.sleep(pause)

    def pages_logged(self):
        try:
            with open(self.dir / "log.jsonl", "rb") as file:
                return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
        except FileNotFoundError:
            return 0

    def check_archive(self):
        captures = archive.check_counts(self, self.dir)
        twice = {url: count for url, count in captures.items() if count != 1}
        self.assertEqual(twice, {}, "stored more than once")
        pages = [url for url in captures if not url.endswith("/robots.txt")]
        self.assertEqual(len(pages), SITES * PAGES, "no page is lost")
        self.verify()
        archive.check_tools(self, self.dir)
