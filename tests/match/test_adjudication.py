"""Adjudication: the function alone, and through the referee, the journal and the record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.core import Player
from arena.match.adjudication import adjudicate
from arena.match.referee import Referee
from arena.match.referee_events import MatchResult
from arena.match.replay import verify_record
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.messages import End
from arena.protocol.record import BadRecord, RecordedMove
from arena.protocol.values import Thinking
from tests.match.refereed import MAXIE, MINNIE, Journal, messages_to, play_match, record_of
from tests.server.matches import game_of, terms
from tests.server.played import NOBODY_WINS

VALUES = st.none() | st.sampled_from([-500.0, -20.0, 0.0, 20.0, 500.0]) | st.floats(-1e12, 1e12)


def thought(*values: float | None) -> list[RecordedMove]:
    return [RecordedMove(0, 1.0, None if value is None else Thinking(value=value)) for value in values]


def winner(rules: Adjudication, *values: float | None) -> Any:
    """Return the winner by the rules and the values of all moves; False if the match goes on."""
    verdict = adjudicate(rules, game_of().start(), thought(*values), 1)
    return False if verdict is None else verdict.winner


WIN = Adjudication(win=500, moves=2)
DRAW = Adjudication(draw=20, moves=1, after=4)


@pytest.mark.parametrize(
    ("rules", "values", "expected"),
    [
        (WIN, (500, 501, 1e6, 500), MAXIE),
        (WIN, (-500, -501, -1e6, -500), MINNIE),
        (WIN, (0, 0, 500, 500, 500, 500), MAXIE),
        (WIN, (500, 500, 500, 499), False),
        (WIN, (500, 500, 500), False),
        (WIN, (500, 500, None, 500), False),
        (WIN, (500, -500, 500, -500), False),
        (WIN, (0, 0, 0, 0), False),
        (DRAW, (0, 0, 20, -20), None),
        (DRAW, (0, 0, 20), False),
        (DRAW, (0, 0, 0, 21), False),
        (DRAW, (0, 0, None, 0), False),
        (DRAW, (1e9, -1e9, 0, 0), None),
        (Adjudication(limit=3), (None, None, None), None),
        (Adjudication(limit=3), (None, None), False),
        (Adjudication(limit=1, win=500, moves=1), (500, 500), MAXIE),
    ],
)
def test_rules_that_end_a_match(
    rules: Adjudication, values: Sequence[float | None], expected: object
) -> None:
    assert winner(rules, *values) is expected


@given(st.lists(VALUES, max_size=10), st.floats(0.1, 1000), st.integers(1, 4))
def test_the_seats_are_treated_alike(values: list[float | None], win: float, moves: int) -> None:
    rules = Adjudication(win=win, moves=moves, draw=10)
    other = winner(rules, *(None if value is None else -value for value in values))
    expected = {MAXIE: MINNIE, MINNIE: MAXIE, None: None, False: False}[winner(rules, *values)]
    assert other is expected


@given(st.lists(VALUES, min_size=2, max_size=10), st.sampled_from([WIN, DRAW]), st.integers(0, 1))
def test_one_bot_alone_ends_nothing(values: list[float | None], rules: Adjudication, silent: int) -> None:
    one = [None if ply % 2 == silent else value for ply, value in enumerate(values)]
    assert winner(rules, *one) is False


# under a referee


def play_tictactoe(
    rules: Adjudication, moves: Sequence[tuple[int, float | None]], opening: Sequence[int] = ()
) -> tuple[Referee, Journal, list[Any]]:
    return play_match(replace(terms(), adjudication=rules, opening=tuple(opening)), moves)


def test_both_players_get_the_end_with_its_reason() -> None:
    moves = [(cell, 500.0) for cell in NOBODY_WINS]
    referee, _, effects = play_tictactoe(WIN, moves)
    detail = "both bots said in their last 2 moves each that maxie wins, by 500 or more"
    assert referee.result == MatchResult(MAXIE, EndReason.ADJUDICATED, detail)
    for player in Player:
        [end] = messages_to(effects, player, End)
        assert (end.winner, end.reason, end.detail) == ("maxie", "adjudicated", detail)
        assert end.moves == list(NOBODY_WINS[:4])
    assert referee.next_deadline_ns is None


def test_the_end_of_the_game_takes_precedence_over_adjudication() -> None:
    referee, _, _ = play_tictactoe(Adjudication(limit=5), [(cell, None) for cell in (0, 3, 1, 4, 2)])
    assert referee.result is not None
    assert referee.result.reason is EndReason.LINE


@given(
    st.permutations(range(9)),
    st.lists(st.sampled_from([None, -500.0, 0.0, 500.0]), min_size=9, max_size=9),
    st.sampled_from([WIN, DRAW, Adjudication(limit=6), Adjudication(draw=0, moves=1)]),
    st.integers(0, 3),
)
def test_the_journal_and_the_record_lead_to_the_same_end(
    cells: list[int], values: list[float | None], rules: Adjudication, opening: int
) -> None:
    referee, journal, _ = play_tictactoe(
        rules, list(zip(cells[opening:], values[opening:], strict=True)), cells[:opening]
    )
    again = Referee(referee.terms)
    for at, event in journal:
        again.handle_event(event, at)
    assert again.result == referee.result
    if referee.result is None:
        return  # some openings fill the board without a winner
    made = record_of(referee)
    verify_record(made)
    if referee.result.reason is EndReason.ADJUDICATED:
        for forged in (
            msgspec.structs.replace(made, adjudication=None),
            msgspec.structs.replace(made, moves=made.moves[:-1]),
            msgspec.structs.replace(
                made, result=msgspec.structs.replace(made.result, reason=EndReason.RESIGNATION)
            ),
        ):
            with pytest.raises(BadRecord):
                verify_record(forged)
