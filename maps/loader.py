"""Loader of Riskless maps by name: built-in maps, maps in files, and generated maps."""

from __future__ import annotations

from functools import cache, lru_cache
from math import prod
from pathlib import Path

from arena.games.name_hints import format_name_suggestion
from arena.games.riskless_map import RisklessMap
from arena.maps.generators import generate_map, parse_generated_map_name
from arena.maps.map_file import AnnotatedMap, MapError, UnknownMap, read_map_file

MAPS_FOLDER = Path(__file__).parent
MAX_CACHED_MAPS = 64
"""Maximum number of recently used maps kept in memory, because loading a map takes up to 10 ms."""

__all__ = [
    "AnnotatedMap",
    "MapError",
    "UnknownMap",
    "count_generated_territories",
    "list_built_in_map_names",
    "load_annotated_map",
    "load_map",
    "read_map_file",
]


def list_built_in_map_names() -> list[str]:
    """Return the names of the built-in maps in alphabetical order."""
    return list(_list_cached_built_in_names())


@cache
def _list_cached_built_in_names() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in MAPS_FOLDER.glob("*.toml")))


def count_generated_territories(map_name: str) -> int | None:
    """Return the number of territories of a generated map, from its name alone; None for a name of another map.

    Raises MapError if the name is malformed.
    """
    return (
        prod(_parse_generated_map_name(map_name)[1])
        if ":" in map_name and not map_name.endswith(".toml")
        else None
    )


def _parse_generated_map_name(map_name: str) -> tuple[str, tuple[int, ...]]:
    try:
        return parse_generated_map_name(map_name)
    except ValueError as error:
        raise MapError(f"{map_name:.60}: no such map: {error}") from None


def load_map(name: str) -> RisklessMap:
    """Return the map called `name`: a built-in map, the path of a .toml file, `ring:N` or `grid:WxH`.

    Raises MapError if there is no such map or its file is invalid.
    """
    return load_annotated_map(name).map


def load_annotated_map(map_name: str) -> AnnotatedMap:
    """Return the map called `map_name` as `load_map` does, with its description, continents and other data for pictures.

    Raises MapError if there is no such map or its file is invalid.
    """
    if map_name.endswith(".toml"):
        return read_map_file(Path(map_name))
    if map_name in _list_cached_built_in_names():
        return _load_cached_map(map_name)
    if ":" in map_name:
        kind, numbers = _parse_generated_map_name(map_name)
        # Normalise the name, so that a map has one name however its numbers are written.
        return _load_cached_map(f"{kind}:{'x'.join(map(str, numbers))}")
    suggestion = format_name_suggestion(map_name, [*list_built_in_map_names(), "ring:N", "grid:WxH"])
    raise UnknownMap(f"{map_name:.60}: no such map: {suggestion}")


@lru_cache(maxsize=MAX_CACHED_MAPS)
def _load_cached_map(map_name: str) -> AnnotatedMap:
    if ":" not in map_name:
        return read_map_file(MAPS_FOLDER / f"{map_name}.toml")
    kind, _, size = map_name.partition(":")
    return AnnotatedMap(generate_map(map_name), f"A {kind} of {size} territories, generated")
