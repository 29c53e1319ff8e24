"""The openings of an event: how each pair's two matches begin, the same for both. Pure.

Bots that always answer alike would repeat one match for ever. So the first moves can be made for them:
random legal ones by the seed, another opening in each round, or those of a list. All pairs of a round
on one map begin alike, so that nobody gets easier openings than others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from games.core import AnyGame, GameError, IllegalMove
from protocol.messages import Data

Opening = tuple[Data, ...]
"""Moves from the start of a game, as plain data; none of them ends it."""

ATTEMPTS = 64
"""How many random openings are tried to find one that has not been played; a small game has only a few."""


class BadOpenings(ValueError):
    """A list that cannot be used: says the file, the line and why."""


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

    def of(self, round: int, start: int) -> Opening:
        """The opening of a round (from 0) on a start: not one of an earlier round, as long as there are others."""
        drawn = self._drawn[start]
        while len(drawn) <= round:
            drawn.append(self._draw(len(drawn), start))
        return drawn[round]

    def _draw(self, round: int, start: int) -> Opening:
        opening: Opening = ()
        for attempt in range(ATTEMPTS):
            salt = f"{self._seed}/{round}/{start}/{attempt}"
            opening = random_opening(self._games[start], self._plies, salt)
            if repr(opening) not in self._seen[start]:
                break
        self._seen[start].add(repr(opening))
        return opening


class ListedOpenings:
    """The openings of a list, one a round, over and over."""

    def __init__(self, openings: Sequence[Sequence[Opening]]) -> None:
        self._openings = openings

    def of(self, round: int, start: int) -> Opening:
        """The opening of a round (from 0) on a start."""
        listed = self._openings[start]
        return listed[round % len(listed)]


Openings = NoOpenings | RandomOpenings | ListedOpenings


def random_opening(game: AnyGame, plies: int, salt: str) -> Opening:
    """At most `plies` moves, none of which ends the game, that follow from the salt on every machine."""
    position = game.start()
    moves: list[Data] = []
    for ply in range(plies):
        going_on = [
            (move, after)
            for move in game.moves(position)
            if game.outcome(after := game.successor(position, move)) is None
        ]
        if not going_on:
            break
        # A digest and not `random`: the same in every version of Python, so that an event can be resumed.
        drawn = int.from_bytes(hashlib.sha256(f"{salt}/{ply}".encode()).digest()[:8])
        move, position = going_on[drawn % len(going_on)]
        moves.append(game.move_to_data(move))
    return tuple(moves)


def read_openings(path: Path, games: Sequence[AnyGame]) -> ListedOpenings:
    """The openings of a file: a line each, its moves as `arena play` takes them, with commas between.

    Blank lines and what follows a # are skipped. Raises BadOpenings.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadOpenings(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadOpenings(f"{path}: not text in UTF-8: {error.reason}") from None
    told = [(number, line.partition("#")[0].strip()) for number, line in enumerate(lines, 1)]
    written = [(number, line) for number, line in told if line]
    if not written:
        raise BadOpenings(f"{path}: there is no opening in it: write a line of moves for each")
    return ListedOpenings([[_parse(path, number, line, game) for number, line in written] for game in games])


def _parse(path: Path, number: int, line: str, game: AnyGame) -> Opening:
    position = game.start()
    moves: list[Data] = []
    for text in line.split(","):
        try:
            move = game.move_from_text(text.strip())
            position = game.play(position, move)
        except (GameError, IllegalMove) as error:
            raise BadOpenings(f"{path}, line {number}: {error}") from None
        moves.append(game.move_to_data(move))
    outcome = game.outcome(position)
    if outcome is not None:
        raise BadOpenings(f"{path}, line {number}: the game is over after these moves: {outcome}")
    return tuple(moves)
