"""Politeness, as the server sees it."""

import email.utils
import signal
import time

import archive
from geomi import Case, Process, wait_until
from web import Answer, Raw, ScriptedWeb, page, robots

DELAY_S = 0.5
# The crawler reads a clock that the system may slew while it runs.
CLOCK_SLEW_S = 0.001


def addresses(count):
    return [f"127.0.2.{number + 1}" for number in range(count)]


def small_site(web, host, pages=6, latency=0.0):
    """A front page, its pages, a redirect and a page that is not there."""
    paths = [f"/{number}.html" for number in range(pages)]
    front = page(*paths, "/moved", "/missing", title=f"Front of {host}")
    front.latency = latency
    web[host, "/"] = front
    for path in paths:
        web[host, path] = page("/", title=f"{path} of {host}")
        web[host, path].latency = latency
    web[host, "/moved"] = Answer(status=301, headers={"Location": "/target.html"})
    web[host, "/target.html"] = page(title=f"Target on {host}")


class Polite(Case):
    def assert_rests(self, requests, rest=DELAY_S):
        """Each request came a rest after the answer before it."""
        for before, after in zip(requests, requests[1:]):
            gap = after.arrived - before.ended
            self.assertGreaterEqual(
                gap,
                rest - CLOCK_SLEW_S,
                f"{after.host}: {after.path} came {gap * 1000:.0f} ms after {before.path}",
            )

    def test_the_delay_holds_across_a_stop_and_a_kill(self):
        hosts = addresses(6)
        with ScriptedWeb(hosts) as web:
            for number, host in enumerate(hosts):
                small_site(web, host, latency=0.2 * (number % 3))
            args = self.crawl_args(
                "--seeds", self.seeds(web.url(host=host) for host in hosts),
                "--site-delay", "500ms",
            )  # fmt: skip
            self.interrupt(web, args, signal.SIGTERM, 143, after=15)
            self.interrupt(web, args, signal.SIGKILL, -9, after=30)
            self.interrupt(web, args, signal.SIGKILL, -9, after=36)
            with Process(args) as crawl:
                run = crawl.wait()
            self.assertEqual(run.code, 0, run)
            for host, requests in web.by_host().items():
                self.assert_rests(requests)
                self.assertEqual(requests[0].path, "/robots.txt", host)
                self.assertIn("/target.html", [request.path for request in requests])
        self.verify()

    def interrupt(self, web, args, number, code, after):
        """Stops a run in the middle, once the server has had so many requests."""
        with Process(args) as crawl:
            wait_until(
                lambda: len(web.requests) >= after or crawl.poll(),
                why=f"the server saw only {len(web.requests)} requests",
            )
            if number == signal.SIGKILL:
                web.client_left(time.monotonic())
            crawl.signal(number)
            run = crawl.wait(30)
        self.assertEqual(run.code, code, run)

    def test_the_delay_holds_after_a_broken_connection(self):
        with ScriptedWeb(["127.0.2.1"]) as web:
            host = "127.0.2.1"
            small_site(web, host, pages=2)
            # A connection kept alive breaks under the next request: asking again
            # is a request like any other.
            breaks_once = lambda request: page() if request.asked_before else Raw(b"", "reset")
            web[host, "/0.html"] = breaks_once
            web[host, "/1.html"] = lambda r: page() if r.asked_before else Raw(b"", "close")
            self.crawl(web.url(), "--site-delay", "500ms")
            self.assertEqual(web.paths().count("/0.html"), 2)
            self.assertEqual(web.paths().count("/1.html"), 2)
            self.assert_rests(web.by_host()[host])

    def test_many_hosts_at_one_address_share_four_connections(self):
        hosts = [f"host{number}.test" for number in range(24)]
        with ScriptedWeb(["127.0.2.1"]) as web:
            for host in hosts:
                small_site(web, host, pages=5, latency=0.02)
            self.crawl(
                "--seeds", self.seeds(web.url(host=host) for host in hosts),
                "--site-delay", "0s", "-c", 64, "--resolve", "*:127.0.2.1",
            )  # fmt: skip
            self.assertEqual(len(web.requests), len(hosts) * 10)
            self.assertLessEqual(web.most_at_once("127.0.2.1"), 4, "requests at once")
            self.assertLessEqual(web.most_connections["127.0.2.1"], 4, "connections at once")
            for requests in web.by_host().values():
                for before, after in zip(requests, requests[1:]):
                    self.assertGreaterEqual(after.arrived, before.ended, "one at a time a site")

    def test_crawl_delay_raises_the_delay(self):
        with ScriptedWeb(["127.0.2.1"]) as web:
            small_site(web, "127.0.2.1", pages=2)
            web["127.0.2.1", "/robots.txt"] = robots("User-agent: *\nCrawl-delay: 1.2\n")
            self.crawl(web.url(), "--site-delay", "100ms")
            self.assert_rests(web.by_host()["127.0.2.1"], 1.2)

    def test_crawl_delay_does_not_lower_the_delay(self):
        with ScriptedWeb(["127.0.2.1"]) as web:
            small_site(web, "127.0.2.1", pages=2)
            web["127.0.2.1", "/robots.txt"] = robots("User-agent: *\nCrawl-delay: 0.1\n")
            self.crawl(web.url(), "--site-delay", "500ms")
            self.assert_rests(web.by_host()["127.0.2.1"], 0.5)

    def test_retry_after_is_waited_for(self):
        in_three = lambda: email.utils.formatdate(time.time() + 3, usegmt=True)
        busy = {
            "127.0.2.1": lambda: Answer("busy", 503, {"Retry-After": "2"}),
            "127.0.2.2": lambda: Answer("slow down", 429, {"Retry-After": "2"}),
            # The date has whole seconds: at least two of the three are left.
            "127.0.2.3": lambda: Answer("busy", 503, {"Retry-After": in_three()}),
        }
        with ScriptedWeb(busy) as web:
            for host, answer in busy.items():
                small_site(web, host, pages=2)
                web[host, "/0.html"] = (
                    lambda request, answer=answer: page() if request.asked_before else answer()
                )
            seeds = self.seeds(web.url(host=host) for host in busy)
            self.crawl("--seeds", seeds, "--site-delay", "0s")
            for host, requests in web.by_host().items():
                paths = [request.path for request in requests]
                self.assertEqual(paths.count("/0.html"), 2, f"tried again: {paths}")
                at = paths.index("/0.html")
                self.assert_rests(requests[at : at + 2], 2.0)
        self.assertEqual(
            archive.query("select count(*) from visits where code in (429, 503)", self.dir), [(3,)]
        )

    def test_retry_after_holds_across_a_kill(self):
        with ScriptedWeb(["127.0.2.1"]) as web:
            small_site(web, "127.0.2.1", pages=1)
            busy = Answer("busy", 503, {"Retry-After": "3"})
            web["127.0.2.1", "/0.html"] = lambda request: page() if request.asked_before else busy
            args = self.crawl_args(web.url(), "--site-delay", "0s")
            with Process(args) as crawl:
                # It is known once it is in the log: what was lost is lost.
                log = self.dir / "log.jsonl"
                wait_until(lambda: crawl.poll() or log.exists() and b'"code":503' in log.read_bytes())
                crawl.kill()
            with Process(args) as crawl:
                run = crawl.wait()
            self.assertEqual(run.code, 0, run)
            requests = web.by_host()["127.0.2.1"]
            paths = [request.path for request in requests]
            at = paths.index("/0.html")
            self.assertEqual(paths.count("/0.html"), 2, paths)
            self.assert_rests(requests[at : at + 2], 3.0)

    def test_a_wait_too_long_retires_the_site_and_keeps_its_urls(self):
        answers = {"busy": True}
        with ScriptedWeb(addresses(2)) as web:
            for host in web.addresses:
                small_site(web, host, pages=3)
            away = Answer("come back", 503, {"Retry-After": "7200"})
            web["127.0.2.1", "/"] = lambda _: away if answers["busy"] else page("/0.html")
            seeds = self.seeds(web.url(host=host) for host in web.addresses)
            self.crawl("--seeds", seeds, "--site-delay", "0s", code=4)
            self.assertEqual(web.paths("127.0.2.1"), ["/robots.txt", "/"])
            self.assertEqual(len(set(web.paths("127.0.2.2"))), 8, "the other site is crawled")
            retired = archive.status(self.dir)["sites_retired"]
            self.assertIn("127.0.2.1", str(retired))
            self.assertNotIn("127.0.2.2", str(retired))
            queued = archive.status(self.dir)["queued"]
            self.assertEqual(queued, 1, "its URL waits for the next run")

    def test_a_disallowed_path_is_never_requested(self):
        rules = "User-agent: geomi\nDisallow: /private/\nAllow: /private/open.html\n"
        with ScriptedWeb(["127.0.2.1"]) as web:
            host = "127.0.2.1"
            web[host, "/robots.txt"] = robots(rules)
            web[host, "/"] = page(
                "/private/", "/private/a.html", "/private/open.html", "/%70rivate/b.html",
                "/moved", "/public.html",
            )  # fmt: skip
            web[host, "/moved"] = Answer(status=302, headers={"Location": "/private/c.html"})
            for path in ("/private/open.html", "/public.html"):
                web[host, path] = page("/private/d.html")
            self.crawl(web.url(), "--site-delay", "0s")
            expected = ["/robots.txt", "/", "/moved", "/private/open.html", "/public.html"]
            self.assertEqual(sorted(web.paths()), sorted(expected))
        counters = archive.status(self.dir)["counters"]
        self.assertEqual(counters["refused"], 5, counters)
        self.verify()

    def test_an_unreachable_robots_txt_closes_a_site_and_a_missing_one_opens_it(self):
        with ScriptedWeb(addresses(3)) as web:
            broken, missing, huge = web.addresses
            for host in web.addresses:
                web[host, "/"] = page("/a.html", "/late/b.html")
                web[host, "/a.html"] = page()
                web[host, "/late/b.html"] = page()
            web[broken, "/robots.txt"] = Answer("broken", status=500)
            web[missing, "/robots.txt"] = Answer("forbidden", status=403)
            # The rule lies before the 500 KiB that must be read at least.
            comment = "# " + "x" * 97 + "\n"
            web[huge, "/robots.txt"] = robots(
                "User-agent: *\n" + comment * 5000 + "Disallow: /late/\n" + comment * 10_000
            )
            seeds = self.seeds(web.url(host=host) for host in web.addresses)
            self.crawl("--seeds", seeds, "--site-delay", "0s")
            self.assertEqual(set(web.paths(broken)), {"/robots.txt"})
            everything = {"/robots.txt", "/", "/a.html", "/late/b.html"}
            self.assertEqual(set(web.paths(missing)), everything)
            self.assertEqual(set(web.paths(huge)), everything - {"/late/b.html"})

    def test_slow_sites_hold_nobody_up(self):
        """200 sites, 10 of them slow: each is asked as often as politeness allows."""
        hosts = addresses(200)
        with ScriptedWeb(hosts) as web:
            for number, host in enumerate(hosts):
                small_site(web, host, pages=12, latency=2.0 if number % 20 == 7 else 0.01)
            self.crawl(
                "--seeds", self.seeds(web.url(host=host) for host in hosts),
                "--site-delay", "500ms",
            )  # fmt: skip
            shares = []
            for requests in web.by_host().values():
                self.assert_rests(requests)
                self.assertEqual(len(requests), 17)
                needed = sum(r.ended - r.arrived + DELAY_S for r in requests[:-1])
                shares.append(needed / (requests[-1].arrived - requests[0].arrived))
            share = sum(shares) / len(shares)
            self.measured("share of the request rate that politeness allows", f"{share:.3f}")
            self.assertGreaterEqual(share, 0.95)
