"""Files of openings: a line each, its moves as `arena play` takes them, with commas between; and those of the shipped maps.

Blank lines and what follows a # are skipped. A line `fingerprint: …` says for which map they were made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.games.board import RisklessMap
from arena.games.core import AnyGame, Game, GameError, IllegalMove
from arena.games.riskless import Riskless
from arena.maps.loader import SHIPPED, map_names
from arena.protocol.values import Data

FOLDER = SHIPPED / "openings"

KEY = "fingerprint:"
"""Begins the line of a file of openings that tells the map's fingerprint."""


Opening = tuple[Data, ...]
"""The moves of an opening, as in match.openings."""


def fingerprint(map: RisklessMap) -> str:
    """Sixteen hexadecimal digits that differ where maps are played differently: by roads, numbers or start.

    Names and places do not count: openings are written in numbers of territories.
    """
    played = [map.neighbours, map.territory_cap, map.armies_to_win, map.ply_limit, map.start]
    return hashlib.sha256(json.dumps(played).encode()).hexdigest()[:16]


def shipped_openings(name: str) -> Path | None:
    """The file of openings of a shipped map; None for other maps, and for one on which no opening is worth playing."""
    path = FOLDER / f"{name}.txt"
    return path if name in map_names() and path.is_file() else None


class BadOpenings(ValueError):
    """A list that cannot be used: says the file, the line and why."""


def read(path: Path, games: Sequence[AnyGame]) -> list[list[Opening]]:
    """The openings of a file, parsed for each game. Raises BadOpenings."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadOpenings(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadOpenings(f"{path}: not text in UTF-8: {error.reason}") from None
    told = [(number, line.partition("#")[0].strip()) for number, line in enumerate(lines, 1)]
    written = [(number, line) for number, line in told if line]
    if written and written[0][1].startswith(KEY):
        _check_fingerprint(path, written.pop(0)[1].removeprefix(KEY).strip(), games)
    if not written:
        raise BadOpenings(f"{path}: there is no opening in it: write a line of moves for each")
    return [[_parse(path, number, line, game) for number, line in written] for game in games]


def _check_fingerprint(path: Path, wanted: str, games: Sequence[Game[Any, Any]]) -> None:
    for game in games:
        if not isinstance(game, Riskless):
            raise BadOpenings(f"{path}: made for a map of riskless, and not for {game.name}")
        found = fingerprint(game.map)
        if found != wanted:
            raise BadOpenings(
                f"{path}: made for another map, or another state of it: its fingerprint is {wanted:.40}, that of "
                f"{game.map.name} is {found}; make openings for it with `arena openings make --map`"
            )


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
