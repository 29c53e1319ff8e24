"""Openings of a ladder: the first moves of its matches, which the referee plays. Pure: no I/O.

Without openings, deterministic bots would play the same match again and again. An opening comes from a list, which many
maps have, or consists of random moves chosen by the seed. Each round has a different opening. All pairs of matches of a
round on the same map have the same opening, so that the conditions are equal for all bots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.games.core import AnyGame
from arena.maps.openings_file import find_shipped_openings_file, read_openings
from arena.match.openings import make_random_opening
from arena.protocol.values import Opening
from arena.rating.pairing import shuffle_by_seed

SHIPPED_OPENINGS: Final = "shipped"
"""Value of `--openings`, and of `openings` in a ladder file, that selects the openings shipped with each map."""

MAX_OPENING_ATTEMPTS = 64
"""Maximum number of random openings that are tried to find a new opening for a start position.

Small games have few openings. After a search that finds no new opening, the next search for this position tries half as many.
"""


class RandomOpenings:
    """Random openings (first moves, which the referee plays) of `ply_count` moves, or fewer if every further move would end
    the game.
    """

    def __init__(self, games: Sequence[AnyGame], ply_count: int, seed: int) -> None:
        self._games = games
        self._ply_count = ply_count
        self._seed = seed
        self._openings: list[list[Opening]] = [[] for _ in games]
        self._used_openings: list[set[str]] = [set() for _ in games]
        self._max_attempts = [MAX_OPENING_ATTEMPTS for _ in games]

    def get_opening(self, round: int, start_position_index: int) -> Opening:
        """Return the opening of a round (from 0) on the start position with the index `start_position_index`.

        The opening differs from the openings of earlier rounds on this position, unless no new opening is found.
        """
        openings = self._openings[start_position_index]
        while len(openings) <= round:
            openings.append(self._draw_opening(len(openings), start_position_index))
        return openings[round]

    def _draw_opening(self, round: int, start_position_index: int) -> Opening:
        opening: Opening = ()
        for attempt in range(self._max_attempts[start_position_index]):
            salt = f"{self._seed}/{round}/{start_position_index}/{attempt}"
            opening = make_random_opening(self._games[start_position_index], self._ply_count, salt)
            if repr(opening) not in self._used_openings[start_position_index]:
                break
        else:
            self._max_attempts[start_position_index] = max(1, self._max_attempts[start_position_index] // 2)
        self._used_openings[start_position_index].add(repr(opening))
        return opening


class ListedOpenings:
    """Openings (first moves, which the referee plays) from a list, one per round. After the last opening, the list starts
    over.
    """

    def __init__(self, openings: Sequence[Sequence[Opening]] = ()) -> None:
        self.openings_by_start_position = openings
        """For each start position, its openings in the order of the rounds. An empty list means no openings."""

    def get_opening(self, round: int, start_position_index: int) -> Opening:
        """Return the opening of a round (from 0) on the start position with the index `start_position_index`."""
        openings = (
            self.openings_by_start_position[start_position_index] if self.openings_by_start_position else [()]
        )
        return openings[round % len(openings)]


Openings = RandomOpenings | ListedOpenings


def load_shipped_openings(maps: Sequence[str], games: Sequence[AnyGame], seed: int) -> ListedOpenings:
    """Return the openings that are shipped with each map of `maps`, in an order chosen by `seed`.

    games  game that is played on each map, in the order of `maps`

    A map without shipped openings gets an empty opening, and so does each map if the game is not Riskless. Raises
    BadOpenings if a file of openings was made for another version of its map.
    """
    return ListedOpenings(
        [_load_shipped_map_openings(name, game, seed) for name, game in zip(maps, games, strict=True)]
    )


def _load_shipped_map_openings(map_name: str, game: AnyGame, seed: int) -> Sequence[Opening]:
    path = find_shipped_openings_file(map_name, game.name)
    if path is None:
        return [()]
    # Shuffled by the seed, so that short events with other seeds use other openings.
    [openings] = read_openings(path, [game])
    return [openings[place] for place in shuffle_by_seed(range(len(openings)), str(seed))]
