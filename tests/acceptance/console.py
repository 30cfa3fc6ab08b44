"""The console in a real browser: `geomi serve` and Debian's Chromium."""

import json
import os
import subprocess
import urllib.request

from playwright.sync_api import sync_playwright

from geomi import BINARY

PASSWORD = "correct horse battery"
LANGUAGES = ("en", "ko")
WIDTHS = (390, 768, 1440)
TABS = ("", "/queue", "/sites", "/log", "/pages", "/captures", "/changes", "/schedule", "/report", "/config")


class Console:
    """`geomi serve` over a folder, with its first admin; ended with the block."""

    def __init__(self, root, env=None):
        root.mkdir(exist_ok=True)
        self.root = root
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GEOMI_")}
        self._child = subprocess.Popen(
            [BINARY, "serve", str(root), "--listen", "127.0.0.1:0", "--format", "json"],
            env={**clean, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.pid = self._child.pid
        told = json.loads(self._child.stdout.readline())
        self.url, self.first = told["url"], told["first_admin"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._child.terminate()
        self._child.wait(30)
        self._child.stdout.close()

    def ask(self, path, token=None, headers=None):
        """An answer of the API, as JSON where it is."""
        fields = dict(headers or {})
        if token:
            fields["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(self.url + path, headers=fields)
        with urllib.request.urlopen(request, timeout=60) as answer:
            body = answer.read()
            is_json = answer.headers.get_content_type() == "application/json"
            return json.loads(body) if is_json else body.decode()


class Browser:
    """Chromium with one window, logged in by the first link."""

    def __init__(self, console, language="en", dark=False, width=1440):
        self._playwright = sync_playwright().start()
        self._chromium = self._playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        scheme = "dark" if dark else "light"
        self.context = self._chromium.new_context(
            base_url=console.url,
            locale=language,
            color_scheme=scheme,
            viewport={"width": width, "height": 900},
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.said = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: dialog.accept())

    def make_admin(self, console):
        self.page.goto(console.first)
        self.page.fill("[name=name]", "Kim")
        self.page.fill("[name=id]", "kim")
        self.page.fill("[name=password]", PASSWORD)
        self.page.click("main button[type=submit]")
        self.page.wait_for_url(console.url + "/")

    def start(self, urls, name=""):
        """From nothing to a running crawl: open the page, type, press; its id."""
        self.page.goto("/")
        if not self.page.is_visible("[name=urls]"):
            # Where there are crawls already, the form is folded.
            self.page.click(".start > summary")
        self.page.fill("[name=urls]", "\n".join(urls))
        self.page.fill("[name=name]", name)
        self.page.click("button[value=start]")
        self.page.wait_for_url("**/crawls/*")
        return self.page.url.rsplit("/", 1)[1]

    def token(self):
        """An API token, made on the page of settings."""
        return self.page.evaluate(
            """async () => {
                const session = await (await fetch('/api/v1/session')).json();
                const made = await fetch('/api/v1/tokens', {
                    method: 'POST',
                    headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': session.csrf },
                    body: JSON.stringify({ name: 'test', scope: 'admin' }),
                });
                return (await made.json()).secret;
            }"""
        )

    def speak(self, language, console):
        cookie = {"name": "geomi_language", "value": language, "url": console.url}
        self.context.add_cookies([cookie])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._chromium.close()
        self._playwright.stop()
