"""Parsing of a map's TOML file (maps/README.md shows the form), with a check of every table and key.

`games.riskless_map.RisklessMap` checks the requirements of the rules of Riskless. This module checks the file's own
keys, replaces names by numbers, and reports every error in the terms of the file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from arena.games.name_hints import find_most_similar
from arena.games.riskless_map import BadMap, RisklessMap

NUMBER_KEYS = ("territory_cap", "armies_to_win", "ply_limit")
"""Keys of a map file whose values are whole numbers."""
MAP_KEYS = ("description", *NUMBER_KEYS, "territory", "wraps")
"""Keys at the top of a map file."""
TERRITORY_KEYS = ("name", "place", "roads", "continent", "start")
"""Keys of each `[[territory]]` in a map file."""
FILE_KEYS = {"territories": "territory", "neighbours": "roads", "places": "place"}
"""Name in a map file of each setup key that has another name there."""
MAX_COORDINATE = 1e6
"""Maximum absolute value of a coordinate, as in a setup."""


class MapError(ValueError):
    """Raised for an unknown map or an invalid map file.

    The message names the file (or the requested name), the key, and the reason.
    """

    def __init__(self, file: str, key: str, why: str) -> None:
        message = ": ".join(part for part in (file, key, why) if part)
        # a key or a file's name may contain a line break, but an error is one line
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in message))
        self.file = file
        self.key = key
        self.why = why


class UnknownMap(MapError):
    """Raised when no map has the requested name.

    `reason` is the message without the hint at map files, for users who cannot name files on this machine.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name, "", f"{why} (or the path of a .toml file)")
        self.reason = str(MapError(name, "", why))


@dataclass(frozen=True)
class MapFile:
    """A map with additional data for people and pictures.

    continents  names with the numbers of their territories; may be empty, and a territory is in at most one
    wraps       True if the picture wraps around: a road longer than half the width of the picture leaves it on one side
                and enters on the other
    """

    map: RisklessMap
    description: str = ""
    continents: tuple[tuple[str, tuple[int, ...]], ...] = ()
    wraps: bool = False


class _InvalidKey(Exception):
    """Raised for an invalid key. The caller adds the name of the file."""

    def __init__(self, key: str, why: str) -> None:
        self.key = key
        self.why = why


def parse_map_file(text: str, name: str, file: str) -> MapFile:
    """Return the map in the `text` of a map file.

    name  name of the map
    file  name of the file in error messages

    Raises MapError if the text is not a valid map.
    """
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise MapError(file, "", "cannot be parsed as TOML: nested too deeply") from None
    except ValueError as error:
        # tomllib also passes on the error of int() for a number of 5,000 digits
        raise MapError(file, "", f"not valid TOML: {_lower_first(str(error))}") from None
    try:
        return _parse_map(data, name)
    except _InvalidKey as fault:
        raise MapError(file, fault.key, fault.why) from None
    except BadMap as bad:
        raise MapError(file, FILE_KEYS.get(bad.key, bad.key), bad.why) from None


def _parse_map(data: Mapping[str, object], name: str) -> MapFile:
    _check_keys(data, MAP_KEYS, "")
    for key in (*NUMBER_KEYS, "territory"):
        _require_key(data, key, "")
    entries = data["territory"]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _InvalidKey("territory", "write each territory as a table, under a line [[territory]]")
    territory_numbers: dict[str, int] = {}
    for territory, entry in enumerate(entries):
        location = _format_territory_label(territory, entry)
        _check_keys(entry, TERRITORY_KEYS, location)
        for key in ("name", "place", "roads"):
            _require_key(entry, key, location)
        territory_numbers[_require_text(entry["name"], f"{location}name").casefold()] = territory
    names = tuple(str(entry["name"]) for entry in entries)
    continents: dict[str, list[int]] = {}
    for territory, entry in enumerate(entries):
        if "continent" in entry:
            continents.setdefault(
                _require_text(entry["continent"], f"{_format_territory_label(territory, entry)}continent"), []
            ).append(territory)
    map = RisklessMap(
        name=name,
        territories=names,
        neighbours=tuple(
            _parse_roads(territory, entry, names, territory_numbers)
            for territory, entry in enumerate(entries)
        ),
        territory_cap=_require_number(data["territory_cap"], "territory_cap"),
        armies_to_win=_require_number(data["armies_to_win"], "armies_to_win"),
        ply_limit=_require_number(data["ply_limit"], "ply_limit"),
        start=tuple(_parse_start(territory, entry) for territory, entry in enumerate(entries)),
        places=tuple(_parse_place(territory, entry) for territory, entry in enumerate(entries)),
    )
    _check_distances(map)
    wraps = data.get("wraps", False)
    if not isinstance(wraps, bool):
        raise _InvalidKey("wraps", f"must be true or false, not {wraps!r:.40}")
    description = _require_text(data["description"], "description") if "description" in data else ""
    return MapFile(map, description, tuple((c, tuple(vs)) for c, vs in continents.items()), wraps)


def _format_territory_label(number: int, entry: Mapping[str, object]) -> str:
    """Return the beginning of an error about a territory, such as `territory 3 (Alaska), `.

    Territories count from 0, as in moves.
    """
    name = entry.get("name")
    return f"territory {number} ({name:.40}), " if isinstance(name, str) and name else f"territory {number}, "


def _check_keys(table: Mapping[str, object], keys: Collection[str], location: str) -> None:
    for key in table:
        if key not in keys:
            similar_key = find_most_similar(key, keys)
            hint = f"did you mean {similar_key}?" if similar_key else f"the keys here are {', '.join(keys)}"
            raise _InvalidKey(f"{location}{key:.40}", f"no such key; {hint}")


def _require_key(table: Mapping[str, object], key: str, location: str) -> None:
    if key not in table:
        why = (
            "add territories, each under a line [[territory]]"
            if key == "territory"
            else "this key is missing"
        )
        raise _InvalidKey(f"{location}{key}", why)


def _require_text(value: object, key: str) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise _InvalidKey(key, f'must be one line of text in quotes, as in "Alaska", not {value!r:.40}')
    return value


def _require_number(value: object, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _InvalidKey(key, f"must be a whole number, not {value!r:.40}")
    return value


def _parse_roads(
    territory: int, entry: Mapping[str, object], names: tuple[str, ...], territory_numbers: Mapping[str, int]
) -> tuple[int, ...]:
    key = f"{_format_territory_label(territory, entry)}roads"
    neighbour_names = entry["roads"]
    if not isinstance(neighbour_names, list):
        raise _InvalidKey(
            key, f"must be a list of territories, by name or number, not {neighbour_names!r:.40}"
        )
    roads = []
    for neighbour_name in neighbour_names:
        if isinstance(neighbour_name, int) and not isinstance(neighbour_name, bool):
            if not 0 <= neighbour_name < len(names):
                raise _InvalidKey(
                    key, f"there is no territory {neighbour_name}: they are 0 to {len(names) - 1}"
                )
            roads.append(neighbour_name)
        elif isinstance(neighbour_name, str) and neighbour_name.casefold() in territory_numbers:
            roads.append(territory_numbers[neighbour_name.casefold()])
        elif isinstance(neighbour_name, str):
            similar_name = find_most_similar(neighbour_name, names)
            hint = f"; did you mean {similar_name!r}?" if similar_name else ""
            raise _InvalidKey(key, f"no territory is called {neighbour_name!r:.60}{hint}")
        else:
            raise _InvalidKey(key, f"must name territories by name or number, not {neighbour_name!r:.40}")
    return tuple(roads)


def _parse_start(territory: int, entry: Mapping[str, object]) -> int:
    if "start" not in entry:
        return 0
    key = f"{_format_territory_label(territory, entry)}start"
    start = entry["start"]
    if not isinstance(start, list) or len(start) != 2 or start[0] not in ("maxie", "minnie"):
        raise _InvalidKey(key, f'must be a player and armies, as in ["maxie", 2], not {start!r:.40}')
    armies = _require_number(start[1], key)
    if armies < 1:
        raise _InvalidKey(key, f"must give at least 1 army (leave the key out for none), not {armies}")
    return armies if start[0] == "maxie" else -armies


def _parse_place(territory: int, entry: Mapping[str, object]) -> tuple[float, float]:
    place = entry["place"]
    if isinstance(place, list) and len(place) == 2 and all(map(_is_coordinate, place)):
        return (float(place[0]), float(place[1]))
    key = f"{_format_territory_label(territory, entry)}place"
    raise _InvalidKey(key, f"must be [x, y], two numbers up to a million, y downward, not {place!r:.40}")


def _is_coordinate(value: object) -> bool:
    # NaN compares as false, so it is rejected like the infinities
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAX_COORDINATE


def _check_distances(map: RisklessMap) -> None:
    names_by_place: dict[tuple[float, float], str] = {}
    for name, place in zip(map.territories, map.places, strict=True):
        if place in names_by_place:
            raise _InvalidKey(
                "place", f"{names_by_place[place]} and {name} are at the same place: move one of them"
            )
        names_by_place[place] = name


def _lower_first(text: str) -> str:
    return re.sub(r"^[A-Z]", lambda first: first[0].lower(), text)
