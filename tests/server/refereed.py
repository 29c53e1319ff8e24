"""Matches under a referee, for its tests: no sockets, and time is an argument."""

from __future__ import annotations

from typing import Any

from arena.games.core import Player
from arena.match.referee import Referee
from arena.match.referee_events import (
    MatchOpened,
    MoveReceived,
    NotifyPlayer,
    PlayerReady,
    TurnStarted,
)
from tests.server.matches import terms

MAXIE, MINNIE = Player


def started_referee(**how: Any) -> Referee:
    """Return a referee whose players are ready and whose first turn has left at time 0."""
    referee = Referee(terms(**how))
    for event in (MatchOpened(), PlayerReady(MINNIE), PlayerReady(MAXIE), TurnStarted(0)):
        referee.handle(event, 0)
    return referee


def messages_to(effects: list[Any], player: Player, kind: type) -> list[Any]:
    return [
        each.message
        for each in effects
        if isinstance(each, NotifyPlayer) and each.player is player and isinstance(each.message, kind)
    ]


def play(referee: Referee, *cells: int, at: int = 0) -> list[Any]:
    effects: list[Any] = []
    for cell in cells:
        effects = referee.handle(MoveReceived(referee.mover, referee.ply, cell), at)
        referee.handle(TurnStarted(referee.ply), at)
    return effects
