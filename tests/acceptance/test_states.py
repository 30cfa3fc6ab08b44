"""Every network state, earned by a server and found by its name in visits/."""

import contextlib
import socket

import archive
from geomi import Case, Process
from web import Answer, Raw, ScriptedWeb, listen, page, robots

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
# What the page /x of a site of its own does, and the state it must end in.
PAGES = {
    "hErr": Raw(b"", "reset"),
    "hTim": Raw(b"HTTP/1.1 200 OK\r\nX-Half: th", "hold"),
    "hSht": Raw(b"HTTP/1."),
    "hNpr": Raw(b"220 mail.test ESMTP ready\r\n"),
    "code": Answer("gone", status=410),
    "dErr": Raw(HTML + b"Content-Length: 100\r\n\r\n<p>half"),
    "dTim": Raw(HTML + b"Content-Length: 100\r\n\r\n<p>half", "hold"),
    "OK": page(),
}
QUICK = (
    "--site-delay", "100ms", "--set", "fetch.connect_timeout=500ms", "--set",
    "fetch.silence_timeout=500ms", "--set", "crawl.tries=1",
)  # fmt: skip


@contextlib.contextmanager
def nobody_accepts():
    """A port whose queue is full: the system leaves further callers unanswered."""
    listener = socket.socket()
    listener.bind(("127.0.2.1", 0))
    listener.listen(0)
    callers = []
    try:
        while True:
            caller = socket.socket()
            callers.append(caller)
            caller.settimeout(0.2)
            try:
                caller.connect(listener.getsockname())
            except TimeoutError:
                break
        yield listener.getsockname()[1]
    finally:
        for sock in [listener, *callers]:
            sock.close()


class States(Case):
    def state_of(self, url):
        rows = archive.query(
            f"select distinct state from visits where url = '{url}' and not is_robots", self.dir
        )
        return [state for (state,) in rows]

    def test_answers_and_their_absence(self):
        hosts = {state: f"127.0.2.{number + 1}" for number, state in enumerate(PAGES)}
        with ScriptedWeb(hosts.values()) as web:
            for state, host in hosts.items():
                web[host, "/robots.txt"] = robots("")
                web[host, "/x"] = PAGES[state]
            seeds = self.seeds(web.url("/x", host) for host in hosts.values())
            self.crawl("--seeds", seeds, *QUICK)
            for state, host in hosts.items():
                with self.subTest(state=state):
                    self.assertEqual(self.state_of(web.url("/x", host)), [state])
        archive.check_counts(self, self.dir)
        codes = archive.query("select code from visits where state = 'code'", self.dir)
        self.assertEqual(codes, [(410,)])
        self.verify()

    def test_nobody_listens(self):
        port, listeners = listen(["127.0.2.1"])
        listeners["127.0.2.1"].close()
        url = f"http://127.0.2.1:{port}/"
        run = self.crawl(url, *QUICK, code=3)
        self.assertEqual(self.state_of(url), ["cErr"], run)

    def test_nobody_accepts(self):
        with nobody_accepts() as port:
            url = f"http://127.0.2.1:{port}/"
            run = self.crawl(url, *QUICK, code=3)
        self.assertEqual(self.state_of(url), ["cTim"], run)

    def test_nobody_reads(self):
        # The system accepts, nobody reads. With small buffers and segments it
        # takes a few kilobytes only, so a request with a long name gets stuck.
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
            listener.bind(("127.0.2.1", 0))
            listener.listen()
            url = f"http://127.0.2.1:{listener.getsockname()[1]}/"
            config = self.folder / "geomi.toml"
            config.write_text(f'[fetch]\nuser_agent = "geomi {"x" * 500_000}"\n')
            run = self.crawl(url, *QUICK, "--config", config, code=3)
        self.assertEqual(self.state_of(url), ["Conn"], run)

    def test_the_host_has_no_address(self):
        url = "http://nowhere.invalid/"
        run = self.crawl(url, *QUICK, "--contact", "http://127.0.0.1/contact", code=3)
        self.assertEqual(self.state_of(url), ["noIP"], run)

    def test_a_refused_seed_is_not_tried(self):
        with ScriptedWeb() as web:
            host = web.addresses[0]
            web[host, "/robots.txt"] = robots("User-agent: *\nDisallow: /\n")
            run = self.crawl(web.url(), *QUICK, code=3)
            self.assertEqual(web.paths(), ["/robots.txt"])
        self.assertEqual(archive.query("select state from seeds", self.dir), [("not tried",)])
        self.assertEqual(run.done[:2], (0, 0), "refused is not failed")

    def test_a_link_to_a_private_address_is_refused(self):
        with ScriptedWeb(["127.0.2.1", "127.0.2.2"]) as web:
            web["127.0.2.1", "/"] = page(web.url(host="127.0.2.2"))
            args = ["crawl", web.url(), "-o", self.dir, "--scope", "any", "--no-progress"]
            with Process(args + ["--site-delay", "0s"]) as crawl:
                run = crawl.wait()
            self.assertEqual(run.code, 0, run)
            self.assertEqual(set(web.paths("127.0.2.1")), {"/robots.txt", "/"})
            self.assertEqual(web.paths("127.0.2.2"), [])

    def test_failures_are_tried_three_times_by_default(self):
        with ScriptedWeb() as web:
            host = web.addresses[0]
            web[host, "/"] = page("/once", "/never")
            fails_once = lambda request: page() if request.asked_before else Raw(b"", "reset")
            web[host, "/once"] = fails_once
            web[host, "/never"] = Raw(b"", "reset")
            run = self.crawl(web.url(), "--site-delay", "0s")
            self.assertEqual(run.done[:2], (2, 1), run)
            self.assertEqual(web.paths().count("/once"), 2)
            self.assertEqual(web.paths().count("/never"), 3)
        attempts = "select attempt, state from visits where url like '%/once' order by attempt"
        self.assertEqual(archive.query(attempts, self.dir), [(1, "hErr"), (2, "OK")])

    def test_the_same_content_in_other_chunks_is_a_revisit_that_agrees(self):
        """The archive states the payload as received: borders of chunks included."""
        start = HTML + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        with ScriptedWeb() as web:
            host = web.addresses[0]
            web[host, "/"] = page("/one", "/two")
            web[host, "/one"] = Raw(start + b"b\r\n<p>the same\r\n0\r\n\r\n")
            web[host, "/two"] = Raw(start + b"5\r\n<p>th\r\n6\r\ne same\r\n0\r\n\r\n")
            self.crawl(web.url(), *QUICK)
        kinds = archive.query("select capture_kind from visits where url like '%/two'", self.dir)
        self.assertEqual(kinds, [("revisit",)])
        self.verify()
