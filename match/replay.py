"""Verification of a record: a referee replays the recorded match.

The check covers the setup, the opening, each move, the winner, and the reason for the end. If the match was adjudicated
(decided early), the check applies the adjudication rules that the record names. The times of the moves are not checked, because
a record does not contain the margin that was allowed for network delay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from arena.games.catalogue import CATALOGUE, explain_rules_mismatch, make_game
from arena.games.core import AnyGame, Game, GameError, Player, RuleEndReason
from arena.match.openings import list_positions
from arena.match.referee import SEAT_BY_PLAYER, Referee
from arena.match.referee_events import MatchOpened, MoveReceived, PlayerReady
from arena.match.terms import MatchTerms
from arena.protocol.adjudication import REPETITION_DETAIL_PREFIX, TABLEBASE_RULE
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, Record, Result
from arena.protocol.timecontrol import BadTimeControl, TimeControl
from arena.protocol.values import Opening
from arena.solved.header import BadTable
from arena.solved.solution import load_solution

_END_REASONS_OUTSIDE_GAME_RULES = frozenset(EndReason) - {
    EndReason(reason.value) for reason in RuleEndReason if reason is not RuleEndReason.LEAF
}
"""End reasons that the server gives: all except those in RuleEndReason, which the rules of a game give.

RuleEndReason.LEAF is not an EndReason, because it ends only explicit game trees, on which no match is played.
"""

_MOVER_LOSES_END_REASONS = frozenset({EndReason.TIMEOUT, EndReason.ILLEGAL_MOVE})
"""End reasons with which the player to move always loses."""
_DECISIVE_END_REASONS = _MOVER_LOSES_END_REASONS | {
    EndReason.RESIGNATION,
    EndReason.CRASH,
    EndReason.DISCONNECT,
    EndReason.PROTOCOL_ERROR,
}
"""End reasons of matches that always have a winner."""


@dataclass(frozen=True)
class Replay:
    """Match whose record was checked: its moves are legal and lead to its result."""

    record: Record
    game: Game[Any, Any]
    positions: tuple[Any, ...]
    """Start of the match, and the position after each move."""

    @property
    def ply_count(self) -> int:
        """Return the number of moves, including the opening."""
        return len(self.record.moves)

    def describe_move(self, ply: int) -> str:
        """Return a line about the move that led to `positions[ply]`; if `ply` is 0, a line with the players and the result."""
        record, game = self.record, self.game
        if ply == 0:
            return f"match {record.match}: {summarize_record(record)}"
        position_before, move = self.positions[ply - 1], record.moves[ply - 1]
        player = game.player(position_before)
        name = record.players.get_bot_name(player)
        move_text = game.move_to_text(game.move_from_data(move.move))
        return f"ply {ply - 1}: {player} ({name}) plays {move_text}, {', '.join([f'{move.ms:g} ms', *self._describe_analysis(ply - 1)])}"

    def _describe_analysis(self, ply: int) -> Iterator[str]:
        thinking = self.record.moves[ply].thinking
        if thinking is None:
            return
        if thinking.depth is not None:
            yield f"depth {thinking.depth}"
        if thinking.value is not None:
            yield f"value {thinking.value:g}"
        if thinking.nodes is not None:
            yield f"{thinking.nodes:,} nodes"


def list_movers(record: Record) -> list[Player]:
    """Return the player who made each move of a record. Raises GameError if the game is unknown on this machine.

    In the built-in games the players alternate. In a custom game a player may move twice in a row, so the match is
    replayed; an illegal move then raises GameError too.
    """
    if CATALOGUE.is_builtin(record.game):
        return [(Player.MAXIE, Player.MINNIE)[ply % 2] for ply in range(len(record.moves))]
    game = make_game(record.game, record.setup)
    positions = list_positions(game, [move.move for move in record.moves])
    return [game.player(position) for position in positions[:-1]]


def compute_mean_cpu_ms_by_bot(records: Iterable[Record]) -> dict[str, float]:
    """Return the mean CPU time per move, in ms, of each bot that reported its CPU time."""
    cpu_ms_by_bot: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        if any(move.thinking is not None and move.thinking.cpu_ms is not None for move in record.moves):
            for player, move in zip(list_movers(record), record.moves, strict=True):
                if move.thinking is not None and move.thinking.cpu_ms is not None:
                    cpu_ms_by_bot[record.players.get_bot_name(player)].append(move.thinking.cpu_ms)
    return {bot: sum(times_ms) / len(times_ms) for bot, times_ms in cpu_ms_by_bot.items()}


def has_player_moved(record: Record, player: Player) -> bool | None:
    """Return True if a player made a move that is not part of the opening.

    Without such a move, return False if the player lost on time or by not getting ready, and None if the match ended in
    another way, which says nothing about the player.
    """
    opening_plies = sum(move.opening for move in record.moves)
    if player in list_movers(record)[opening_plies:]:
        return True
    reason, winner = record.result.reason, record.result.winner
    is_loser = winner == SEAT_BY_PLAYER[player.opponent] or (reason is EndReason.NO_SHOW and winner is None)
    return False if is_loser and reason in {EndReason.TIMEOUT, EndReason.NO_SHOW} else None


def summarize_record(record: Record) -> str:
    """Return a one-line summary of a record: players, game, map, time controls, result and number of plies."""
    result = record.result
    winner_text = f"{result.winner} wins" if result.winner else "no winner"
    map_text = f" on {record.setup['map']}" if "map" in record.setup else ""
    players_text = f"{record.players.maxie} (maxie) - {record.players.minnie} (minnie)"
    reason_text = (
        REPETITION_DETAIL_PREFIX if result.ended_by_repetition else result.reason.value.replace("_", " ")
    )
    return f"{players_text}, {record.game}{map_text}, {record.time_odds.describe_time_controls(record.time_control)}: {winner_text}, {reason_text}, {len(record.moves)} plies"


def verify_record(record: Record) -> Replay:
    """Replay the match of a record, check the record against it, and return the checked match.

    Raises BadRecord if the setup is invalid, the game has other rules on this machine, a move is illegal, the moves do not
    lead to the result, or the solved table that adjudicated the match is missing or damaged.
    """
    terms = _make_match_terms(record)
    try:
        return _replay_moves(record, terms)
    except BadTable as error:
        raise BadRecord(str(error)) from None


def _replay_moves(record: Record, terms: MatchTerms) -> Replay:
    positions = _list_opening_positions(terms)
    referee = Referee(terms)
    referee.handle_event(MatchOpened(), 0)
    for player in Player:
        referee.handle_event(PlayerReady(player), 0)
    for ply, move in enumerate(record.moves[len(terms.opening) :], len(terms.opening)):
        if referee.is_over:
            raise BadRecord(f"the record has a move at ply {ply}, but the match was over before this ply")
        referee.handle_event(MoveReceived(referee.mover, ply, move.move, move.thinking), 0)
        if referee.result is not None and referee.result.reason is EndReason.ILLEGAL_MOVE:
            raise BadRecord(referee.result.detail)
        positions.append(referee.position)
    _require_same_result(record, referee)
    return Replay(record, terms.game, tuple(positions))


def _make_match_terms(record: Record) -> MatchTerms:
    try:
        game = make_game(record.game, record.setup)
        rules_difference = explain_rules_mismatch(game, record.rules)
        if rules_difference is not None:
            raise BadRecord(rules_difference)
        control = TimeControl.parse(record.time_control)
    except GameError as error:
        raise BadRecord(f"the setup of the record is wrong: {error}") from None
    except BadTimeControl as error:
        raise BadRecord(str(error)) from None
    for seat in SEAT_BY_PLAYER.values():
        try:
            record.time_odds.get_time_control(seat, control)
        except BadTimeControl as error:
            raise BadRecord(f"the time odds of the record are wrong: {error}") from None
    opening: Opening = tuple(move.move for move in takewhile(lambda move: move.opening, record.moves))
    return MatchTerms(
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


def _list_opening_positions(terms: MatchTerms) -> list[object]:
    """Return the start and the position after each move of the opening. Raises BadRecord for an invalid opening."""
    game: AnyGame = terms.game
    positions = [game.start()]
    for ply, move in enumerate(terms.opening):
        try:
            positions.append(game.play(positions[-1], game.move_from_data(move)))
        except GameError as error:
            raise BadRecord(f"the opening of the record is wrong: ply {ply}: {error}") from None
    outcome = game.outcome(positions[-1])
    if terms.opening and outcome is not None:
        raise BadRecord(
            f"the opening of the record is wrong: it already ends the game ({outcome.reason_code})"
        )
    return positions


def _require_same_result(record: Record, referee: Referee) -> None:
    result, replayed_result = record.result, referee.recorded_result
    if result.reason is EndReason.SERVER_FAULT:
        if result.winner is not None:
            raise BadRecord(f"a void match must have no winner, but the record names {result.winner}")
        return
    if replayed_result is not None:
        if (replayed_result.winner, replayed_result.reason) != (result.winner, result.reason):
            raise BadRecord(
                f"the record says that {format_result(result)}, "
                f"but its moves say that {format_result(replayed_result)}"
            )
        if result.ended_by_repetition and not replayed_result.ended_by_repetition:
            raise BadRecord(
                f"the record says that the match ended by a repeated position, but its moves lead to another result: {replayed_result.detail}"
            )
        return
    if result.reason is EndReason.ADJUDICATED:
        rules_text = record.adjudication if record.adjudication is not None else "none"
        if result.detail.startswith(f"{TABLEBASE_RULE}:") and load_solution(referee.terms.game) is None:
            raise BadRecord(
                f"the match was adjudicated by the solved table of its map, which is missing here: "
                f"create it with `arena solve {record.setup.get('map')}`"
            )
        raise BadRecord(
            f"the record says that the match was adjudicated, but its adjudication rules ({rules_text}) do not end it"
        )
    if result.reason not in _END_REASONS_OUTSIDE_GAME_RULES:
        raise BadRecord(
            f"the record gives {result.reason.value} as the end reason, but the match is not over after {referee.ply} plies"
        )
    if result.reason in _DECISIVE_END_REASONS and result.winner is None:
        raise BadRecord(
            f"a match that ends by {result.reason.value} must have a winner, but the record has none"
        )
    if result.reason in _MOVER_LOSES_END_REASONS and result.winner == SEAT_BY_PLAYER[referee.mover]:
        raise BadRecord(
            f"the record says that {result.winner} wins ({result.reason.value}), but it was {result.winner}'s turn: only the player to move can lose this way"
        )
    if result.reason is EndReason.NO_SHOW and referee.ply > len(referee.terms.opening):
        raise BadRecord("the record ends by no_show (a player was not ready), but moves were played")


def format_result(result: Result) -> str:
    """Return who won and for what reason, as in `maxie wins (armies)`."""
    return f"{result.winner or 'nobody'} wins ({result.reason.value})"
