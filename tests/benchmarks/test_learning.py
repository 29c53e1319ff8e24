"""benchmarks.learning prints both tables."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.kit.served import ROOT
from testkit.parts import skip_without


@pytest.mark.slow
def test_both_tables_are_printed() -> None:
    skip_without("numba")
    words = [sys.executable, "-m", "benchmarks.learning", "--seconds", "0.01", "--rounds", "1"]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    rows = [line.split(" | ")[0].strip("| ") for line in result.stdout.splitlines() if line.startswith("| ")]
    for row in ("`arena.batch`, 4,096 matches", "the rules in plain Python", "`play_match`", "ratio"):
        assert row in rows, result.stdout
