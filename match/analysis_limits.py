"""Limits on the analysis that bots send with their moves and that the record stores.

The main line (the moves that a bot expects) is kept up to the first entry that is not a move of the game. The number of
bytes is limited per move and per match, so that records and spectators' messages have a known maximum size.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from arena.games.core import AnyGame, BadData, Player
from arena.match.referee_events import MoveReceived
from arena.protocol.record import RecordedMove
from arena.protocol.values import PlainData, Thinking

MAX_ANALYSIS_BYTES_PER_MOVE = 1024
"""Maximum size of the analysis of one move, in bytes of JSON."""
MAX_ANALYSIS_BYTES_PER_PLAYER = 256 * 1024
"""Maximum size of all analysis of one player in a match, in bytes of JSON."""
ENCODING_OVERHEAD_BYTES_PER_MOVE = 32
"""Bytes added to the JSON size of each analysis: for its key and commas, and for values that are longer in msgpack."""
MAX_CACHED_MAIN_LINE_MOVES = 512
"""Maximum number of valid moves from main lines that are cached for each match."""

AnalysedMove = TypeVar("AnalysedMove", MoveReceived, RecordedMove)
"""Type of a move that may have an analysis: a move as it was received, or as it is recorded."""

_encoder = msgspec.json.Encoder()


class AnalysisTrimmer:
    """Trimmer of the analysis that bots send in one match: it removes what is too long, and moves that the game cannot read.

    The limits are MAX_ANALYSIS_BYTES_PER_MOVE and MAX_ANALYSIS_BYTES_PER_PLAYER. A main line ends before its first bad move.

    `trim_thinking` takes time in proportion to the length of the main line.
    """

    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self._moves_by_key: dict[Any, PlainData] = {}
        """Cache of valid moves in the form of `Game.move_to_data`, by the types and values of the data that a player sent.

        Without the types, True and 1 would be the same key, but True is not a valid number.
        """
        self._byte_budgets = dict.fromkeys(Player, MAX_ANALYSIS_BYTES_PER_PLAYER)
        """Number of bytes of analysis that each player may still send."""
        self.removed_line_move_count = 0
        """Number of moves removed from main lines so far."""

    def trim_move(self, player: Player, move: AnalysedMove) -> AnalysedMove:
        """Return a player's move with the part of its analysis that is within the byte limits per move and per match.

        The remaining analysis counts towards the player's limit for the match.
        """
        if move.thinking is None:
            return move
        return replace(move, thinking=self.trim_thinking(player, move.thinking))

    def trim_thinking(self, player: Player, thinking: Thinking) -> Thinking | None:
        """Return the part of a player's analysis that is within the byte limits per move and per match; None if nothing fits.

        The returned part counts towards the player's limit for the match.
        """
        if thinking.line is not None:
            line = self._select_valid_moves(thinking.line)
            self.removed_line_move_count += len(thinking.line) - len(line)
            thinking = replace(thinking, line=line or None)
        json_bytes = _count_json_bytes(thinking)
        if (
            json_bytes > min(MAX_ANALYSIS_BYTES_PER_MOVE, self._byte_budgets[player])
            and thinking.line is not None
        ):
            self.removed_line_move_count += len(thinking.line)
            thinking = replace(thinking, line=None)
            json_bytes = _count_json_bytes(thinking)
        if json_bytes > self._byte_budgets[player]:
            return None
        self._byte_budgets[player] -= json_bytes
        return thinking

    def _select_valid_moves(self, main_line: list[PlainData]) -> list[PlainData]:
        """Return the moves of a main line before its first invalid move, in the form of `Game.move_to_data`."""
        cache, moves = self._moves_by_key, []
        for sent_move in main_line:
            # The key includes types, because True equals 1 in a dictionary but is not a move.
            is_list = type(sent_move) is list
            key = (list, *map(type, sent_move), *sent_move) if is_list else (type(sent_move), sent_move)
            try:
                move = cache.get(key)
                if move is None:
                    move = self._game.move_to_data(self._game.move_from_data(sent_move))
                    if len(cache) < MAX_CACHED_MAIN_LINE_MOVES:
                        cache[key] = move
            except (BadData, TypeError):  # a TypeError means an unhashable key, with a list or a map inside
                break
            moves.append(move)
        return moves


def _count_json_bytes(thinking: Thinking) -> int:
    return len(_encoder.encode(thinking)) + ENCODING_OVERHEAD_BYTES_PER_MOVE
