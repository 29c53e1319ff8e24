"""Limits on the analysis that bots send with their moves and that is stored in the record.

The main line is kept up to the first entry that is not a move of the game. The number of bytes is limited per move and
per match, so that views and records have a maximum size that the protocol can promise.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from arena.games.core import AnyGame, BadData, Player
from arena.match.events import Moved
from arena.protocol.record import RecordedMove
from arena.protocol.values import Data, Thinking

MOVE_BYTES = 1024
"""Maximum size of a player's analysis of one move, in bytes of JSON."""
MATCH_BYTES = 256 * 1024
"""Maximum size of a player's analysis in one match, in bytes of JSON."""
OVERHEAD_BYTES = 32
"""Bytes for the key and commas of the analysis, and for values that are longer in msgpack than in JSON."""
CACHED_MOVES = 512
"""Number of the game's moves that are remembered, so that most of a line is looked up instead of checked."""

_encoder = msgspec.json.Encoder()


class ThinkingLimit:
    """Limit of one match. `limit` takes time proportional to the length of the line."""

    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self._moves_by_key: dict[Any, Data] = {}
        """The game's own form of each move, by the data that a player may send for it."""
        self._byte_budgets = dict.fromkeys(Player, MATCH_BYTES)
        self.cut = 0
        """Number of moves of main lines that were dropped."""

    def event(self, event: Moved) -> Moved:
        """Return a move event with the part of its analysis that is within the limits. It counts towards the player's
        limit.
        """
        if event.thinking is None:
            return event
        return replace(event, thinking=self.trim(event.player, event.thinking))

    def limit_recorded(self, player: Player, move: RecordedMove) -> RecordedMove:
        """Return a recorded move with the part of its analysis that is kept. It counts towards the player's limit."""
        if move.thinking is None:
            return move
        return replace(move, thinking=self.trim(player, move.thinking))

    def trim(self, player: Player, thinking: Thinking) -> Thinking | None:
        """Return the part of a player's analysis of one move that is kept. It counts towards the player's limit."""
        if thinking.line is not None:
            line = self._moves(thinking.line)
            self.cut += len(thinking.line) - len(line)
            thinking = replace(thinking, line=line or None)
        size = _size(thinking)
        if size > min(MOVE_BYTES, self._byte_budgets[player]) and thinking.line is not None:
            self.cut += len(thinking.line)
            thinking = replace(thinking, line=None)
            size = _size(thinking)
        if size > self._byte_budgets[player]:
            return None
        self._byte_budgets[player] -= size
        return thinking

    def _moves(self, line: list[Data]) -> list[Data]:
        """Return the valid moves at the beginning of a line, in the game's own form."""
        cache, moves = self._moves_by_key, []
        for data in line:
            # The key includes types, because True equals 1 in a dictionary but is not a move.
            key = (list, *map(type, data), *data) if type(data) is list else (type(data), data)
            try:
                move = cache.get(key)
                if move is None:
                    move = self._game.move_to_data(self._game.move_from_data(data))
                    if len(cache) < CACHED_MOVES:
                        cache[key] = move
            except (BadData, TypeError):  # a TypeError means an unhashable key, with a list or a map inside
                break
            moves.append(move)
        return moves


def _size(thinking: Thinking) -> int:
    return len(_encoder.encode(thinking)) + OVERHEAD_BYTES
