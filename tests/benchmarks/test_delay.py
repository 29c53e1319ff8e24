"""benchmarks.engine.delay: a quantile stands only where enough times lie beyond it."""

from __future__ import annotations

from benchmarks.engine.delay import told


def test_a_quantile_of_too_few_times_is_not_told() -> None:
    times = [float(ms) for ms in range(1000)]
    assert told(times, 0.5) == "499.00"
    assert told(times, 0.99) == "989.00"
    assert told(times, 0.999) == ""
    assert told(times[:200], 0.99) == ""
