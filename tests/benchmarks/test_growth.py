"""Promises are held against the dearest case from where they count."""

from __future__ import annotations

import re

from benchmarks.growth import Beside, OnStore, report

BESIDE = [Beside(10, [300.0], 1900), Beside(100, [200.0, 190.0, 230.0], 2000), Beside(10_000, [250.0], 1800)]
STORES = [
    OnStore("SQLite", 1, [100.0], 0.5, 0.6),
    OnStore("SQLite", 1_000_000, [110.0, 120.0, 115.0], 0.7, 1.9),
    OnStore("PostgreSQL", 1, [150.0], 0.5, 0.6),
    OnStore("PostgreSQL", 1_000_000, [300.0], 0.7, 0.8),
]


def found(text: str) -> list[str]:
    """Figures that were found, as the promises tell them."""
    return re.findall(r"\*Found:\* ([0-9.]+)", text)


def test_each_promise_is_held_against_the_dearest_from_where_it_counts() -> None:
    assert found(report(BESIDE, STORES, "Today.")) == ["1.25", "1.15", "2.00", "1.9"]


def test_what_was_not_measured_is_promised_nowhere() -> None:
    assert found(report(BESIDE[:2], STORES[:0], "Today.")) == []
