"""Detection of moves that draw a match by repetition, from the positions that a bot has seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from arena.games.core import Game
from arena.protocol.adjudication import DEFAULT_ADJUDICATION


class MovesSplitByRepetition(NamedTuple):
    """Moves of a position, separated by whether they draw the match by repetition."""

    moves_to_search: Sequence[Any] | None
    """Moves to search; None for all moves of the position, and empty if every move draws."""
    drawing_moves: Sequence[Any]
    """Moves that draw the match by repetition."""


class SeenPositions:
    """Positions of one match that a bot has seen, for counting repetitions."""

    def __init__(self, game: Game[Any, Any]) -> None:
        self._game = game
        self._keys_by_ply: dict[int, Hashable] = {}
        """Repetition key of each position, by ply. Positions with equal keys are repetitions of each other."""

    def add(self, position: Any) -> None:
        """Add a position of the match.

        If a position of the same ply is stored, remove that position and all later ones, because their moves were taken back.
        """
        key = self._game.repetition_key(position)
        if key is None:
            return
        ply = self._game.ply(position)
        if ply in self._keys_by_ply:
            self._keys_by_ply = {
                earlier_ply: earlier_key
                for earlier_ply, earlier_key in self._keys_by_ply.items()
                if earlier_ply < ply
            }
        self._keys_by_ply[ply] = key

    def split_moves_by_repetition(self, position: Any, *, expects_win: bool) -> MovesSplitByRepetition:
        """Separate the moves that draw the match by repetition from the moves to search in `position`.

        A move draws the match if it leads to a position that has occurred twice before (the default repetition rule).

        expects_win  True if the bot expects to win. Then a move is also not searched if the opponent could draw by repetition
                     with a reply that was played before, unless no other moves are left.
        """
        game, max_occurrences = self._game, DEFAULT_ADJUDICATION.repetition
        if max_occurrences is None:
            return MovesSplitByRepetition(None, ())
        counts = Counter(self._keys_by_ply.values())
        repeated_keys = {key for key, count in counts.items() if count >= max_occurrences - 1}
        if not repeated_keys:
            return MovesSplitByRepetition(None, ())
        risky_keys = {
            key
            for ply, key in self._keys_by_ply.items()
            if expects_win and self._keys_by_ply.get(ply + 1) in repeated_keys
        }
        drawing_moves: list[Any] = []
        risky_moves: list[Any] = []
        other_moves: list[Any] = []
        for move in game.moves(position):
            key = game.repetition_key(game.successor(position, move))
            if key in repeated_keys:
                drawing_moves.append(move)
            elif key in risky_keys:
                risky_moves.append(move)
            else:
                other_moves.append(move)
        return MovesSplitByRepetition(other_moves or risky_moves, drawing_moves)
