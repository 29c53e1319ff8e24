"""What the section on growth tells of what was measured."""

from __future__ import annotations

import pytest

from benchmarks.growth import Beside, OnStore, plot, report

BESIDE = [Beside(10, [300.0], 1900), Beside(100, [200.0, 190.0, 230.0], 2000), Beside(10_000, [250.0], 1800)]
STORES = [
    OnStore("SQLite", 1, [100.0], 0.5, 0.6),
    OnStore("SQLite", 1_000_000, [110.0, 120.0, 115.0], 0.7, 1.9),
    OnStore("PostgreSQL", 1, [150.0], 0.5, 0.6),
    OnStore("PostgreSQL", 1_000_000, [300.0], 0.7, 0.8),
]


def promises(text: str) -> list[str]:
    """The lines that tell what was promised and found."""
    return [line for line in text.splitlines() if line.startswith("*Promised:*")]


def test_each_promise_is_held_against_the_dearest_from_where_it_counts() -> None:
    beside, sqlite, postgresql, start = promises(report(BESIDE, STORES, "Today."))
    assert beside.endswith("at most 1.3 ×. *Found:* 1.25 × with 10,000, the dearest.")
    assert sqlite.endswith("on SQLite, against 1: at most 1.3 ×. *Found:* 1.15 × for the dearest.")
    assert postgresql.endswith("on PostgreSQL, against 1: at most 1.3 ×. *Found:* 2.00 × for the dearest.")
    assert start.endswith("under 2 s. *Found:* 1.9 s for the slowest.")


def test_what_was_not_measured_is_promised_nowhere() -> None:
    assert promises(report(BESIDE[:2], STORES[:0], "Today.")) == []
    assert [line.partition(" on ")[2] for line in promises(report(BESIDE[:1], STORES[:1], "Today."))[:1]] == [
        "SQLite, against 1: at most 1.3 ×. *Found:* 1.00 × for the dearest."
    ]


@pytest.mark.parametrize("stores", [STORES, STORES[:2], []])
def test_the_plot_has_a_line_for_the_connections_and_for_each_store(stores: list[OnStore]) -> None:
    drawn = plot(BESIDE, stores)
    assert drawn.count("<polyline") == 1 + len({each.store for each in stores})
