"""Files of openings: one opening per line, with its moves in the notation of `arena play`, separated by commas.

The built-in maps have such files. Blank lines and comments after # are skipped. A line `fingerprint: …` identifies
the map for which the openings were made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.games.core import AnyGame, Game, GameError
from arena.games.riskless import Riskless
from arena.games.riskless_map import RisklessMap
from arena.maps.loader import MAPS_FOLDER, list_built_in_map_names
from arena.protocol.values import Opening, PlainData

OPENINGS_FOLDER = MAPS_FOLDER / "openings"

FINGERPRINT_LINE_PREFIX = "fingerprint:"
"""First word of the line with the map's fingerprint, by which a map that has changed is noticed."""


def compute_map_fingerprint(map: RisklessMap) -> str:
    """Return 16 hexadecimal digits that identify the roads, army limits, ply limit and start position of a map.

    Names and places do not change the digits, because openings are written in numbers of territories.
    """
    rule_values = [map.neighbours, map.territory_cap, map.armies_to_win, map.ply_limit, map.start]
    return hashlib.sha256(json.dumps(rule_values).encode()).hexdigest()[:16]


def find_shipped_openings_file(map_name: str, game_name: str = Riskless.name) -> Path | None:
    """Return the openings file of a built-in map; None for other maps, and for a built-in map without such a file.

    game_name  name of the game to play. If the game is not Riskless, return None, even for a variant of Riskless, in which
               the moves
               of these openings may be illegal
    """
    path = OPENINGS_FOLDER / f"{map_name}.txt"
    return (
        path
        if game_name == Riskless.name and map_name in list_built_in_map_names() and path.is_file()
        else None
    )


class BadOpenings(ValueError):
    """Raised when a file of openings cannot be used. The message names the file, the line and the reason."""


def read_openings(openings_file: Path, games: Sequence[AnyGame]) -> list[list[Opening]]:
    """Return a list of all openings in a file for each of `games`, with each move as plain data (`Game.move_to_data`).

    All lists contain the same openings, but the plain data of a move depends on the game.

    Raises BadOpenings if the file has no opening, or an opening that cannot be played in one of the games.
    """
    try:
        lines = openings_file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadOpenings(f"cannot read the openings {openings_file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadOpenings(f"{openings_file}: not UTF-8 text: {error.reason}") from None
    numbered_lines = [(number, line.partition("#")[0].strip()) for number, line in enumerate(lines, 1)]
    opening_lines = [(number, line) for number, line in numbered_lines if line]
    if opening_lines and opening_lines[0][1].startswith(FINGERPRINT_LINE_PREFIX):
        _check_fingerprint(
            openings_file, opening_lines.pop(0)[1].removeprefix(FINGERPRINT_LINE_PREFIX).strip(), games
        )
    if not opening_lines:
        raise BadOpenings(
            f"{openings_file}: must contain at least one opening: write one line of moves for each"
        )
    return [
        [_parse_opening(openings_file, number, line, game) for number, line in opening_lines]
        for game in games
    ]


def _check_fingerprint(path: Path, fingerprint: str, games: Sequence[Game[Any, Any]]) -> None:
    for game in games:
        if not isinstance(game, Riskless):
            raise BadOpenings(f"{path}: these openings are for riskless, not for {game.name}")
        map_fingerprint = compute_map_fingerprint(game.map)
        if map_fingerprint != fingerprint:
            raise BadOpenings(
                f"{path}: made for another map than {game.map.name}, or for another version of it (fingerprint {fingerprint:.40}, "
                f"but the map has {map_fingerprint}): make new openings with `arena openings make --map MAP`"
            )


def _parse_opening(path: Path, line_number: int, line: str, game: AnyGame) -> Opening:
    position = game.start()
    moves: list[PlainData] = []
    for text in line.split(","):
        try:
            move = game.move_from_text(text.strip())
            position = game.play(position, move)
        except GameError as error:
            raise BadOpenings(f"{path}, line {line_number}: {error}") from None
        moves.append(game.move_to_data(move))
    outcome = game.outcome(position)
    if outcome is not None:
        raise BadOpenings(f"{path}, line {line_number}: the moves end the game ({outcome}): give fewer")
    return tuple(moves)
