"""Parties and their seeds; priorities."""

import archive
from geomi import Case
from web import Answer, ScriptedWeb, page

FAST = ("--site-delay", "0s")


class Party(Case):
    def web(self):
        web = ScriptedWeb([f"127.0.2.{number}" for number in range(1, 5)])
        self.addCleanup(web.stop)
        first, second, third, _ = web.addresses
        web[first, "/"] = page("/a.html", web.url("/deep/page.html", second))
        web[first, "/a.html"] = page(web.url("/", second), web.url("/x.html", third))
        web[second, "/"] = page("/b.html", title="The second site")
        web[second, "/b.html"] = page(web.url("/", first))
        web[second, "/deep/page.html"] = page("/b.html", title="Deep in the second site")
        web[third, "/"] = page("/c.html", title="The third site")
        web[third, "/c.html"] = page()
        web[third, "/x.html"] = page()
        return web

    def test_external_links_become_seeds_and_the_list_is_the_next_input(self):
        web = self.web()
        first, second, third, _ = web.addresses
        seeds = self.seeds([f"{web.url()}\tnews"])
        self.crawl("--seeds", seeds, "--scope", "party", *FAST)
        self.assertIn("/b.html", web.paths(second), "a seed found has a party too")
        out = [line.split("\t") for line in (self.dir / "seeds-out.txt").read_text().splitlines()]
        urls = [line[0] for line in out]
        self.assertEqual(urls[0], web.url(), "the input comes first")
        self.assertEqual(len(urls), len(set(urls)), "each once")
        for host in (second, third):
            self.assertTrue(any(url.startswith(web.url("", host)) for url in urls), urls)
        self.assertEqual({line[1] for line in out}, {"news"}, "a found seed keeps the topic")
        rows = archive.query("select url, found, state from seeds order by id", self.dir)
        self.assertEqual([row[0] for row in rows], urls)
        self.assertEqual(rows[0][1:], ("input", "OK"))
        self.assertEqual({row[1] for row in rows[1:]}, {"discovered"})
        topics = archive.query(
            "select distinct topic from visits where not is_robots", self.dir
        )
        self.assertEqual(topics, [("news",)])
        self.verify()

        again = self.folder / "again"
        self.crawl("--seeds", self.dir / "seeds-out.txt", "--scope", "party", *FAST, into=again)
        next_out = (again / "seeds-out.txt").read_text().splitlines()
        self.assertLessEqual({"\t".join(line) for line in out}, set(next_out))
        given = archive.query("select count(*) from seeds where found = 'input'", again)
        self.assertEqual(given, [(len(urls),)])

    def test_host_scope_leaves_other_sites_alone(self):
        web = self.web()
        self.crawl(web.url(), *FAST)
        self.assertEqual(sorted(set(web.paths(web.addresses[0]))), ["/", "/a.html", "/robots.txt"])
        self.assertEqual(len(web.requests), 3)
        self.assertEqual((self.dir / "seeds-out.txt").read_text().split(), [web.url()])


class Priority(Case):
    def test_the_preferred_come_first_and_the_least_still_move(self):
        # 1,000 links: 10 preferred at the very end, 90 that a prioritizer must
        # like least (long, deep, with a query), 900 ordinary ones.
        plain = [f"/p{number}.html" for number in range(900)]
        far = "/far/away/from/the/front/page/indeed"
        least = [f"{far}/view?{'x' * 200}={number}" for number in range(90)]
        hot = [f"/hot/{number}.html" for number in range(10)]
        with ScriptedWeb() as web:
            host = web.addresses[0]
            web[host, "/"] = page(*plain, *least, *hot)
            for path in plain + least + hot:
                web[host, path] = Answer(f"<p>{path}</p>")
            prefer = ["--set", 'crawl.prefer=["*/hot/*"]']
            self.crawl(web.url(), *FAST, *prefer)
            order = [path for path in web.paths() if path not in ("/", "/robots.txt")]
        self.assertEqual(len(order), 1000)
        ranks = lambda paths: sorted(order.index(path) for path in paths)
        self.assertLess(ranks(hot)[-1], 30, "the preferred come first")
        priorities = dict(
            archive.query(
                "select case when url like '%/hot/%' then 'hot' when url like '%/far/%' then 'least'"
                " else 'plain' end, avg(priority) from visits"
                " where depth = 1 and not is_robots group by all",
                self.dir,
            )
        )
        self.assertEqual(priorities["hot"], 1)
        self.assertLess(priorities["plain"], priorities["least"])
        # Nobody starves: some of the least come while ordinary ones still wait.
        self.assertLess(ranks(least)[0], 500)
        self.assertLess(ranks(least)[0], ranks(plain)[-1])
