"""What a server's metrics say, and the machine of itself."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from arena.server.net.metrics import Durations
from benchmarks.kit.served import cpu_of_machine, told


def test_a_histogram_tells_how_often_it_was_told_and_of_how_much() -> None:
    registry, durations = CollectorRegistry(), Durations("arena_move_seconds", "Moves")
    registry.register(durations)
    text = generate_latest(registry).decode()
    assert told(text, "arena_move_seconds") == (0.0, 0)
    durations.observe(7.0)
    before = told(generate_latest(registry).decode(), "arena_move_seconds")
    assert before.mean_since(before) == 0.0
    for seconds in (0.001, 0.003, 0.005):
        durations.observe(seconds)
    text = generate_latest(registry).decode()
    assert told(text, "arena_move_seconds") == pytest.approx((7.009, 4))
    assert told(text, "arena_move_seconds").mean_since(before) == pytest.approx(3.0)
    with pytest.raises(ValueError, match="no histogram is called arena_moves"):
        told(text, "arena_moves")


def test_the_machine_was_busy_for_a_part_of_its_time() -> None:
    busy, had = cpu_of_machine()
    assert 0 < busy <= had
    busy_then, had_then = cpu_of_machine()
    assert busy_then >= busy
    assert had_then >= had
