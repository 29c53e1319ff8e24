"""A move, a hello and a kept answer take no more calls than SERVER.md promises."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.kit.served import ROOT


@pytest.mark.slow
def test_no_more_calls_are_made_than_are_promised() -> None:
    counted = subprocess.run(
        [sys.executable, "-m", "benchmarks.calls"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert counted.returncode == 0, counted.stdout + counted.stderr
    assert counted.stdout.count("promised at most") == 3
