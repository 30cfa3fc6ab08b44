"""Mistakes get a clear message and the right exit code, and harm nothing."""

import json

import archive
from geomi import LAST_LINE, Case, Process, geomi
from web import Raw, ScriptedWeb, page


class Messages(Case):
    def refused(self, *args, code=2, says=()):
        run = geomi("crawl", *args, "-o", self.dir, "--no-progress")
        self.assertEqual(run.code, code, run)
        for words in says:
            self.assertIn(words, run.err, run)
        self.assertNotIn("panicked", run.err)
        self.assertFalse((self.dir / "warc").exists(), "nothing was begun")
        return run

    def config(self, text):
        path = self.folder / "geomi.toml"
        path.write_text(text)
        return path

    def test_a_misspelled_key(self):
        path = self.config('[politeness]\nsite_dealy = "1s"\n')
        self.refused("http://127.0.2.1/", "--config", path, says=["site_dealy", "site_delay"])

    def test_a_delay_without_unit(self):
        self.refused("http://127.0.2.1/", "--site-delay", "5", says=["5", "5s"])
        path = self.config("[politeness]\nsite_delay = 5\n")
        self.refused("http://127.0.2.1/", "--config", path, says=["site_delay"])

    def test_all_mistakes_at_once(self):
        path = self.config('[politeness]\nsite_dealy = "1s"\n[crawl]\nconnectoins = 3\n')
        self.refused("http://127.0.2.1/", "--config", path, says=["site_dealy", "connectoins"])

    def test_a_public_host_needs_a_contact(self):
        self.refused("http://www.example.com/", says=["--contact"])

    def test_a_seeds_file_that_cannot_be_read(self):
        path = self.folder / "nowhere.txt"
        self.refused("--seeds", path, says=["nowhere.txt"])

    def test_a_seed_that_is_no_url(self):
        self.refused("--seeds", self.seeds(["http://127.0.2.1/", "http://[bad/"]), says=["2"])

    def test_no_seed_at_all(self):
        self.refused()

    def test_a_bad_regular_expression(self):
        self.refused("http://127.0.2.1/", "--include", "re:(unclosed", says=["(unclosed"])

    def test_ignoring_robots_needs_a_word(self):
        self.refused("http://127.0.2.1/", "--robots", "ignore", says=["--i-own-these-hosts"])

    def test_an_unknown_flag(self):
        self.refused("http://127.0.2.1/", "--dpeth", "3", says=["--depth"])


class Words(Case):
    def test_jsonl_is_one_object_a_visit_and_nothing_else(self):
        with ScriptedWeb() as web:
            web[web.addresses[0], "/"] = page("/a", "/broken")
            web[web.addresses[0], "/a"] = page()
            web[web.addresses[0], "/broken"] = Raw(b"nonsense")
            run = self.crawl(web.url(), "--site-delay", "0s", "--format", "jsonl")
            lines = [json.loads(line) for line in run.out.splitlines()]
            urls = {line["url"] for line in lines}
            self.assertEqual(urls, {web.url(path) for path in ("/robots.txt", "/", "/a", "/broken")})
            self.assertEqual(len(lines), len(web.requests))
        self.assertRegex(run.err.strip().splitlines()[-1], LAST_LINE)

    def test_seeds_come_from_standard_input_too(self):
        with ScriptedWeb(["127.0.2.1", "127.0.2.2"]) as web:
            for host in web.addresses:
                web[host, "/"] = page(title=host)
            seeds = self.seeds(["# two", "", *(web.url(host=host) for host in web.addresses)])
            with open(seeds, "rb") as stdin:
                with Process(self.crawl_args("--seeds", "-"), stdin=stdin) as crawl:
                    run = crawl.wait()
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.done[:2], (2, 0), run)

    def test_a_page_seen_elsewhere_is_a_revisit(self):
        with ScriptedWeb() as web:
            host = web.addresses[0]
            web[host, "/"] = page("/one.html", "/two.html")
            web[host, "/one.html"] = web[host, "/two.html"] = page(text="The same words.")
            run = self.crawl(web.url(), "--site-delay", "0s")
        self.assertEqual(run.done[:2], (3, 0))
        kinds = [kind for kind, _ in archive.records(self.dir)]
        self.assertEqual(kinds.count("revisit"), 1)
        archive.check_counts(self, self.dir)
        self.verify()

    def test_damage_is_found(self):
        with ScriptedWeb() as web:
            web[web.addresses[0], "/"] = page(text="A text to be harmed. " * 50)
            self.crawl(web.url())
        path = archive.warcs(self.dir)[0]
        data = bytearray(path.read_bytes())
        data[-200] ^= 0xFF
        path.write_bytes(data)
        run = geomi("verify", self.dir)
        self.assertEqual(run.code, 6, run)
