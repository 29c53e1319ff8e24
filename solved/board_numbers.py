"""Numbering of a map's boards, and the representative of symmetric boards.

A board is a position as the player to move sees it. The board has a number n for each territory. If n > 0, the
player to move has n armies there; if n < 0, the opponent has -n armies there; 0 is an empty territory. So a position and
the same position with the players exchanged have the same board.

The number of a board has a digit n + cap for each territory, in base 2 cap + 1. The digit of the first territory is the
highest.

An automorphism of the map permutes the territories so that every road stays a road. Boards that automorphisms turn into
each other have the same value. Among such boards, the one with the lowest number is the representative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from arena.games.core import Game
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.riskless_map import RisklessMap


@dataclass(frozen=True)
class BoardNumbering:
    """Numbering of a map's boards (positions as the player to move sees them), equal for maps with equal roads, cap and goal.

    neighbours     numbers of each territory's neighbours, in ascending order
    territory_cap  maximum number of armies on a territory
    armies_to_win  total number of armies that wins
    """

    neighbours: tuple[tuple[int, ...], ...]
    territory_cap: int
    armies_to_win: int

    @classmethod
    def from_map(cls, map: RisklessMap) -> BoardNumbering:
        return cls(
            tuple(tuple(sorted(near)) for near in map.neighbours), map.territory_cap, map.armies_to_win
        )

    @property
    def territory_count(self) -> int:
        return len(self.neighbours)

    @property
    def radix(self) -> int:
        """Return the base of the numbers of boards (positions): a digit has 2 × cap + 1 values, for -cap to cap armies."""
        return 2 * self.territory_cap + 1

    @property
    def board_count(self) -> int:
        """Return the number of boards (positions), including finished boards and the empty board."""
        return int(self.radix**self.territory_count)

    @cached_property
    def place_values(self) -> tuple[int, ...]:
        """Return, for each territory, the place value of its digit in the number of a board (position): a power of the base."""
        return tuple(self.radix**territory for territory in reversed(range(self.territory_count)))

    @cached_property
    def symmetries(self) -> tuple[Permutation, ...]:
        """Return the map's symmetries (automorphisms), by which a representative of symmetric boards is chosen; identity first.

        These are all automorphisms of the map, or a subgroup of them if there are more than `MAX_BOARD_SYMMETRIES`.
        """
        return find_automorphisms(self.neighbours)

    def decode_board(self, board_number: int) -> tuple[int, ...]:
        """Return the board (position) with this number. Armies of the player to move are positive, the opponent's negative."""
        return tuple(
            board_number // place_value % self.radix - self.territory_cap for place_value in self.place_values
        )

    def find_representative_number(self, board: Sequence[int]) -> int:
        """Return the number of a board's representative: the lowest number of the board (position) and its symmetric images.

        Takes O(territories) time for each symmetry.
        """
        digits = [n + self.territory_cap for n in board]
        return min(
            sum(digit * place_value for digit, place_value in zip(digits, place_values, strict=True))
            for place_values in self._place_values_by_symmetry
        )

    @cached_property
    def _place_values_by_symmetry(self) -> tuple[tuple[int, ...], ...]:
        """Return, for each symmetry, each territory's place value in the number of the symmetric image of a board (position).

        The number of the image of a board is the sum of digit × place value, so the image itself need not be made.
        """
        return tuple(tuple(self.place_values[place] for place in symmetry) for symmetry in self.symmetries)


def make_board_for_mover(position: RisklessPosition) -> tuple[int, ...]:
    """Return a position's armies by territory: those of the player to move are positive, the opponent's negative."""
    sign = position.player.sign
    return tuple(sign * n for n in position.armies)


def find_board_numbering(game: Game[Any, Any]) -> BoardNumbering | None:
    """Return the numbering of the boards (positions) of a Riskless game; None for any other game.

    A subclass of Riskless counts as another game, because its rules may differ.
    """
    return BoardNumbering.from_map(game.map) if type(game) is Riskless else None


Permutation = tuple[int, ...]
"""Permutation of a map's territories: it moves territory v to the place of territory `permutation[v]`."""

MAX_BOARD_SYMMETRIES = 5040
"""Maximum number of automorphisms (symmetries of the map) applied to a board. A star of 20 territories has 19!, too many."""


def find_automorphisms(neighbours: Sequence[Sequence[int]]) -> tuple[Permutation, ...]:
    """Return a group of at most MAX_BOARD_SYMMETRIES automorphisms (symmetries) of a graph, in ascending order, identity first.

    If there are more automorphisms, return the subgroup that keeps the first k territories in place, for the lowest
    possible k. With V territories, the search takes O(V!) time at worst. On maps it takes about O(V) time per
    automorphism and territory, since roads exclude most choices early.

    neighbours: numbers of each territory's neighbours
    """
    neighbour_sets = [frozenset(near) for near in neighbours]
    for fixed_count in range(len(neighbours) + 1):
        permutations = tuple(
            islice(_list_automorphisms_with_prefix(neighbour_sets, (), fixed_count), MAX_BOARD_SYMMETRIES + 1)
        )
        if len(permutations) <= MAX_BOARD_SYMMETRIES:
            return permutations
    raise AssertionError(
        "several automorphisms keep every territory in place, but only the identity may do so"
    )


def _list_automorphisms_with_prefix(
    neighbour_sets: Sequence[frozenset[int]], prefix: Permutation, fixed_count: int
) -> Iterator[Permutation]:
    """Yield all automorphisms that begin with `prefix` and keep the first `fixed_count` territories in place.

    prefix: territories to which the first `len(prefix)` territories are moved, in order
    """
    v = len(prefix)
    if v == len(neighbour_sets):
        yield prefix
        return
    earlier_neighbours = [u for u in neighbour_sets[v] if u < v]
    used_images = frozenset(prefix)
    neighbour_images = {prefix[u] for u in earlier_neighbours}
    if v < fixed_count:
        candidates: Iterable[int] = (v,)
    else:
        # Neighbours of a placed territory must be adjacent to its place: on a ring this leaves two choices.
        candidates = (
            sorted(neighbour_sets[prefix[earlier_neighbours[0]]])
            if earlier_neighbours
            else range(len(neighbour_sets))
        )
    for w in candidates:
        if (
            w not in used_images
            and len(neighbour_sets[w]) == len(neighbour_sets[v])
            and neighbour_sets[w] & used_images == neighbour_images
        ):
            yield from _list_automorphisms_with_prefix(neighbour_sets, (*prefix, w), fixed_count)
