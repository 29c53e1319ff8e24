"""Whole matches under a referee, with their journals and records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from arena.games.core import Player
from arena.match.referee import SEATS, Referee
from arena.match.referee_events import (
    FinishMatch,
    MatchOpened,
    MoveReceived,
    PlayerReady,
    RefereeEvent,
    TurnStarted,
)
from arena.match.terms import Terms
from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result, from_line, to_line
from arena.protocol.values import Thinking
from tests.server.matches import record

BEGINNING: tuple[RefereeEvent, ...] = (MatchOpened(), PlayerReady(Player.MAXIE), PlayerReady(Player.MINNIE))
Journal = list[tuple[int, RefereeEvent]]


def play_match(
    terms: Terms, moves: Iterable[tuple[object, float | None]]
) -> tuple[Referee, Journal, list[Any]]:
    """Play moves after the opening, each with a value of the position, until all are played or the match is over.

    Return the referee, the events that it took, and its last effects.
    """
    referee = Referee(terms)
    journal: Journal = []
    effects: list[Any] = []

    def handle(event: RefereeEvent) -> None:
        nonlocal effects
        journal.append((len(journal), event))
        effects = referee.handle(event, len(journal) - 1)

    for event in BEGINNING:
        handle(event)
    for move, value in moves:
        if referee.is_over:
            break
        handle(TurnStarted(referee.ply))
        handle(
            MoveReceived(referee.mover, referee.ply, move, None if value is None else Thinking(value=value))
        )
    return referee, journal, effects


def record_of(referee: Referee) -> Record:
    """Return the match as a room writes it down, resigned where it is not over."""
    finish = referee.result or FinishMatch(Player.MAXIE, EndReason.RESIGNATION, "")
    terms = referee.terms
    made = replace(
        record(game=terms.game.name),
        setup=dict(terms.game.setup()),
        moves=referee.moves,
        adjudication=terms.adjudication,
        result=Result(SEATS[finish.winner] if finish.winner else None, finish.reason, finish.detail),
    )
    return from_line(to_line(made))
