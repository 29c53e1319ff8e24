"""python -m benchmarks: what its options may say."""

from __future__ import annotations

import argparse

import pytest

from benchmarks.__main__ import OPTIONS, PARTS, counts, written
from benchmarks.engine.contest import Score
from benchmarks.engine.threads import FORMS, part_of, ways


def test_numbers_of_threads() -> None:
    assert counts("4,1,2,2") == (1, 2, 4)
    assert written(counts("1,2,16")) == "1,2,16"
    with pytest.raises(argparse.ArgumentTypeError, match="at least 1 thread"):
        counts("0,2")
    with pytest.raises(ValueError, match="invalid literal"):
        counts("two")


def test_every_part_that_takes_options_is_one() -> None:
    assert set(OPTIONS) <= set(PARTS)


def test_every_form_is_measured_with_each_number_of_threads() -> None:
    found = ways((1, 4))
    assert len(found) == 2 * len(FORMS)
    assert found["original, 4"] == {"threads": 4}


def test_threads_are_held_against_as_many_times_the_time() -> None:
    better, best = Score([1.5, 1.0, 1.5]), Score([2.0, 1.5, 1.5])
    assert part_of(better, best) == f"{100 * better.difference.elo / best.difference.elo:.0f} %"
    assert part_of(better, Score([0.5, 1.0])) == part_of(None, best) == ""
