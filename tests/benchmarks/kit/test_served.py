from __future__ import annotations

from benchmarks.kit.served import cpu_of_machine


def test_the_machine_was_busy_for_a_part_of_its_time() -> None:
    busy, had = cpu_of_machine()
    assert 0 < busy <= had
    busy_then, had_then = cpu_of_machine()
    assert busy_then >= busy
    assert had_then >= had
