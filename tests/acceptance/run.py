"""Runs the acceptance tests: `run.py [test_theme[.Case[.test]] ...]`.

Says one line a test and closes with how many passed. Only processes and mounts
that a test made itself are ended, and they end with it.
"""

import ctypes
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).parent
CLONE_NEWNS = 0x20000


class Lines(unittest.TestResult):
    """One line a test; the story of those that failed at once."""

    def __init__(self):
        super().__init__()
        self.passed = 0
        self._failed_before = 0

    def startTest(self, test):
        super().startTest(test)
        self._began = time.monotonic()
        self._failed_before = self.failed

    @property
    def failed(self):
        return len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)

    def stopTest(self, test):
        took = f"{time.monotonic() - self._began:6.1f} s"
        if self.failed > self._failed_before:
            word = "FAIL"
        elif self.skipped and self.skipped[-1][0] is test:
            word = f"skip ({self.skipped[-1][1]})"
        else:
            word = "ok"
            self.passed += 1
        print(f"{took}  {test.id()} ... {word}", flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        print(self.errors[-1][1], flush=True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print(self.failures[-1][1], flush=True)

    def addSubTest(self, test, subtest, err):
        before = self.failed
        super().addSubTest(test, subtest, err)
        if self.failed > before:
            print(f"{subtest}\n{(self.failures + self.errors)[-1][1]}", flush=True)


def own_mounts():
    """Puts this process where mounts are its own and vanish with it, if it may."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) == 0:
        made = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, check=False)
        if made.returncode == 0:
            os.environ["GEOMI_MAY_MOUNT"] = "1"


def main():
    sys.path.insert(0, str(HERE))
    own_mounts()
    loader = unittest.TestLoader()
    names = sys.argv[1:]
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(HERE))
    result = Lines()
    suite.run(result)
    print(
        f"acceptance: {result.passed} passed, {result.failed} failed,"
        f" {len(result.skipped)} skipped"
    )
    sys.exit(0 if result.passed and not result.failed else 1)


if __name__ == "__main__":
    main()
