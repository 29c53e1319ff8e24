"""Try again, each by itself, the tests that have just failed beside others: `python -m tests.alone STATUS FORGIVEN [OPTION...]`.

STATUS is what pytest exited with; FORGIVEN is the file that the names of the tests that pass alone are written into, one
a line; the options are those of pytest that the tests were chosen and run with beside others. A machine that many share is slow at times, and many tests run processes against clocks: what fails beside others
and passes alone is forgiven, at most `MOST` of it. Exits 0 if all is forgiven, else 1 with a line that says why not.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = 2
"""More than these are no accident of the machine."""
TESTS_FAILED = 1
"""What pytest exits with when it ran all tests and some failed; anything else means that not all were run."""
CACHE = Path(".pytest_cache/v/cache/lastfailed")


def why_not(status: int, failed: list[str]) -> str | None:
    """Why tests that failed beside others are not worth another try; None where they are."""
    if status != TESTS_FAILED:
        return f"pytest ended with {status}: not all tests were run"
    if not failed:
        return f"pytest ended with {status}, but {CACHE} names no test that failed"
    if len(failed) > MOST:
        return f"{len(failed)} tests failed beside others, and at most {MOST} are forgiven"
    return None


def passes(test: str, options: list[str]) -> bool:
    """Whether a test passes in a run of its own."""
    # Its cache stays as it is: the tests that failed in the run of all are read from it.
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, test]
    return subprocess.run(words, check=False).returncode == 0


def main() -> None:
    """Try the failed tests, and exit."""
    status, forgiven, options = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    failed = sorted(json.loads(CACHE.read_text(encoding="utf-8"))) if CACHE.exists() else []
    for test in failed:
        sys.stdout.write(f"== failed beside other tests: {test}\n")
    sys.stdout.flush()  # before what pytest says
    if reason := why_not(status, failed):
        sys.exit(f"== {reason}")
    good = [test for test in failed if passes(test, options)]
    forgiven.write_text("".join(f"{test}\n" for test in good), encoding="utf-8")
    if len(good) < len(failed):
        sys.exit(f"== failed again alone: {', '.join(sorted(set(failed) - set(good)))}")


if __name__ == "__main__":
    main()
