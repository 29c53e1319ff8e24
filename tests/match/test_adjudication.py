"""Adjudication: by itself, and through the referee, the journal and the record."""

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
from arena.match.referee import SEATS, Referee
from arena.match.referee_events import Event, Finish, MatchOpened, Moved, PlayerReady, TurnStarted
from arena.match.replay import verify_record
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.messages import End
from arena.protocol.record import BadRecord, Record, RecordedMove, from_line, to_line
from arena.protocol.values import Thinking
from tests.server.matches import game_of, record, terms
from tests.server.played import NOBODY_WINS
from tests.server.refereed import MAXIE, MINNIE, messages_to

VALUES = st.none() | st.sampled_from([-500.0, -20.0, 0.0, 20.0, 500.0]) | st.floats(-1e12, 1e12)


def thought(*values: float | None) -> list[RecordedMove]:
    return [RecordedMove(0, 1.0, None if value is None else Thinking(value=value)) for value in values]


def winner(rules: Adjudication, *values: float | None) -> Any:
    """Return the winner by the values of all moves; False where the match goes on."""
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


def test_without_rules_nothing_ends() -> None:
    assert adjudicate(None, game_of().start(), thought(*[1e12] * 100), 9) is None


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


def refereed(
    rules: Adjudication, moves: Sequence[tuple[int, float | None]], opening: Sequence[int] = ()
) -> tuple[Referee, list[tuple[int, Event]], list[Any]]:
    """Return a match of tic-tac-toe: the referee, the events that it took, and the last effects."""
    referee = Referee(replace(terms(), adjudication=rules, opening=tuple(opening)))
    journal: list[tuple[int, Event]] = []
    effects: list[Any] = []

    def handle(event: Event) -> None:
        nonlocal effects
        journal.append((len(journal), event))
        effects = referee.handle(event, len(journal) - 1)

    for event in (MatchOpened(), PlayerReady(MAXIE), PlayerReady(MINNIE)):
        handle(event)
    for move, value in moves:
        if referee.is_over:
            break
        handle(TurnStarted(referee.ply))
        handle(Moved(referee.mover, referee.ply, move, None if value is None else Thinking(value=value)))
    return referee, journal, effects


def record_of(referee: Referee) -> Record:
    finish = referee.result
    assert finish is not None
    made = record(winner=SEATS[finish.winner] if finish.winner else None, reason=finish.reason)
    made = msgspec.structs.replace(made, moves=referee.moves, adjudication=referee.terms.adjudication)
    return from_line(to_line(made))


def test_both_are_told_the_end_and_its_reason() -> None:
    moves = [(cell, 500.0) for cell in NOBODY_WINS]
    referee, _, effects = refereed(WIN, moves)
    detail = "both bots said in their last 2 moves each that maxie wins, by 500 or more"
    assert referee.result == Finish(MAXIE, EndReason.ADJUDICATED, detail)
    for player in Player:
        [end] = messages_to(effects, player, End)
        assert (end.winner, end.reason, end.detail) == ("maxie", "adjudicated", detail)
        assert end.moves == list(NOBODY_WINS[:4])
    assert referee.next_deadline is None


def test_the_end_of_the_game_goes_before_adjudication() -> None:
    referee, _, _ = refereed(Adjudication(limit=5), [(cell, None) for cell in (0, 3, 1, 4, 2)])
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
    referee, journal, _ = refereed(
        rules, list(zip(cells[opening:], values[opening:], strict=True)), cells[:opening]
    )
    again = Referee(referee.terms)
    for at, event in journal:
        again.handle(event, at)
    assert again.result == referee.result
    if referee.result is None:
        return  # some openings leave a full board to nobody
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
