"""A small run of what `python -m benchmarks.statistics` proves at length."""

import pytest

from benchmarks.statistics import findings


@pytest.mark.soak
def test_error_rates_and_intervals_are_what_they_say() -> None:
    found = list(findings(tests=50, ladders=50, seed=2))
    assert len(found) == 5
    assert all(right for _, right in found), found
