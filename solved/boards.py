"""The boards of a map as numbers, and which of them stands for all that look alike.

A board is seen by the player to move: n > 0 is n armies of theirs, n < 0 is -n of the opponent's, 0 is empty. So a
board and the same one with the colours and the turn exchanged are one. The number of a board is written in base
2 cap + 1, a digit n + cap for each territory, the first territory's the highest. Of the boards that the map's
automorphisms turn into each other the one with the lowest number stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from arena.games.board import RisklessMap
from arena.games.riskless import Armies, Riskless
from arena.solved.symmetry import Permutation, automorphisms


@dataclass(frozen=True)
class Boards:
    """All boards of the maps that have these roads, this cap and this goal.

    neighbours   V sets of territory numbers in ascending order: the order of moves does not change any value
    """

    neighbours: tuple[tuple[int, ...], ...]
    cap: int
    goal: int

    @classmethod
    def of(cls, map: RisklessMap) -> Boards:
        """The boards of a map."""
        return cls(
            tuple(tuple(sorted(near)) for near in map.neighbours), map.territory_cap, map.armies_to_win
        )

    @property
    def territories(self) -> int:
        return len(self.neighbours)

    @property
    def base(self) -> int:
        """What a territory can hold: so many different numbers."""
        return 2 * self.cap + 1

    @property
    def count(self) -> int:
        """How many boards there are, those that are over and the empty one included."""
        return int(self.base**self.territories)

    @cached_property
    def powers(self) -> tuple[int, ...]:
        """What an army more on each territory adds to the number of a board."""
        return tuple(self.base**v for v in reversed(range(self.territories)))

    @cached_property
    def symmetries(self) -> tuple[Permutation, ...]:
        """The automorphisms that are used, the identity first."""
        return automorphisms(self.neighbours)

    def number(self, board: Sequence[int]) -> int:
        """The number of a board."""
        return sum((n + self.cap) * power for n, power in zip(board, self.powers, strict=True))

    def board(self, number: int) -> tuple[int, ...]:
        """The board of that number."""
        return tuple(number // power % self.base - self.cap for power in self.powers)

    def representative(self, board: Sequence[int]) -> int:
        """The number of the board that stands for this one. O(V) for each symmetry."""
        digits = [n + self.cap for n in board]
        return min(
            sum(digit * power for digit, power in zip(digits, images, strict=True)) for images in self._images
        )

    @cached_property
    def _images(self) -> tuple[tuple[int, ...], ...]:
        """For each symmetry, what a digit of each territory counts where it goes."""
        return tuple(tuple(self.powers[place] for place in symmetry) for symmetry in self.symmetries)


def seen_by_mover(position: Armies) -> tuple[int, ...]:
    """The armies of a position as the player to move sees them."""
    sign = position.player.sign
    return tuple(sign * n for n in position.armies)


def boards_of(game: object) -> Boards | None:
    """The boards of a game of Riskless; None for any other."""
    return Boards.of(game.map) if isinstance(game, Riskless) else None
