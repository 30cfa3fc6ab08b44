"""The console beside clients that hold connections open: users are answered all the same."""

import http.client
import resource
import socket
import threading
import time
from collections import Counter
from urllib.parse import urlencode, urlsplit

from console import PASSWORD, Console
from geomi import Case
from load import rss_mib

CONNECTIONS = 1_024
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Door(Case):
    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        console = Console(self.folder / "crawls", {"XDG_RUNTIME_DIR": str(self.folder / "runtime")})
        self.console = self.enterContext(console)
        self.place = urlsplit(self.console.url)
        made = self.ask("POST", "/first", self.admin(), FORM)
        self.assertEqual(made.status, 303)
        self.cookie = {"Cookie": made.headers["set-cookie"].split(";")[0]}

    def admin(self):
        token = self.console.first.split("token=")[1]
        return urlencode({"token": token, "id": "kim", "name": "", "password": PASSWORD})

    def ask(self, method, path, body=None, fields=None):
        connection = http.client.HTTPConnection(self.place.netloc, timeout=60)
        connection.request(method, path, body, fields or {})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def seconds(self, path, fields=None):
        began = time.monotonic()
        self.assertEqual(self.ask("GET", path, None, fields).status, 200, path)
        return time.monotonic() - began

    def test_one_byte_each_on_a_thousand_connections(self):
        halves = {
            "a byte": "P",
            "half a header": f"GET / HTTP/1.1\r\nHost: {self.place.netloc}\r\n",
            "half a log-in": f"POST /login HTTP/1.1\r\nHost: {self.place.netloc}\r\nContent-Length: 4000\r\n\r\n",
        }
        slowest = 0.0
        for name, half in halves.items():
            held = []
            for _ in range(CONNECTIONS):
                stream = socket.create_connection((self.place.hostname, self.place.port), timeout=60)
                stream.sendall(half.encode())
                held.append(stream)
            for _ in range(3):
                for stream in held:
                    try:
                        stream.sendall(b"i")
                    except OSError:
                        pass  # It was closed to make room.
                took = max(self.seconds("/healthz"), self.seconds("/", self.cookie))
                slowest = max(slowest, took)
                self.assertLess(took, 1, name)
            for stream in held:
                stream.close()
        held = rss_mib(self.console.pid)
        self.measured("console beside 1,024 half-sent requests", f"{slowest * 1e3:.0f} ms, {held:.0f} MiB")
        self.assertLess(held, 150)

    def test_three_hundred_guesses_at_once(self):
        codes = []

        def guess(number):
            password = PASSWORD if number == 200 else "guess"
            body = urlencode({"id": "kim", "password": password})
            codes.append(self.ask("POST", "/login", body, FORM).status)

        threads = [threading.Thread(target=guess, args=(number,)) for number in range(300)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counts = Counter(codes)
        self.assertLessEqual(counts[401] + counts[303], 5, counts)
        self.assertGreaterEqual(counts[429], 295, counts)
        self.assertLess(rss_mib(self.console.pid), 150)
