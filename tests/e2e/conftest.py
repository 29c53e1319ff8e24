from __future__ import annotations

import time

import pytest

from tests.server.fleets import ROOT


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a word in the environment of every process that the test starts, and of theirs."""
    word = f"arena-e2e-{time.monotonic_ns()}"
    monkeypatch.setenv("ARENA_TEST_MARK", word)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for bots of this project's tests, wherever they run
    return word
