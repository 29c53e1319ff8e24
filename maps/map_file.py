"""Reader of the TOML file of a map (maps/README.md shows the format), which checks every table and key.

`games.riskless_map.RisklessMap` checks the requirements of the rules of Riskless. This module replaces names by numbers,
and reports every error with the names and keys of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from arena.games.name_hints import format_similar_name_hint
from arena.games.riskless_map import MAX_COORDINATE, BadMap, RisklessMap
from arena.toml_file import BadTomlFile, KeyPath, NonBlankText, TomlFile, escape_unprintable

Coordinate = Annotated[float, Meta(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]
ArmyCount = Annotated[int, Meta(ge=1)]


class TerritoryTable(Struct, frozen=True, kw_only=True):
    """Keys of a [[territory]] table, which describes one territory in a map file."""

    name: NonBlankText
    short: NonBlankText | None = None
    place: tuple[Coordinate, Coordinate]
    roads: tuple[int | str, ...]
    continent: NonBlankText | None = None
    start: tuple[str, ArmyCount] | None = None


class MapTable(Struct, frozen=True, kw_only=True):
    """Keys of a map file (TOML)."""

    description: NonBlankText = ""
    territory_cap: int
    armies_to_win: int
    ply_limit: int
    wraps: bool = False
    territory: tuple[TerritoryTable, ...]


TERRITORY_KEY_BY_MAP_ATTRIBUTE = {"territories": "name", "neighbours": "roads", "start": "start"}
"""Key of a [[territory]] table from which an attribute of RisklessMap is read, by the attribute's name.

An error, BadMap, names the attribute (`BadMap.key`). The message for the user names the key of the file instead.
"""


class MapError(ValueError):
    """Raised for an unknown map or an invalid map file. The message is one line that names the map or the file."""

    def __init__(self, message: str) -> None:
        super().__init__(escape_unprintable(message))


class UnknownMap(MapError):
    """Raised when no map has the requested name.

    `reason` is the message without the advice to name a map file, for users who cannot name files on this machine.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} (or give the path of a .toml file)")
        self.reason = escape_unprintable(reason)


@dataclass(frozen=True)
class AnnotatedMap:
    """A map with additional data for people and pictures.

    continents   name of each continent, with the numbers of its territories; empty for a map without continents
    short_names  short form of each territory's name, empty where there is none; empty for a generated map
    wraps        True if the picture wraps around: a road longer than half the width of the picture leaves it on one side
                 and enters on the other
    """

    map: RisklessMap
    description: str = ""
    continents: tuple[tuple[str, tuple[int, ...]], ...] = ()
    short_names: tuple[str, ...] = ()
    wraps: bool = False


def read_map_file(path: Path) -> AnnotatedMap:
    """Return the map in a file. The map has the name of the file without `.toml`. Raises MapError for an invalid file."""
    try:
        file = TomlFile.read_file(path)
        return _make_map_from_table(file, file.convert_to_struct(MapTable))
    except BadTomlFile as error:
        raise MapError(str(error)) from None


def _make_map_from_table(file: TomlFile, table: MapTable) -> AnnotatedMap:
    """Return the map that `table`, the parsed content of `file`, describes. Raises BadTomlFile if the map is invalid."""
    territories = list(enumerate(table.territory))
    territory_numbers = {territory.name.casefold(): number for number, territory in territories}
    names = [territory.name for _, territory in territories]
    find_neighbours = partial(_find_neighbours, names, territory_numbers)
    try:
        map = RisklessMap(
            name=file.path.stem,
            territories=tuple(names),
            neighbours=tuple(
                file.parse_value_at(["territory", number, "roads"], find_neighbours, territory.roads)
                for number, territory in territories
            ),
            territory_cap=table.territory_cap,
            armies_to_win=table.armies_to_win,
            ply_limit=table.ply_limit,
            start=tuple(
                file.parse_value_at(["territory", number, "start"], _parse_start_armies, territory.start)
                for number, territory in territories
            ),
            places=tuple(territory.place for territory in table.territory),
        )
    except BadMap as error:
        if error.territory is not None:
            keys: KeyPath = ["territory", error.territory, TERRITORY_KEY_BY_MAP_ATTRIBUTE[error.key]]
        else:
            keys = ["territory" if error.key == "territories" else error.key]
        raise file.make_error_at(keys, error.reason) from None
    _check_distinct_places(file, map)
    continents: dict[str, list[int]] = {}
    for number, territory in territories:
        if territory.continent is not None:
            name = file.parse_value_at(
                ["territory", number, "continent"], _require_printable_line, territory.continent
            )
            continents.setdefault(name, []).append(number)
    return AnnotatedMap(
        map,
        file.parse_value_at(["description"], _require_printable_line, table.description),
        tuple((name, tuple(numbers)) for name, numbers in continents.items()),
        _read_short_names(file, table.territory),
        table.wraps,
    )


def _read_short_names(file: TomlFile, territories: Sequence[TerritoryTable]) -> tuple[str, ...]:
    """Return the short form of each territory's name, empty where the file gives none.

    Raises BadTomlFile for a short form that is not shorter than the name, or that another territory has.
    """
    names_by_short: dict[str, str] = {}

    def check_short_name(territory: TerritoryTable) -> str:
        short = _require_printable_line(territory.short or "")
        if len(short) >= len(territory.name):
            raise ValueError(f"must be shorter than the name {territory.name!r:.60}")
        if short and names_by_short.setdefault(short, territory.name) != territory.name:
            raise ValueError(
                f"{short!r:.40} is already the short form of {names_by_short[short]!r:.60}; choose another"
            )
        return short

    return tuple(
        file.parse_value_at(["territory", number, "short"], check_short_name, territory)
        for number, territory in enumerate(territories)
    )


def _find_neighbours(
    territory_names: Sequence[str], territory_number_by_name: Mapping[str, int], roads: Sequence[int | str]
) -> tuple[int, ...]:
    """Return the numbers of the territories to which `roads` lead. A road is given as a territory's number or name.

    territory_names           names of all territories
    territory_number_by_name  number of each territory, by its name in lower case (`casefold`)

    Raises ValueError for an unknown name.
    """
    for name in roads:
        if isinstance(name, str) and name.casefold() not in territory_number_by_name:
            raise ValueError(
                f"no territory is called {name!r:.60}{format_similar_name_hint(name, territory_names)}"
            )
    return tuple(
        territory_number_by_name[road.casefold()] if isinstance(road, str) else road for road in roads
    )


def _parse_start_armies(start_entry: tuple[str, int] | None) -> int:
    """Return the number of armies in `start_entry`, a player and a number; negative for Minnie, and 0 for None.

    Raises ValueError for an unknown player.
    """
    player, armies = start_entry or ("maxie", 0)
    if player not in ("maxie", "minnie"):
        raise ValueError(
            f'must be a player and armies, as in ["maxie", 2]; no player is called {player!r:.40}'
        )
    return armies if player == "maxie" else -armies


def _require_printable_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError(f"must be one line of printable characters, not {text!r:.40}")
    return text


def _check_distinct_places(file: TomlFile, map: RisklessMap) -> None:
    names_by_place: dict[tuple[float, float], str] = {}
    for number, (name, place) in enumerate(zip(map.territories, map.places, strict=True)):
        if place in names_by_place:
            why = f"{names_by_place[place]} and {name} are at the same place: move one of them"
            raise file.make_error_at(["territory", number, "place"], why)
        names_by_place[place] = name
