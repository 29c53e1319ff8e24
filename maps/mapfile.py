"""A map as its TOML file says it (README.md shows the form): every table and key is checked here.

What the rules of Riskless ask of a map is checked by `games.board.RisklessMap`; this module knows the
file's own keys, puts names for numbers, and tells every fault in the file's words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from arena.games.board import BadMap, RisklessMap

NUMBERS = ("territory_cap", "armies_to_win", "ply_limit")
KEYS = ("description", *NUMBERS, "territory", "wraps")
TERRITORY_KEYS = ("name", "place", "roads", "continent", "start")
FILE_WORDS = {"territories": "territory", "neighbours": "roads", "places": "place"}
"""What the keys of a setup are called in a file."""
FAR = 1e6
"""The largest coordinate, as in a setup."""


class MapError(ValueError):
    """No such map, or a map file that is wrong: the file (or the name asked for), the key, and why."""

    def __init__(self, file: str, key: str, why: str) -> None:
        told = ": ".join(part for part in (file, key, why) if part)
        # a key or a file's name may hold a line's end; an error is one line
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in told))
        self.file = file
        self.key = key
        self.why = why


@dataclass(frozen=True)
class MapFile:
    """A map with what only people and pictures need.

    continents  their names with their territories' numbers; may be empty, each territory in one at most
    wraps       True when the picture goes round: a road longer than half its width leaves it on one side
                and enters on the other
    """

    map: RisklessMap
    description: str = ""
    continents: tuple[tuple[str, tuple[int, ...]], ...] = ()
    wraps: bool = False


class _Fault(Exception):
    """A wrong key, before the file is known."""

    def __init__(self, key: str, why: str) -> None:
        self.key = key
        self.why = why


def parse(text: str, name: str, file: str) -> MapFile:
    """The map `name` in the text of `file`. Raises MapError."""
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise MapError(file, "", "not TOML that can be read: nested too deeply") from None
    except ValueError as error:
        # besides its own error tomllib lets one through that int() raises for a number of 5,000 digits
        raise MapError(file, "", f"not TOML: {_lower(str(error))}") from None
    try:
        return _map_file(data, name)
    except _Fault as fault:
        raise MapError(file, fault.key, fault.why) from None
    except BadMap as bad:
        raise MapError(file, FILE_WORDS.get(bad.key, bad.key), bad.why) from None


def _map_file(data: Mapping[str, object], name: str) -> MapFile:
    _known(data, KEYS, "")
    for key in (*NUMBERS, "territory"):
        _there(data, key, "")
    entries = data["territory"]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _Fault("territory", "the territories are tables, each under a line [[territory]]")
    numbers: dict[str, int] = {}
    for v, entry in enumerate(entries):
        where = _where(v, entry)
        _known(entry, TERRITORY_KEYS, where)
        for key in ("name", "place", "roads"):
            _there(entry, key, where)
        numbers[_text(entry["name"], f"{where}name").casefold()] = v
    names = tuple(str(entry["name"]) for entry in entries)
    continents: dict[str, list[int]] = {}
    for v, entry in enumerate(entries):
        if "continent" in entry:
            continents.setdefault(_text(entry["continent"], f"{_where(v, entry)}continent"), []).append(v)
    map = RisklessMap(
        name=name,
        territories=names,
        neighbours=tuple(_roads(v, entry, names, numbers) for v, entry in enumerate(entries)),
        territory_cap=_number(data["territory_cap"], "territory_cap"),
        armies_to_win=_number(data["armies_to_win"], "armies_to_win"),
        ply_limit=_number(data["ply_limit"], "ply_limit"),
        start=tuple(_start(v, entry) for v, entry in enumerate(entries)),
        places=tuple(_place(v, entry) for v, entry in enumerate(entries)),
    )
    _apart(map)
    wraps = data.get("wraps", False)
    if not isinstance(wraps, bool):
        raise _Fault("wraps", f"must be true or false, not {wraps!r:.40}")
    description = _text(data["description"], "description") if "description" in data else ""
    return MapFile(map, description, tuple((c, tuple(vs)) for c, vs in continents.items()), wraps)


def _where(number: int, entry: Mapping[str, object]) -> str:
    """How a fault names a territory: `territory 3 (Alaska), `; the first is 0, as in moves."""
    name = entry.get("name")
    return f"territory {number} ({name:.40}), " if isinstance(name, str) and name else f"territory {number}, "


def _known(table: Mapping[str, object], keys: Collection[str], where: str) -> None:
    for key in table:
        if key not in keys:
            near = get_close_matches(key, keys, 1)
            hint = f"did you mean {near[0]}?" if near else f"the keys here are {', '.join(keys)}"
            raise _Fault(f"{where}{key:.40}", f"no such key; {hint}")


def _there(table: Mapping[str, object], key: str, where: str) -> None:
    if key not in table:
        what = "the territories, each under a line [[territory]]," if key == "territory" else "this key"
        raise _Fault(f"{where}{key}", f"{what} must be there")


def _text(value: object, key: str) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise _Fault(key, f'must be one line of text in quotes, as in "Alaska", not {value!r:.40}')
    return value


def _number(value: object, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Fault(key, f"must be a whole number, not {value!r:.40}")
    return value


def _roads(
    v: int, entry: Mapping[str, object], names: tuple[str, ...], numbers: Mapping[str, int]
) -> tuple[int, ...]:
    key = f"{_where(v, entry)}roads"
    listed = entry["roads"]
    if not isinstance(listed, list):
        raise _Fault(key, f"must be a list of territories, by name or number, not {listed!r:.40}")
    roads = []
    for end in listed:
        if isinstance(end, int) and not isinstance(end, bool):
            if not 0 <= end < len(names):
                raise _Fault(key, f"there is no territory {end}: they are 0 to {len(names) - 1}")
            roads.append(end)
        elif isinstance(end, str) and end.casefold() in numbers:
            roads.append(numbers[end.casefold()])
        elif isinstance(end, str):
            near = get_close_matches(end, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise _Fault(key, f"no territory is called {end!r:.60}{hint}")
        else:
            raise _Fault(key, f"must name territories by name or number, not {end!r:.40}")
    return tuple(roads)


def _start(v: int, entry: Mapping[str, object]) -> int:
    if "start" not in entry:
        return 0
    key = f"{_where(v, entry)}start"
    start = entry["start"]
    if not isinstance(start, list) or len(start) != 2 or start[0] not in ("maxie", "minnie"):
        raise _Fault(key, f'must be a player and armies, as in ["maxie", 2], not {start!r:.40}')
    armies = _number(start[1], key)
    if armies < 1:
        raise _Fault(key, f"must give at least 1 army (leave the key out for none), not {armies}")
    return armies if start[0] == "maxie" else -armies


def _place(v: int, entry: Mapping[str, object]) -> tuple[float, float]:
    place = entry["place"]
    if isinstance(place, list) and len(place) == 2 and all(map(_coordinate, place)):
        return (float(place[0]), float(place[1]))
    key = f"{_where(v, entry)}place"
    raise _Fault(key, f"must be [x, y], two numbers up to a million, y downward, not {place!r:.40}")


def _coordinate(value: object) -> bool:
    # NaN compares as false, so it is refused as the infinities are
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= FAR


def _apart(map: RisklessMap) -> None:
    seen: dict[tuple[float, float], str] = {}
    for name, place in zip(map.territories, map.places, strict=True):
        if place in seen:
            raise _Fault("place", f"{seen[place]} and {name} stand on the same point of the picture")
        seen[place] = name


def _lower(text: str) -> str:
    return re.sub(r"^[A-Z]", lambda first: first[0].lower(), text)
