from __future__ import annotations

import pytest

from arena.server.edge.connection import CLOSE_SECONDS
from benchmarks.attackers import ALL, EVERY, HELLO, MAX_SECONDS, lasts


@pytest.mark.parametrize("seconds", [0.5, 1.0, 3.0, 10.0])
def test_an_attack_lasts_until_its_slowest_can_have_been_cut_off(seconds: float) -> None:
    # Who never says hello is told so in time, and has as long again as a closing handshake may take.
    assert lasts("slow-loris", seconds) > HELLO + CLOSE_SECONDS
    assert min(lasts("never-reading", seconds), lasts(ALL, seconds)) > MAX_SECONDS
    assert all(lasts(kind, seconds) > seconds for kind in EVERY)
