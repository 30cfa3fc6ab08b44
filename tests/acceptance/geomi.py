"""Runs the real binary, and measures what it costs.

Everything a test knows about a run comes from outside: its exit code, what it
printed, the operating system's account of it, and the files it left.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path

BINARY = os.environ.get("GEOMI_BIN", "geomi")
LAST_LINE = re.compile(r"^done: (\d+) saved, (\d+) failed in (\S.*) \((.+)\) -> (.+)$")
# Tests count requests: a guess for /sitemap.xml would be one more per site.
DEFAULTS = {"GEOMI_SET": "scope.sitemaps=robots"}
# No crawl here takes longer, however busy the machine is.
PATIENCE_S = 240


@dataclass
class Run:
    """A finished process."""

    args: list
    code: int
    out: str
    err: str
    seconds: float
    cpu_s: float
    rss_mib: float

    @property
    def last_line(self):
        """The last line a person sees: of standard output, or else of standard error."""
        for text in (self.out, self.err):
            lines = text.strip().splitlines()
            if lines and LAST_LINE.match(lines[-1]):
                return lines[-1]
        lines = (self.err or self.out).strip().splitlines()
        return lines[-1] if lines else ""

    @property
    def done(self):
        """Saved, failed and reason, as the last line has them."""
        found = LAST_LINE.match(self.last_line)
        assert found, f"no closing line: {self}"
        return int(found[1]), int(found[2]), found[4]

    def __str__(self):
        tail = lambda text: "\n".join(text.strip().splitlines()[-30:])
        command = " ".join(self.args)
        if len(command) > 2000:
            command = command[:2000] + " ..."
        return (
            f"\n$ geomi {command}\nexit {self.code} after {self.seconds:.1f} s"
            f"\n--- stdout\n{tail(self.out)}\n--- stderr\n{tail(self.err)}"
        )


class Process:
    """A process under way. Leaving the `with` block kills it if need be."""

    def __init__(self, args, cwd=None, stdin=None, env=None):
        self.args = [str(arg) for arg in args]
        self._files = tempfile.TemporaryDirectory(prefix="geomi-output-")
        self._out = Path(self._files.name, "out")
        self._err = Path(self._files.name, "err")
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GEOMI_")}
        self._began = time.monotonic()
        with open(self._out, "wb") as out, open(self._err, "wb") as err:
            self._child = subprocess.Popen(
                [BINARY, *self.args],
                cwd=cwd,
                env={**clean, **DEFAULTS, **(env or {})},
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=out,
                stderr=err,
            )
        self.pid = self._child.pid
        self._run = None
        self._rss_kib = 0

    def poll(self):
        """The finished run, or None while it goes on."""
        if self._run is None:
            self._look_at_memory()
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self._finish(status, usage)
        return self._run

    def _look_at_memory(self):
        """Keeps the peak so far. The system's own account of it at the end
        would count the moment when the child was still a copy of this process."""
        with open(f"/proc/{self.pid}/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    self._rss_kib = int(line.split()[1])

    def wait(self, seconds=PATIENCE_S):
        """Waits for the end, which must come."""
        deadline = time.monotonic() + seconds
        while (run := self.poll()) is None:
            if time.monotonic() > deadline:
                self.signal(signal.SIGKILL)
                raise AssertionError(f"did not end within {seconds} s: {self.wait(10)}")
            time.sleep(0.005)
        return run

    def signal(self, number):
        """Sends a signal, if the process is still there."""
        if self._run is None:
            os.kill(self.pid, number)

    def kill(self):
        """kill -9, and the run it ended."""
        self.signal(signal.SIGKILL)
        return self.wait(30)

    def _finish(self, status, usage):
        code = os.waitstatus_to_exitcode(status)
        # The Popen object must not wait for a child that is gone.
        self._child.returncode = code
        self._run = Run(
            args=self.args,
            code=code,
            out=self._out.read_text(errors="replace"),
            err=self._err.read_text(errors="replace"),
            seconds=time.monotonic() - self._began,
            cpu_s=usage.ru_utime + usage.ru_stime,
            rss_mib=self._rss_kib / 1024,
        )
        self._files.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.poll() is None:
            self.kill()


def geomi(*args, seconds=PATIENCE_S, **options):
    """Runs a command to its end."""
    with Process(args, **options) as process:
        return process.wait(seconds)


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="geomi-acceptance-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.dir = self.folder / "crawl"

    def seeds(self, urls, name="seeds.txt"):
        """Writes a seeds file."""
        path = self.folder / name
        path.write_text("".join(f"{url}\n" for url in urls))
        return path

    def crawl(self, *args, code=0, into=None, seconds=PATIENCE_S):
        """A crawl of loopback to its end, which must be this one."""
        run = geomi(*self.crawl_args(*args, into=into), seconds=seconds)
        self.assertEqual(run.code, code, run)
        self.assertRegex(run.last_line, LAST_LINE, run)
        return run

    def crawl_args(self, *args, into=None):
        """The words of a crawl of loopback."""
        words = ["crawl", *args, "-o", into or self.dir, "--allow-private", "all", "--no-progress"]
        return [str(word) for word in words]

    def verify(self, into=None):
        """`geomi verify` must accept the directory."""
        run = geomi("verify", into or self.dir)
        self.assertEqual(run.code, 0, run)
        return run

    def measured(self, what, figure):
        """Prints a figure, and keeps it where `GEOMI_MEASURED` says."""
        print(f"  measured: {what}: {figure}", flush=True)
        if path := os.environ.get("GEOMI_MEASURED"):
            with open(path, "a") as file:
                file.write(f"{what}: {figure}\n")


def wait_until(condition, seconds=60, why="it did not happen"):
    """Waits for something another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{why} within {seconds} s")
        time.sleep(0.002)
