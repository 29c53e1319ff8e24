"""A record held against the rules: played again under a referee, with every claim that it makes checked.

The times of the moves are not judged: a record does not tell the margin that they were judged by.
"""

from __future__ import annotations

from itertools import takewhile

from games.catalogue import make_game
from games.core import GameError, Player, Reason
from match.events import GotReady, Moved, Opened
from match.referee import SEATS, Referee
from match.terms import Terms
from protocol.codes import EndReason
from protocol.record import BadRecord, Record
from protocol.timecontrol import BadTimeControl, TimeControl

BY_THE_RULES = frozenset(reason.value for reason in Reason)
"""Reasons that a game gives; a match that ended otherwise ended before its game did."""

_MOVERS_FAULT = frozenset({EndReason.TIMEOUT, EndReason.ILLEGAL_MOVE})
_SOMEBODY_WINS = _MOVERS_FAULT | {EndReason.RESIGNATION, EndReason.DISCONNECT, EndReason.PROTOCOL_ERROR}


def verify(record: Record) -> None:
    """Raises BadRecord, with the ply and why, when the moves are not legal or do not lead to the result."""
    referee = _replayed(record)
    result, found = record.result, referee.result
    if result.reason is EndReason.SERVER_FAULT:
        if result.winner is not None:
            raise BadRecord("nobody wins a void match")
        return
    if found is not None:
        winner = SEATS[found.winner] if found.winner else None
        if (winner, found.reason) != (result.winner, result.reason):
            raise BadRecord(
                f"it says {_words(result.winner, result.reason)}, but its moves say {_words(winner, found.reason)}"
            )
        return
    if result.reason is EndReason.ADJUDICATED:
        rules = record.adjudication if record.adjudication is not None else "none"
        raise BadRecord(f"it ends by adjudication, but by its rules ({rules}) nothing is decided")
    if result.reason.value in BY_THE_RULES:
        raise BadRecord(f"it ends by {result.reason.value}, but after {referee.ply} plies nothing is decided")
    if result.reason in _SOMEBODY_WINS and result.winner is None:
        raise BadRecord(f"somebody wins a match that ends by {result.reason.value}")
    if result.reason in _MOVERS_FAULT and result.winner == SEATS[referee.mover]:
        raise BadRecord(f"{result.winner} wins by {result.reason.value}, but it was {result.winner}'s turn")
    if result.reason is EndReason.NO_SHOW and record.moves:
        raise BadRecord("it ends by no_show, but moves were played")


def _replayed(record: Record) -> Referee:
    try:
        game = make_game(record.game, record.setup)
        control = TimeControl.parse(record.time_control)
    except GameError as error:
        raise BadRecord(f"its setup is wrong: {error}") from None
    except BadTimeControl as error:
        raise BadRecord(str(error)) from None
    opening = tuple(each.move for each in takewhile(lambda each: each.opening, record.moves))
    terms = Terms(
        match=record.match,
        event=record.event,
        game=game,
        players=record.players,
        time_control=control,
        margin_ms=0,
        ready_ms=1,
        opening=opening,
        adjudication=record.adjudication,
    )
    try:
        referee = Referee(terms)
    except GameError as error:
        raise BadRecord(f"its opening is wrong: {error}") from None
    referee.handle(Opened(), 0)
    for player in Player:
        referee.handle(GotReady(player), 0)
    for ply, each in enumerate(record.moves[len(opening) :], len(opening)):
        if referee.over:
            raise BadRecord(f"ply {ply}: the match was over already")
        referee.handle(Moved(referee.mover, ply, each.move, each.thinking), 0)
        if referee.result is not None and referee.result.reason is EndReason.ILLEGAL_MOVE:
            raise BadRecord(referee.result.detail)
    return referee


def _words(winner: str | None, reason: EndReason) -> str:
    return f"{winner or 'nobody'} wins by {reason.value}"
