"""The console, as a person and as a program meet it."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from playwright.sync_api import expect

from console import LANGUAGES, TABS, WIDTHS, Browser, Console
from geomi import Case, geomi, wait_until
from web import Answer, ScriptedWeb, TestWeb, robots

SCRIPT = "<script>window.hacked = 1; alert('x')</script>"


class Served(Case):
    def setUp(self):
        super().setUp()
        self.env = {"XDG_RUNTIME_DIR": str(self.folder / "runtime")}
        self.root = self.folder / "root"
        self.console = self.enterContext(Console(self.root, self.env))
        self.browser = self.enterContext(Browser(self.console))
        self.browser.make_admin(self.console)
        self.page = self.browser.page

    def start(self, url):
        """A crawl started in the browser; its id. It is a process of its own and
        outlives the console: it is stopped when the test ends."""
        name = self.browser.start([url])
        self.addCleanup(geomi, "stop", self.root / name, env=self.env)
        return name

    def crawled(self, name, *words, code=0):
        """A crawl made without the console, which sees it at once."""
        self.crawl(*words, "--site-delay", "0s", into=self.root / name, code=code)
        self.assertTrue(self.browser.context.request.get(f"/crawls/{name}").ok)


class Pages(Served):
    def kept_fresh(self, name):
        """Two days in which its pages are visited again; a day passes in three seconds."""
        words = ["--max-time", "2d", "--budget", "2", "--site-delay", "10s", "--time-scale", "28800"]
        run = geomi("refresh", "run", self.root / name, *words, "--no-progress", env=self.env)
        self.assertEqual(run.code, 4, run)

    def test_every_page_in_both_languages_and_widths(self):
        """No message in the browser's console, no page wider than its window,
        nothing for axe to say, while a crawl runs."""
        axe = Path(os.environ["GEOMI_AXE"]).read_text()
        with TestWeb(4, 60, 4_000, lively=True) as web:
            self.crawled("done", "--seeds", self.seeds(web.seeds), "-n", "60", code=4)
            self.kept_fresh("done")
            running = self.start(web.seeds[0])
            wait_until(lambda: (self.root / running / "log.jsonl").exists())
            seed = urllib.parse.quote(web.seeds[0], safe="")
            places = ["/", "/workers", "/settings"]
            places += [f"/crawls/{running}{tab}" for tab in TABS]
            places += [f"/crawls/done{tab}" for tab in TABS]
            places += [f"/crawls/done/captures?url={seed}", "/crawls/nowhere"]
            for language in LANGUAGES:
                self.browser.speak(language, self.console)
                for place in places:
                    self.look_at(place, language, axe)
            self.page.goto("/crawls/done/changes")
            self.assertEqual(self.page.locator(".curve").count(), 2)
        # A page that is not there is told as a message by the browser itself.
        said = [text for text in self.browser.said if "404" not in text]
        self.assertEqual(said, [])

    def look_at(self, place, language, axe):
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 900})
            if width == WIDTHS[0]:
                self.page.goto(place, wait_until="domcontentloaded")
            where = f"{place} in {language} at {width} px"
            self.assertEqual(self.page.get_attribute("html", "lang"), language, where)
            wide = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            self.assertLessEqual(wide, 0, where)
            if width == WIDTHS[1]:
                continue
            # By the debugger: the policy lets no script into the page itself.
            self.page.evaluate(axe)
            found = self.page.evaluate("axe.run(document)")
            told = [(v["id"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found["violations"]]
            self.assertEqual(told, [], where)

    def test_hostile_pages_are_shown_as_text(self):
        with ScriptedWeb() as web:
            host = web.addresses[0]
            attack = urllib.parse.quote(f"/\"'>{SCRIPT}")
            web[host, "/robots.txt"] = robots(f"User-agent: *\nDisallow: /no{SCRIPT}\n# {SCRIPT}")
            body = f"<title>{SCRIPT.replace('<', '&lt;')}</title><a href=\"{attack}\">on</a>{SCRIPT}"
            fields = {"Server": SCRIPT, "X-Note": SCRIPT}
            web[host, "/"] = Answer(body, headers=fields)
            odd = {**fields, "Content-Type": "text/html; charset=" + SCRIPT}
            web[host, attack] = Answer(body, headers=odd)
            self.crawled("hostile", web.url())
            asked = urllib.parse.quote(web.url(), safe="")
            more = [f"/captures?url={asked}", "/report?section=servers", "/report?section=biggest_pages"]
            shown = 0
            for tab in [*TABS, *more]:
                self.page.goto(f"/crawls/hostile{tab}")
                self.assertIsNone(self.page.evaluate("window.hacked ?? null"), tab)
                shown += "<script>" in self.page.inner_text("body")
            self.assertGreaterEqual(shown, 1, "the attack was not even shown")
            token = self.browser.token()
            path = f"/api/v1/crawls/hostile/captures/body?url={asked}"
            request = urllib.request.Request(
                self.console.url + path, headers={"Authorization": f"Bearer {token}"}
            )
            with urllib.request.urlopen(request) as answer:
                self.assertEqual(answer.headers["Content-Disposition"], "attachment")
                self.assertEqual(answer.headers.get_content_type(), "application/octet-stream")
                self.assertTrue(answer.headers["Content-Security-Policy"].startswith("sandbox"))
                self.assertIn(SCRIPT.encode(), answer.read())
        self.assertEqual(self.browser.said, [])

    def test_two_captures_are_compared(self):
        with ScriptedWeb() as web:
            host = web.addresses[0]
            lines = [f"<p>Line {n}</p>" for n in range(40)]
            for word in ("morning", "evening"):
                web[host, "/"] = Answer("".join([*lines[:20], f"<p>Good {word}</p>", *lines[20:]]))
                more = ["--again"] if word == "evening" else [web.url()]
                self.crawled("twice", *more)
                # Captures are told apart by their second.
                done = time.time()
                wait_until(lambda: int(time.time()) > int(done))
            asked = urllib.parse.quote(web.url(), safe="")
        self.page.goto("/crawls/twice/pages")
        self.page.click(f"a[href$='captures?url={asked}'] >> nth=0")
        self.page.click("form[action$='/captures'] button.primary")
        self.assertEqual(self.page.inner_text(".diff del").split()[-1], "morning")
        self.assertEqual(self.page.inner_text(".diff ins").split()[-1], "evening")
        self.page.goto("/crawls/twice/changes")
        self.assertGreaterEqual(self.page.locator(".heat").count(), 1)

    def test_lighthouse_has_nothing_to_ask_for(self):
        """Crawls and Live with no crawl running, as Lighthouse's telephone sees them."""
        with TestWeb(4, 40, 4_000) as web:
            self.crawled("done", "--seeds", self.seeds(web.seeds))
        sent = "; ".join(f"{c['name']}={c['value']}" for c in self.browser.context.cookies())
        for place in ("/", "/crawls/done"):
            best, told = 0, []
            # A busy machine makes a page slow and nothing makes it fast: the best of five.
            for _ in range(5):
                scores, told = self.judged(place, {"Cookie": sent})
                if scores is None:
                    continue
                self.assertEqual(scores["accessibility"], 100, f"{place}: {told}")
                self.assertEqual(scores["best-practices"], 100, f"{place}: {told}")
                best = max(best, scores["performance"])
                if best >= 95:
                    break
            self.measured(f"Lighthouse on {place}", f"performance {best}, the others 100")
            self.assertGreaterEqual(best, 95, f"{place}: {told}")

    def judged(self, place, headers):
        """Lighthouse's scores in per cent, and the audits that were not passed.

        No scores, and its words, where it could not measure: on a slow machine Chromium's
        trace may lack the start of the page, and Lighthouse asks to be run again.
        """
        report = self.folder / "lighthouse.json"
        words = [
            os.environ["GEOMI_LIGHTHOUSE"], self.console.url + place, "--quiet",
            "--output=json", f"--output-path={report}", f"--extra-headers={json.dumps(headers)}",
            "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
            "--only-categories=performance,accessibility,best-practices",
        ]  # fmt: skip
        env = {**os.environ, "CHROME_PATH": "/usr/bin/chromium"}
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=env)
        if done.returncode != 0:
            return None, done.stderr[-2_000:]
        found = json.loads(report.read_text())
        scores = {name: round(one["score"] * 100) for name, one in found["categories"].items()}
        poor = [name for name, one in found["audits"].items() if (one["score"] or 1) < 0.9]
        return scores, poor

    def test_a_week_is_planned_painted_and_on_disk(self):
        web = self.enterContext(TestWeb(4, 40, 4_000))
        self.crawled("week", "--seeds", self.seeds(web.seeds))
        table = self.root / "week" / "schedule.csv"
        self.page.goto("/crawls/week/schedule")
        self.assertIn("geomi refresh plan", self.page.inner_text(".empty"))
        self.page.click("main form[action$='/schedule/plan'] button")
        self.page.wait_for_selector(".week")
        planned = table.read_text().splitlines()
        self.assertEqual(planned[0], "day,hour,url")
        self.assertGreater(len(planned), 40)
        # A stroke from Monday 8 to 11, and Sunday midnight by keyboard.
        first = self.page.locator("[name=h32]").bounding_box()
        last = self.page.locator("[name=h35]").bounding_box()
        low = first["y"] + first["height"] - 4
        self.page.mouse.move(first["x"] + 4, low)
        self.page.mouse.down()
        self.page.mouse.move(last["x"] + 4, low, steps=20)
        self.page.mouse.up()
        self.page.focus("[name=h1]")
        self.page.keyboard.press("ArrowLeft")
        midnight = self.page.locator("[name=h0]")
        expect(midnight).to_be_focused()
        self.page.keyboard.press("Space")
        expect(midnight).to_be_checked()
        self.page.click("button[value=save]")
        self.page.wait_for_selector(".week")
        free = ["Sunday,0,-"] + [f"Monday,{hour},-" for hour in (8, 9, 10, 11)]
        self.assertEqual(table.read_text().splitlines(), [planned[0], *free, *planned[1:]])
        # Planned anew, the hours stay free; opened, the table is as it was planned.
        self.page.click("main form[action$='/schedule/plan'] button")
        self.page.wait_for_selector(".week")
        self.assertEqual(table.read_text().splitlines()[1:6], free)
        self.assertTrue(self.page.is_checked("[name=h33]"))
        # What is followed is this table.
        self.page.click("main form[action$='/schedule/follow'] button")
        self.page.wait_for_url("**/crawls/week")
        self.addCleanup(geomi, "stop", self.root / "week", env=self.env)
        self.page.wait_for_selector(".badge[data-state=running]")
        audit = (self.root / "console" / "audit.jsonl").read_text()
        self.assertIn(f"refresh run {self.root / 'week'} --schedule {table}", audit)
        self.assertEqual(self.browser.said, [])


class Steering(Served):
    def test_start_pause_change_a_site_and_stop_are_seen_on_disk(self):
        with TestWeb(2, 300, 4_000) as web:
            name = self.start(web.seeds[0])
            dir = self.root / name
            state = lambda: json.loads((dir / "status.json").read_text())["state"]
            wait_until(lambda: (dir / "status.json").exists() and state() == "running")
            self.page.wait_for_selector("#log tr")
            site = web.seeds[0].split("/")[2]
            self.page.goto(f"/crawls/{name}/sites?site={site}")
            self.page.fill("[name=delay]", "3s")
            self.page.fill("#override [name=max_pages]", "77")
            self.page.click("#override button")
            self.page.wait_for_url("**/sites?part=*")
            kept = (dir / "geomi.toml").read_text()
            self.assertIn(f'match = ["{site}"]', kept)
            self.assertIn("max_pages = 77", kept)
            self.page.goto(f"/crawls/{name}")
            for button, then in (("pause", "paused"), ("resume", "running"), ("stop", "done")):
                self.page.click(f".when-{button} button")
                wait_until(lambda: state() == then, why=f"{button} was not carried out")
                self.page.goto(f"/crawls/{name}")
            self.verify(dir)

    def test_a_lost_connection_is_seen_within_five_seconds(self):
        with TestWeb(1, 300, 4_000) as web:
            self.start(web.seeds[0])
            self.page.wait_for_selector("#log tr")
            lost = self.page.locator(".connection")
            expect(lost).to_be_hidden()
            os.kill(self.console.pid, signal.SIGKILL)
            expect(lost).to_be_visible(timeout=5_000)
            expect(lost.locator("time")).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$"))

    def test_a_cut_stream_of_events_goes_on_without_a_gap(self):
        token = self.browser.token()
        with TestWeb(4, 100, 4_000) as web:
            name = self.start(web.seeds[0])
            path = f"/api/v1/crawls/{name}/events"
            seen, last = [], None
            for _ in range(5):
                headers = {"Authorization": f"Bearer {token}"}
                headers |= {"Last-Event-ID": str(last)} if last else {}
                where = path if last else path + "?since=0"
                request = urllib.request.Request(self.console.url + where, headers=headers)
                with urllib.request.urlopen(request, timeout=60) as stream:
                    fresh = self.some_visits(stream, 3)
                seen += fresh
                last = fresh[-1]
        self.assertEqual(seen, list(range(1, len(seen) + 1)))

    def some_visits(self, stream, count):
        numbers = []
        for line in stream:
            if line.startswith(b"id:"):
                numbers.append(int(line[3:]))
            if len(numbers) == count:
                return numbers
        raise AssertionError(f"the stream ended after {numbers}")


class Programs(Served):
    def test_the_document_of_the_api_is_true(self):
        with TestWeb(2, 30, 4_000, lively=True) as web:
            self.crawled("one", "--seeds", self.seeds(web.seeds))
        document = self.console.ask("/openapi.json", self.browser.token())
        # What is asked about is there: of made-up names everything is 404.
        for methods in document["paths"].values():
            for operation in methods.values():
                for parameter in operation.get("parameters", []):
                    if parameter["in"] == "path" and parameter["name"] == "id":
                        parameter["schema"] = {"type": "string", "enum": ["one"]}
        file = self.folder / "openapi.json"
        file.write_text(json.dumps(document))
        # Nothing here is to start crawls, log the asker out or stream for ever.
        left_out = ["startCrawl", "startAgain", "followSchedule", "logOut", "logIn", "watchCrawl", "removeToken", "removeUser"]
        known = {o["operationId"] for p in document["paths"].values() for o in p.values()}
        words = [
            "schemathesis", "run", str(file), "--url", self.console.url,
            "--header", f"Authorization: Bearer {self.browser.token()}",
            "--max-examples", "4", "--phases", "examples,coverage,fuzzing",
            "--exclude-checks", "ignored_auth", "--seed", "7", "--no-color",
        ]  # fmt: skip
        for name in sorted(known & set(left_out)):
            words += ["--exclude-operation-id", name]
        done = subprocess.run(words, capture_output=True, text=True, timeout=170, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout[-6_000:] + done.stderr[-2_000:])

    def test_metrics_pass_promtool(self):
        with TestWeb(2, 30, 4_000, lively=True) as web:
            self.crawled("one", "--seeds", self.seeds(web.seeds))
        text = self.console.ask("/metrics")
        lint = subprocess.run(
            ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60
        )
        self.assertEqual((lint.returncode, lint.stdout, lint.stderr), (0, "", ""))
        series = [line for line in text.splitlines() if line and not line.startswith("#")]
        self.assertLess(len(series), 500)

    def test_nothing_is_shown_without_log_in(self):
        for path in ("/api/v1/crawls", "/openapi.json", "/api/v1/crawls/one/captures?url=a.test"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.console.ask(path)
            self.assertEqual(refused.exception.code, 401, path)
