"""`python -m arena.bots.compiled`: afterwards no bot has to compile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from arena.bots.compiled.__main__ import main
from arena.bots.compiled.cache import chosen_folder

OTHERS = ("-own-", "probe-", "test-", "solve-")
"""Kernels that other tests may compile at the same time: of games of somebody's own, of tests, and the solver's."""


def kernels() -> Iterator[Path]:
    """What is compiled, but for what other tests add to it."""
    return (
        path for path in chosen_folder().rglob("*.nbc") if not any(other in path.name for other in OTHERS)
    )


def test_a_second_run_finds_everything_compiled() -> None:
    main()  # `make test` has run it before the tests, and hardly anything is left to compile
    before = {path: path.stat().st_mtime_ns for path in kernels()}
    done = subprocess.run(
        [sys.executable, "-m", "arena.bots.compiled"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert before
    assert {path: path.stat().st_mtime_ns for path in kernels()} == before
