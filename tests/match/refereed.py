"""Matches played with a referee: turn by turn, or whole with their journals and records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from arena.games.core import Player
from arena.match.referee import SEAT_BY_PLAYER, Referee
from arena.match.referee_events import (
    MatchOpened,
    MatchResult,
    MoveReceived,
    NotifyPlayer,
    PlayerReady,
    RefereeEvent,
    TurnStarted,
)
from arena.match.terms import MatchTerms
from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result, format_record_line, parse_record_line
from arena.protocol.values import Thinking
from tests.server.matches import record, terms

MAXIE, MINNIE = Player
BEGINNING: tuple[RefereeEvent, ...] = (MatchOpened(), PlayerReady(MAXIE), PlayerReady(MINNIE))
Journal = list[tuple[int, RefereeEvent]]


def play_match(
    agreed: MatchTerms, moves: Iterable[tuple[object, float | None]]
) -> tuple[Referee, Journal, list[Any]]:
    """Play moves after the opening, each with a value of the position, until all are played or the match is over.

    Return the referee, the events that it has handled, and its last effects.
    """
    referee = Referee(agreed)
    journal: Journal = []
    effects: list[Any] = []

    def handle(event: RefereeEvent) -> None:
        nonlocal effects
        journal.append((len(journal), event))
        effects = referee.handle_event(event, len(journal) - 1)

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
    """Return the record of a match as a room makes it. A match that is not over ends by a resignation."""
    finish = referee.result or MatchResult(MAXIE, EndReason.RESIGNATION, "")
    agreed = referee.terms
    made = replace(
        record(game=agreed.game.name),
        setup=dict(agreed.game.setup()),
        moves=referee.moves,
        adjudication=agreed.adjudication,
        result=Result(SEAT_BY_PLAYER[finish.winner] if finish.winner else None, finish.reason, finish.detail),
    )
    return parse_record_line(format_record_line(made))


def started_referee(**how: Any) -> Referee:
    """Return a referee whose players are ready, and whose first turn was sent at time 0."""
    referee = Referee(terms(**how))
    for event in (*BEGINNING, TurnStarted(0)):
        referee.handle_event(event, 0)
    return referee


def messages_to(effects: list[Any], player: Player, kind: type) -> list[Any]:
    return [
        each.message
        for each in effects
        if isinstance(each, NotifyPlayer) and each.player is player and isinstance(each.message, kind)
    ]


def play(referee: Referee, *cells: int, at: int = 0) -> list[Any]:
    """Play these cells of tic-tac-toe in turn, all at the same time. Return the effects of the last move."""
    effects: list[Any] = []
    for cell in cells:
        effects = referee.handle_event(MoveReceived(referee.mover, referee.ply, cell), at)
        referee.handle_event(TurnStarted(referee.ply), at)
    return effects
