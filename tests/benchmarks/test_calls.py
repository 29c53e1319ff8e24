"""A move, a hello and a cached answer take no more calls than SERVER.md promises."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.kit.running_server import REPOSITORY_FOLDER


@pytest.mark.slow
def test_no_more_calls_are_made_than_are_promised() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.calls"],
        cwd=REPOSITORY_FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("promised at most") == 3
