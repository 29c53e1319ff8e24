"""What of a bot's thinking is kept of a match: it is for people, and comes from strangers.

The main line is kept as far as it is made of moves of the game. What a player says takes so many bytes a move and so
many a match at the most, so that views and records have a size that the protocol can promise.
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
"""The most that is kept of a player's thinking on one move, as JSON."""
MATCH_BYTES = 256 * 1024
"""The most that is kept of a player's thinking in one match, as JSON."""
OVERHEAD_BYTES = 32
"""What the name of the thinking and its commas take, and by how much msgpack may be longer than JSON."""
KNOWN = 512
"""Moves of the game that are remembered, so that most of a line is looked up and not checked."""

_encoder = msgspec.json.Encoder()


class ThinkingLimit:
    """The limit of one match. Its `limited` takes time by the length of the line."""

    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self._known: dict[Any, Data] = {}
        """By what a player may send for a move, the move as the game itself writes it."""
        self._left = dict.fromkeys(Player, MATCH_BYTES)
        self.cut = 0
        """Moves of lines that were not kept."""

    def event(self, event: Moved) -> Moved:
        """A move with what is kept of its thinking, which counts against its player's limit."""
        if event.thinking is None:
            return event
        return replace(event, thinking=self.limited(event.player, event.thinking))

    def recorded(self, player: Player, move: RecordedMove) -> RecordedMove:
        """A player's move of a record, with what is kept of its thinking."""
        if move.thinking is None:
            return move
        return replace(move, thinking=self.limited(player, move.thinking))

    def limited(self, player: Player, thinking: Thinking) -> Thinking | None:
        """What is kept of a player's thinking on one move; it counts against the player's limit."""
        if thinking.line is not None:
            line = self._moves(thinking.line)
            self.cut += len(thinking.line) - len(line)
            thinking = replace(thinking, line=line or None)
        size = _size(thinking)
        if size > min(MOVE_BYTES, self._left[player]) and thinking.line is not None:
            self.cut += len(thinking.line)
            thinking = replace(thinking, line=None)
            size = _size(thinking)
        if size > self._left[player]:
            return None
        self._left[player] -= size
        return thinking

    def _moves(self, line: list[Data]) -> list[Data]:
        """The moves at the beginning of a line, as the game writes them, up to what is no move."""
        known, moves = self._known, []
        for data in line:
            # By type too: to a dictionary True is 1, and to a game it is no move.
            key = (list, *map(type, data), *data) if type(data) is list else (type(data), data)
            try:
                move = known.get(key)
                if move is None:
                    move = self._game.move_to_data(self._game.move_from_data(data))
                    if len(known) < KNOWN:
                        known[key] = move
            except (BadData, TypeError):  # a TypeError is a key that cannot be one: a list or a map inside it
                break
            moves.append(move)
        return moves


def _size(thinking: Thinking) -> int:
    return len(_encoder.encode(thinking)) + OVERHEAD_BYTES
