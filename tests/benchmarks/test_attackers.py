from __future__ import annotations

import pytest

from arena.server.net.outgoing import CLOSE_SECONDS
from benchmarks.attackers import ALL, ELSEWHERE, EVERY, HELLO, LONGEST, Turns, Window, lasts, usual, worst


@pytest.mark.parametrize("seconds", [0.5, 1.0, 3.0, 10.0])
def test_an_attack_lasts_until_its_slowest_can_have_been_cut_off(seconds: float) -> None:
    # Who never says hello is told so in time, and has as long again as a closing handshake may take.
    assert lasts("slow-loris", seconds) > HELLO + CLOSE_SECONDS
    assert min(lasts("never-reading", seconds), lasts(ALL, seconds)) > LONGEST
    assert all(lasts(kind, seconds) > seconds for kind in EVERY)


def turns(calm: list[float], attacked: list[float]) -> Turns:
    """A kind's rounds, by their p99 in ms."""
    tally = {"cut": 20, "longest": 1.0, "bytes": 0}
    return Turns(
        [Window(p99, 1.0, 0.2) for p99 in calm], [Window(p99, 1.5, 0.3) for p99 in attacked], [tally] * 2
    )


def test_the_worst_round_of_all_kinds_is_held_against_all_calm_times() -> None:
    found = {
        "frames": turns([4.0, 4.0, 4.0], [4.0, 9.0, 4.4]),
        "messages": turns([4.0, 1.0, 4.0], [6.0, 6.0, 6.0]),
        ELSEWHERE: turns([4.0, 40.0, 4.0], [10.0, 12.0, 5.0]),
    }
    calm = usual(found)
    assert calm == Window(4.0, 1.0, 0.2)
    assert [worst(each.ratio(calm)) for each in found.values()] == [2.25, 1.5, 3.0]
