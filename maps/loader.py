"""Maps by name: shipped files, files of one's own, and generated ones."""

from __future__ import annotations

from functools import cache, lru_cache
from math import prod
from pathlib import Path

from arena.games.board import RisklessMap
from arena.maps.generators import made, parsed
from arena.maps.mapfile import MapError, MapFile, parse

SHIPPED = Path(__file__).parent
MAX_BYTES = 1_000_000
"""The largest file that is read: a map of 1,000 territories takes a tenth of it."""

KEPT = 64
"""Maps that are kept once they were read or generated, those asked for last: making one costs up to 10 ms."""

__all__ = ["MapError", "MapFile", "load_file", "load_map", "map_names", "read_file", "size_of"]


def map_names() -> list[str]:
    """The names of the shipped maps, in order of the alphabet."""
    return list(_shipped())


@cache
def _shipped() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in SHIPPED.glob("*.toml")))


def size_of(name: str) -> int | None:
    """How many territories a generated map has, from its name alone; None for a name of another form. Raises MapError."""
    return prod(_parsed(name)[1]) if ":" in name and not name.endswith(".toml") else None


def _parsed(name: str) -> tuple[str, tuple[int, ...]]:
    try:
        return parsed(name)
    except ValueError as error:
        raise MapError(f"{name:.60}", "", f"no such map: {error}") from None


def load_map(name: str) -> RisklessMap:
    """The map of that name: shipped, the path of a .toml file, `ring:N` or `grid:WxH`. Raises MapError."""
    return load_file(name).map


def load_file(name: str) -> MapFile:
    """The map of that name as `load_map` finds it, with the description, the continents and what else only a picture needs."""
    if name.endswith(".toml"):
        return read_file(Path(name))
    if name in _shipped():
        return _kept(name)
    if ":" in name:
        kind, numbers = _parsed(name)
        # One map has one name here, however its numbers are written.
        return _kept(f"{kind}:{'x'.join(map(str, numbers))}")
    known = ", ".join([*map_names(), "ring:N", "grid:WxH"])
    raise MapError(f"{name:.60}", "", f"no such map: there are {known}, or give the path of a .toml file")


@lru_cache(maxsize=KEPT)
def _kept(name: str) -> MapFile:
    if ":" not in name:
        return read_file(SHIPPED / f"{name}.toml")
    kind, _, size = name.partition(":")
    return MapFile(made(name), f"A {kind} of {size} territories, generated")


def read_file(path: Path) -> MapFile:
    """The map in a file; its name is the file's, without `.toml`. Raises MapError."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        # a ValueError is a path that no system can have: one with a null in it
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise MapError(str(path), "", f"cannot be read: {why}") from None
    if len(content) > MAX_BYTES:
        raise MapError(str(path), "", f"too large for a map: more than {MAX_BYTES:,} bytes")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise MapError(str(path), "", f"not TOML: it must be UTF-8, and line {line} is not") from None
    return parse(text, path.stem, str(path))
