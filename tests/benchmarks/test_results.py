"""RESULTS.md is what the raw results make, and these are of what the code measures today."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.engine import raw
from testkit.parts import skip_without

skip_without("numba")

from benchmarks.engine import delay, depth, devices, threads  # noqa: E402  after the skip: they load numba

CORES = 16
"""Cores of the machine on which `threads` was measured."""
ROWS: dict[str, tuple[list[str], Any]] = {
    "devices": ([name for name, _ in devices.STEPS], "nodes"),
    "depth": (list(depth.WAYS), "depths"),
    "threads": (list(threads.ways(threads.thread_counts(CORES))), "faster"),
    "delay": (list(delay.ROWS), "ms"),
}
"""The rows that each benchmark measures today, and where its raw results have them."""


def test_every_benchmark_names_its_rows() -> None:
    assert list(ROWS) == list(raw.MEASURED)


@pytest.mark.parametrize("name", raw.MEASURED)
def test_raw_results_have_the_rows_of_the_code(name: str) -> None:
    found = raw.read(name)
    if found is None:
        assert f"`python -m benchmarks {name}`" not in raw.PAGE.read_text(encoding="utf-8")
        return
    rows, key = ROWS[name]
    assert list(found.data[key]) == rows
    assert found.commit
    assert found.date


def test_the_page_is_made_whole_from_raw_results() -> None:
    assert raw.PAGE.read_text(encoding="utf-8") == raw.page()


def test_a_section_says_when_and_at_which_commit_it_was_measured() -> None:
    data = {"ms": {name: ["1000", "0.10", "0.20", "", "0.30"] for name in delay.ROWS}}
    text = raw.section(
        "delay", raw.Raw("0123abcd", "2026-11-25 10:00 UTC", 12.0, 1.5, "2 × a processor", data)
    )
    assert (
        "Measured at commit 0123abcd on 2026-11-25 10:00 UTC in 12 s by `python -m benchmarks delay`" in text
    )
    assert "| the loop, 2 threads search | 1000 | 0.10 | 0.20 |  | 0.30 |" in text
