"""python -m benchmarks: what its options may say."""

from __future__ import annotations

import argparse

import pytest

from benchmarks.__main__ import OPTIONS, PARTS, counts, written
from benchmarks.engine.threads import FORMS, ways


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
