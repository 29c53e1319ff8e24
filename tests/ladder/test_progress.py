"""Data for a ladder's page: the plan, the next matches, and the sequential test as the command prints it."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from arena.ladder.ladder import Ladder
from arena.ladder.plan import BotPlan, LadderPlan
from arena.ladder.progress import MAX_LISTED_UNPLAYED_MATCHES, make_ladder_progress
from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.protocol.values import Seat
from arena.rating.sprt import Sprt
from tests.server.matches import game_of, record

A, B, C = BotPlan("a", "greedy"), BotPlan("b", "random"), BotPlan("c")


def ladder(*bots: BotPlan, rounds: int | None = 2, test: Sprt | None = None) -> Ladder:
    ladder = Ladder(
        LadderPlan(bots, event_name="test", game="tictactoe", rounds=rounds),
        [game_of()],
        Path("none"),
        sprt=test,
    )
    ladder.build_schedule(uuid.UUID(int=1))
    return ladder


def won(maxie: str, minnie: str, winner: str) -> Record:
    seat: Seat = "maxie" if winner == maxie else "minnie"
    return record(maxie=maxie, minnie=minnie, winner=seat, reason=EndReason.LINE)


def test_a_new_ladder_has_everything_before_it() -> None:
    progress = make_ladder_progress(ladder(A, B, C))
    assert (progress.event, progress.event_kind, progress.played_match_count, progress.total_match_count) == (
        "test",
        "ladder",
        0,
        12,
    )
    assert progress.program_by_bot == {"a": "greedy", "b": "random", "c": ""}
    assert {frozenset((due.maxie, due.minnie)) for due in progress.unplayed_matches} == {
        frozenset("ab"),
        frozenset("ac"),
        frozenset("bc"),
    }
    assert {(due.map, due.round_number) for due in progress.unplayed_matches} == {("", 1)}
    assert progress.sprt is None


def test_the_list_of_due_matches_is_bounded() -> None:
    bots = [BotPlan(f"bot {number}") for number in range(12)]
    assert len(make_ladder_progress(ladder(*bots)).unplayed_matches) == MAX_LISTED_UNPLAYED_MATCHES


@pytest.mark.parametrize("rounds", [1, None])
def test_the_sequential_test_agrees_with_the_pairs(rounds: int | None) -> None:
    test = Sprt(0, 50)
    finished_ladder = ladder(A, B, rounds=rounds, test=test)
    assert finished_ladder.schedule is not None
    first = finished_ladder.schedule.list_startable_pairings()[0]
    for pairing in first.pair.make_pairings():
        finished_ladder.add_match(pairing, won(pairing.maxie, pairing.minnie, "a"))
    sprt = make_ladder_progress(finished_ladder).sprt
    assert sprt is not None
    assert sprt.pair_count == 1
    assert (sprt.lower_llr_bound, sprt.upper_llr_bound) == (test.lower_llr_bound, test.upper_llr_bound)
    assert sprt.llr == test.compute_llr((0, 0, 0, 0, 1))
    assert sprt.llr > 0
    assert sprt.test_state == test.decide((0, 0, 0, 0, 1)).value
