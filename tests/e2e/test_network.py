"""Two hosts in network namespaces with a cable between them, and what breaks on the way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.protocol.codes import EndReason
from testkit.parts import skip_without
from tests.e2e.cable import Cable, CableUnavailable, open_cable

PLAYED = {EndReason.LINE, EndReason.BOARD_FULL}


@pytest.fixture
def cable(tmp_path: Path) -> Iterator[Cable]:
    try:
        with open_cable(tmp_path) as made:
            yield made
    except CableUnavailable as why:
        skip_without("namespaces", str(why))


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Cable]:
    """Yield a bad line to the server."""
    try:
        with open_cable(tmp_path, with_line=True) as made:
            yield made
    except CableUnavailable as why:
        skip_without("namespaces", str(why))


def test_packets_that_are_lost_for_a_second_cost_no_match(cable: Cable) -> None:
    cable.start_server_and_bots("60+1", 6, 0.1)
    before = len(cable.wait_for_matches(3))
    cable.cut_line()
    time.sleep(1)
    cable.restore_line()
    assert {each.result.reason for each in cable.wait_for_matches(before + 6)} <= PLAYED


def test_a_storm_of_bots_that_were_all_reset_comes_back_and_plays_on(cable: Cable) -> None:
    cable.start_server_and_bots("60+1", 40, 0.3)
    cable.wait_for_matches(20)
    for _ in range(3):
        cable.reset_connections()
        time.sleep(0.3)
    if not cable.wait_for_log(": reconnected from", 40):
        skip_without("namespaces", "this kernel does not reset connections for ss -K")
    before = len(cable.list_records())
    played = cable.wait_for_matches(before + 40)
    assert {each.result.reason for each in played} <= PLAYED
    assert len({each.match for each in played}) == len(played)


def test_bots_of_half_open_connections_come_back_and_play_on(line: Cable) -> None:
    line.start_server_and_bots("60+1", 10, 0.3)
    line.wait_for_matches(5)
    assert line.send_order("vanish") >= 10, "the server is told of nothing"
    assert line.wait_for_log(": reconnected from", 10), "each takes the place of its dead connection"
    before = len(line.list_records())
    played = line.wait_for_matches(before + 10)
    assert {each.result.reason for each in played} <= PLAYED
