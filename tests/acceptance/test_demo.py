"""`geomi demo`: a web, a crawl and a report, without a network."""

import json

from geomi import Case, Process, geomi, wait_until


class Demo(Case):
    def test_it_ends_by_itself_and_leaves_a_sound_directory(self):
        run = geomi("demo", cwd=self.folder, seconds=120)
        self.assertEqual(run.code, 0, run)
        self.assertRegex(run.out + run.err, r"(?m)^done: \d+ saved, ")
        found = [path.parent for path in self.folder.rglob("seeds-out.txt")]
        self.assertEqual(len(found), 1, run)
        self.verify(found[0])
        self.measured("the demo took", f"{run.seconds:.1f} s")

    def test_one_that_was_killed_goes_on(self):
        log = self.folder / "geomi-demo" / "log.jsonl"
        visits = lambda: log.read_text().splitlines() if log.exists() else []
        with Process(["demo"], cwd=self.folder) as demo:
            wait_until(lambda: len(visits()) > 200, why="200 visits were not made")
            demo.kill()
        before = len(visits())
        run = geomi("demo", cwd=self.folder, seconds=120)
        self.assertEqual(run.code, 0, run)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["geomi-demo"])
        after = visits()
        self.assertGreater(len(after), before)
        good = [visit["url"] for visit in map(json.loads, after) if visit["state"] == "OK"]
        pages = [url for url in good if not url.endswith("/robots.txt")]
        self.assertEqual(len(pages), len(set(pages)), "pages were crawled anew")
        self.verify(self.folder / "geomi-demo")
        run = geomi("demo", "-o", "geomi-demo", cwd=self.folder)
        self.assertEqual(run.code, 1, run)
        self.assertIn("is there already", run.err)
