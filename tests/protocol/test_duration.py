"""protocol.duration: how long something lasts, read and told."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.duration import in_words, seconds_of


@given(st.integers(1, 10**6), st.sampled_from([("s", 1), ("m", 60), ("h", 3600)]))
def test_a_duration_is_a_number_and_a_unit(number: int, unit: tuple[str, int]) -> None:
    assert seconds_of(f"{number}{unit[0]}") == number * unit[1]


@pytest.mark.parametrize("text", ["10", "s", "", "0s", "-1m", "nans", "infh", "3d"])
def test_anything_else_is_refused_with_what_would_be_right(text: str) -> None:
    with pytest.raises(ValueError, match="30s, 10m, 2h, or ever"):
        seconds_of(text)
    assert seconds_of("ever") == math.inf


@given(st.floats(0, 10**7))
def test_what_is_told_is_right_to_its_last_unit(seconds: float) -> None:
    units = {"s": 1.0, "min": 60.0, "h": 3600.0}
    told = re.findall(r"([0-9.]+) (s|min|h)", in_words(seconds))
    last = 0.06 if seconds < 1 else units[told[-1][1]]
    assert abs(sum(float(number) * units[unit] for number, unit in told) - seconds) <= last
