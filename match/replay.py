"""A record played again under a referee, with every claim that it makes checked.

What is held against the rules: the setup, the opening, each move, the reason, the winner, and adjudication by the
record's own rules. The times of the moves are not judged, because a record does not tell the margin that they were
judged by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from arena.games.catalogue import differing_rules, make_game
from arena.games.core import MAXIE, AnyGame, Game, GameError, Player, Reason
from arena.match.events import GotReady, Moved, Opened
from arena.match.referee import SEATS, Referee
from arena.match.terms import Terms
from arena.protocol.adjudication import REPETITION, TABLE
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, Record, Result
from arena.protocol.timecontrol import BadTimeControl, TimeControl
from arena.protocol.values import Data
from arena.solved.header import BadTable
from arena.solved.solution import solution_of

_BEFORE_ITS_END = frozenset(EndReason) - {
    EndReason.of(reason.value) for reason in Reason if reason is not Reason.LEAF
}
"""Reasons for which a match ends before its game does; every other one a game gives."""

_MOVERS_FAULT = frozenset({EndReason.TIMEOUT, EndReason.ILLEGAL_MOVE})
_SOMEBODY_WINS = _MOVERS_FAULT | {
    EndReason.RESIGNATION,
    EndReason.CRASH,
    EndReason.DISCONNECT,
    EndReason.PROTOCOL_ERROR,
}


@dataclass(frozen=True)
class Replay:
    """A match whose moves are legal and whose result is what they lead to."""

    record: Record
    game: Game[Any, Any]
    positions: tuple[Any, ...]
    """One more than there are moves; the first is the start."""

    @property
    def plies(self) -> int:
        """How many moves were played, those of the opening included."""
        return len(self.record.moves)

    def told(self, ply: int) -> str:
        """The move that led to `positions[ply]`, in a line; for ply 0, who plays whom and how it ended."""
        record, game = self.record, self.game
        if ply == 0:
            return f"match {record.match}: {summary(record)}"
        before, move = self.positions[ply - 1], record.moves[ply - 1]
        player = game.player(before)
        name = record.players.maxie if player is MAXIE else record.players.minnie
        text = game.move_to_text(game.move_from_data(move.move))
        return f"ply {ply - 1}: {player} ({name}) plays {text}, {', '.join([f'{move.ms:g} ms', *self._thought(ply - 1)])}"

    def _thought(self, ply: int) -> Iterator[str]:
        thinking = self.record.moves[ply].thinking
        if thinking is None:
            return
        if thinking.depth is not None:
            yield f"depth {thinking.depth}"
        if thinking.value is not None:
            yield f"value {thinking.value:g}"
        if thinking.nodes is not None:
            yield f"{thinking.nodes:,} nodes"


def summary(record: Record) -> str:
    """A record in a line: who, what, and how it ended."""
    result = record.result
    winner = f"{result.winner} wins" if result.winner else "no winner"
    setup = f" on {record.setup['map']}" if "map" in record.setup else ""
    who = f"{record.players.maxie} (maxie) - {record.players.minnie} (minnie)"
    reason = REPETITION if result.by_repetition else result.reason.value.replace("_", " ")
    return f"{who}, {record.game}{setup}, {record.time_odds.beside(record.time_control)}: {winner}, {reason}, {len(record.moves)} plies"


def verify(record: Record) -> Replay:
    """The match of a record, played again.

    Raises BadRecord, with the ply and why, when the setup is no game, the game has other rules here, a move is not
    legal, or the moves do not lead to the result.
    """
    terms = _terms(record)
    try:
        return _played(record, terms)
    except BadTable as error:
        raise BadRecord(str(error)) from None


def _played(record: Record, terms: Terms) -> Replay:
    positions = _opening(terms)
    referee = Referee(terms)
    referee.handle(Opened(), 0)
    for player in Player:
        referee.handle(GotReady(player), 0)
    for ply, each in enumerate(record.moves[len(terms.opening) :], len(terms.opening)):
        if referee.over:
            raise BadRecord(f"ply {ply}: the match was over already")
        referee.handle(Moved(referee.mover, ply, each.move, each.thinking), 0)
        if referee.result is not None and referee.result.reason is EndReason.ILLEGAL_MOVE:
            raise BadRecord(referee.result.detail)
        positions.append(referee.position)
    _check_result(record, referee)
    return Replay(record, terms.game, tuple(positions))


def _terms(record: Record) -> Terms:
    try:
        game = make_game(record.game, record.setup)
        differ = differing_rules(game, record.rules)
        if differ is not None:
            raise BadRecord(differ)
        control = TimeControl.parse(record.time_control)
    except GameError as error:
        raise BadRecord(f"its setup is wrong: {error}") from None
    except BadTimeControl as error:
        raise BadRecord(str(error)) from None
    for seat in SEATS.values():
        try:
            record.time_odds.of(seat, control)
        except BadTimeControl as error:
            raise BadRecord(f"its time odds are wrong: {error}") from None
    opening: tuple[Data, ...] = tuple(
        each.move for each in takewhile(lambda each: each.opening, record.moves)
    )
    return Terms(
        match=record.match,
        event=record.event,
        game=game,
        players=record.players,
        time_control=control,
        time_odds=record.time_odds,
        margin_ms=0,
        ready_ms=1,
        opening=opening,
        adjudication=record.adjudication,
    )


def _opening(terms: Terms) -> list[object]:
    """The positions up to the first that a player moves in."""
    game: AnyGame = terms.game
    positions = [game.start()]
    for ply, data in enumerate(terms.opening):
        try:
            positions.append(game.play(positions[-1], game.move_from_data(data)))
        except GameError as error:
            raise BadRecord(f"its opening is wrong: ply {ply}: {error}") from None
    outcome = game.outcome(positions[-1])
    if terms.opening and outcome is not None:
        raise BadRecord(f"its opening is wrong: it ends the game, by {outcome.word}")
    return positions


def _check_result(record: Record, referee: Referee) -> None:
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
        if result.by_repetition and not Result(winner, found.reason, found.detail).by_repetition:
            raise BadRecord(
                f"it says that a position came up again and again, but its moves say: {found.detail}"
            )
        return
    if result.reason is EndReason.ADJUDICATED:
        rules = record.adjudication if record.adjudication is not None else "none"
        if result.detail.startswith(f"{TABLE}:") and solution_of(referee.terms.game) is None:
            raise BadRecord(
                f"it ends by the table of its map, which is not here: `arena solve {record.setup.get('map')}` makes it"
            )
        raise BadRecord(f"it ends by adjudication, but by its rules ({rules}) nothing is decided")
    if result.reason not in _BEFORE_ITS_END:
        raise BadRecord(f"it ends by {result.reason.value}, but after {referee.ply} plies nothing is decided")
    if result.reason in _SOMEBODY_WINS and result.winner is None:
        raise BadRecord(f"somebody wins a match that ends by {result.reason.value}")
    if result.reason in _MOVERS_FAULT and result.winner == SEATS[referee.mover]:
        raise BadRecord(f"{result.winner} wins by {result.reason.value}, but it was {result.winner}'s turn")
    if result.reason is EndReason.NO_SHOW and referee.ply > len(referee.terms.opening):
        raise BadRecord("it ends by no_show, but moves were played")


def _words(winner: str | None, reason: EndReason) -> str:
    return f"{winner or 'nobody'} wins by {reason.value}"
