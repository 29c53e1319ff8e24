"""The openings of an event: how each pair's two matches begin, the same for both. Pure.

Bots that always answer alike would repeat one match for ever. So the first moves can be made for them: those of a list,
which many maps bring with them, or random legal ones by the seed, another opening in each round. All pairs of a round on one map
begin alike, so that nobody gets easier openings than others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.maps.openings import read, shipped_openings
from arena.match.openings import Opening, random_opening

SHIPPED: Final = "shipped"
"""The word for the openings that each map brings with it."""

ATTEMPTS = 64
"""How many random openings are tried to find one that has not been played; half as many each time that none was found, for
a small game has only a few."""


class NoOpenings:
    """Every match begins at the start of its game."""

    def of(self, round: int, start: int) -> Opening:  # noqa: ARG002  as all openings are asked
        """No moves."""
        return ()


class RandomOpenings:
    """Openings of `plies` random moves; shorter where every move would end the game."""

    def __init__(self, games: Sequence[AnyGame], plies: int, seed: int) -> None:
        self._games = games
        self._plies = plies
        self._seed = seed
        self._drawn: list[list[Opening]] = [[] for _ in games]
        self._seen: list[set[str]] = [set() for _ in games]
        self._attempts = [ATTEMPTS for _ in games]

    def of(self, round: int, start: int) -> Opening:
        """The opening of a round (from 0) on a start: not one of an earlier round, as long as there are others."""
        drawn = self._drawn[start]
        while len(drawn) <= round:
            drawn.append(self._draw(len(drawn), start))
        return drawn[round]

    def _draw(self, round: int, start: int) -> Opening:
        opening: Opening = ()
        for attempt in range(self._attempts[start]):
            salt = f"{self._seed}/{round}/{start}/{attempt}"
            opening = random_opening(self._games[start], self._plies, salt)
            if repr(opening) not in self._seen[start]:
                break
        else:
            self._attempts[start] = max(1, self._attempts[start] // 2)
        self._seen[start].add(repr(opening))
        return opening


class ListedOpenings:
    """The openings of a list, one a round, over and over."""

    def __init__(self, listed: Sequence[Sequence[Opening]]) -> None:
        self.listed = listed
        """The openings of each start, in the order of the rounds."""

    def of(self, round: int, start: int) -> Opening:
        """The opening of a round (from 0) on a start."""
        listed = self.listed[start]
        return listed[round % len(listed)]


Openings = NoOpenings | RandomOpenings | ListedOpenings


def openings_of_maps(maps: Sequence[str], games: Sequence[AnyGame], seed: int) -> ListedOpenings:
    """The openings that the maps of these names bring with them, in an order by the seed; none where a map has none.

    Raises BadOpenings for a file that was made for another state of its map.
    """
    return ListedOpenings([_shipped(name, game, seed) for name, game in zip(maps, games, strict=True)])


def _shipped(name: str, game: AnyGame, seed: int) -> Sequence[Opening]:
    path = shipped_openings(name) if game.name == Riskless.name else None
    if path is None:
        return [()]
    # Short events with other seeds begin otherwise.
    [listed] = read(path, [game])
    order = [hashlib.sha256(f"{seed}/{place}".encode()).digest() for place in range(len(listed))]
    return [opening for _, opening in sorted(zip(order, listed, strict=True), key=lambda each: each[0])]


def read_openings(path: Path, games: Sequence[AnyGame]) -> ListedOpenings:
    """The openings of a file: a line each, its moves as `arena play` takes them, with commas between.

    Blank lines and what follows a # are skipped. A line `fingerprint: …` says for which map they were made.
    Raises BadOpenings.
    """
    return ListedOpenings(read(path, games))
