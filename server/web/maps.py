"""Answers `GET /api/maps` and `GET /api/map/NAME`: the shipped maps, what was measured, and what is known of those that are solved.

What was measured is in the table of `maps/README.md`, which `arena maps measure --markdown` writes, and so is what is solved.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct

from arena import maps
from arena.maps.cells import shipped_cells
from arena.maps.loader import load_file, map_names
from arena.maps.setup import DEFAULT_MAP
from arena.server.net import answers
from arena.server.net.answers import Answer

README = Path(maps.__file__).with_name("README.md")


class Measured(Struct, frozen=True):
    """How the matches of equal engines went that thought so many nodes a move, in the words of the table."""

    nodes: str
    drawn: str
    plies: str
    maxie: str
    """Maxie's share of the points."""


class Solved(Struct, frozen=True):
    """What is known of a map for certain."""

    start: str
    """What the start is worth, as in `Minnie wins in 16 plies`."""
    longest: str
    """The longest win."""
    fair: str
    """Whether the extra army of Minnie is fair."""


class MapKnown(Struct, frozen=True):
    """A shipped map."""

    name: str
    description: str
    territories: int
    roads: int
    continents: int
    territory_cap: int
    armies_to_win: int
    ply_limit: int
    measured: list[Measured]
    solved: Solved | None
    default: bool
    """Whether matches are played on it where no map is named."""


@cache
def maps_known() -> Answer:
    """The answer, which is made once."""
    return answers.json(known())


def known() -> list[MapKnown]:
    """All shipped maps, by name."""
    measured, solved = measurements(README), solutions(README)
    found = []
    for name in map_names():
        file = load_file(name)
        shown = file.map
        found.append(
            MapKnown(
                name=name,
                description=file.description,
                territories=shown.size,
                roads=sum(map(len, shown.neighbours)) // 2,
                continents=len(file.continents),
                territory_cap=shown.territory_cap,
                armies_to_win=shown.armies_to_win,
                ply_limit=shown.ply_limit,
                # What was measured with another cap or another goal says nothing of the map as it is.
                measured=measured.get((name, str(shown.territory_cap), str(shown.armies_to_win)), []),
                solved=solved.get(name),
                default=name == DEFAULT_MAP,
            )
        )
    return found


def measurements(readme: Path) -> dict[tuple[str, str, str], list[Measured]]:
    """The table of measurements, by map, cap and goal: a line that names none goes on with the one before it."""
    found: dict[tuple[str, str, str], list[Measured]] = {}
    key = ("", "", "")
    for row in _rows(readme.read_text(encoding="utf-8"), "| map | cap | goal | limit |"):
        key = (row["map"], row["cap"], row["goal"]) if row["map"] else key
        told = Measured(row["nodes a move"], row["drawn"], row["plies"], row["Maxie's share"])
        found.setdefault(key, []).append(told)
    return found


def solutions(readme: Path) -> dict[str, Solved]:
    """The table of solved maps, by map."""
    return {
        row["map"]: Solved(row["from the start"], row["longest win"], row["is the extra army fair?"])
        for row in _rows(readme.read_text(encoding="utf-8"), "| map | boards in play |")
    }


def _rows(text: str, head: str) -> Iterator[dict[str, str]]:
    """The rows of the table whose first line begins so, each by the names of its columns."""
    lines = iter(text.splitlines())
    names = next((_cells(line) for line in lines if line.startswith(head)), [])
    next(lines, "")
    for line in lines:
        if not line.startswith("|"):
            return
        yield dict(zip(names, _cells(line), strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def map_shown(name: str, packs: bool) -> Answer:  # noqa: FBT001  what the asker takes
    """What a picture of a shipped map needs beside the setup, for `GET /api/map/NAME`."""
    if name not in map_names():
        return answers.not_found(f"no shipped map is called {name!r:.80}")
    return _kept_map(name, packs)


@cache
def _kept_map(name: str, packs: bool) -> Answer:  # noqa: FBT001
    file = load_file(name)
    whole = {
        "map": name,
        "description": file.description,
        "continents": file.continents,
        "wraps": file.wraps,
        "cells": shipped_cells(name),
        "setup": file.map.to_data(),
    }
    plain = answers.json(whole, {"Vary": "Accept-Encoding"})
    if not packs:
        return plain
    headers = {**plain.headers, "Content-Encoding": "gzip"}
    return answers.raw_json(gzip.compress(plain.body, 9, mtime=0), headers)
