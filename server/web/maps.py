"""Answers to `GET /api/maps` and `GET /api/map/NAME`: the built-in maps, with measured results and solutions.

The measurements and solutions come from tables in `maps/README.md`.
"""

from __future__ import annotations

import gzip as compressor
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct

from arena import maps
from arena.maps.cells import shipped_cells, shipped_ferries
from arena.maps.loader import load_map_file, map_names
from arena.maps.setup import DEFAULT_MAP
from arena.server.edge import responses
from arena.server.edge.responses import Response

README = Path(maps.__file__).with_name("README.md")


class MapMeasurements(Struct, frozen=True):
    """Results of matches between equal engines that search `nodes` nodes per move, as texts of a table."""

    nodes: str
    drawn: str
    plies: str
    maxie: str
    """Maxie's share of the points, in percent."""


class MapSolution(Struct, frozen=True):
    """Solution of a map: results that hold with perfect play."""

    start: str
    """Value of the initial position, as in `Minnie wins in 16 plies`."""
    longest: str
    """Length of the longest win, in words."""
    fair: str
    """Text that says whether Minnie's extra army is fair."""


class MapInfo(Struct, frozen=True):
    """Built-in map, with its measurements and its solution."""

    name: str
    description: str
    territories: int
    roads: int
    continents: int
    territory_cap: int
    armies_to_win: int
    ply_limit: int
    measured: list[MapMeasurements]
    solved: MapSolution | None
    default: bool
    """True if this map is the default for matches."""


@cache
def answer_maps_request() -> Response:
    """Return an answer with all built-in maps."""
    return responses.json_response(list_built_in_maps())


def list_built_in_maps() -> list[MapInfo]:
    """Return all built-in maps, in the order of their names."""
    measured, solved = read_measurements(README), read_solutions(README)
    maps = []
    for name in map_names():
        file = load_map_file(name)
        riskless_map = file.map
        maps.append(
            MapInfo(
                name=name,
                description=file.description,
                territories=riskless_map.size,
                roads=sum(map(len, riskless_map.neighbours)) // 2,
                continents=len(file.continents),
                territory_cap=riskless_map.territory_cap,
                armies_to_win=riskless_map.armies_to_win,
                ply_limit=riskless_map.ply_limit,
                measured=measured.get(name, []),
                solved=solved.get(name),
                default=name == DEFAULT_MAP,
            )
        )
    return maps


def read_measurements(readme: Path) -> dict[str, list[MapMeasurements]]:
    """Read the measurements of each map from both tables in `readme`.

    A row without a map name continues the map above.
    """
    text = readme.read_text(encoding="utf-8")
    by_map: dict[str, list[MapMeasurements]] = {}
    name = ""
    for head, plies in (
        ("| map | nodes a move |", "plies, median"),
        ("| map | cap | goal | limit |", "plies"),
    ):
        for row in _read_table_rows(text, head):
            name = row["map"] or name
            measured = MapMeasurements(row["nodes a move"], row["drawn"], row[plies], row["Maxie's share"])
            by_map.setdefault(name, []).append(measured)
    return by_map


def read_solutions(readme: Path) -> dict[str, MapSolution]:
    """Read the solution of each solved map from the table."""
    return {
        row["map"]: MapSolution(row["from the start"], row["longest win"], row["is the extra army fair?"])
        for row in _read_table_rows(readme.read_text(encoding="utf-8"), "| map | boards in play |")
    }


def _read_table_rows(text: str, header: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the table whose first line begins with `header`, as dictionaries from column to cell."""
    lines = iter(text.splitlines())
    names = next((_split_row(line) for line in lines if line.startswith(header)), [])
    next(lines, "")
    for line in lines:
        if not line.startswith("|"):
            return
        yield dict(zip(names, _split_row(line), strict=True))


def _split_row(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


@lru_cache(maxsize=64)  # bounded, because clients may ask for any name
def answer_map_request(name: str, *, gzip: bool) -> Response:
    """Return an answer with the data for drawing a built-in map, such as its land, which the setup of a match lacks."""
    if name not in map_names():
        return responses.not_found(f"no built-in map is called {name!r:.80}")
    file = load_map_file(name)
    whole = {
        "map": name,
        "description": file.description,
        "continents": file.continents,
        "wraps": file.wraps,
        "cells": shipped_cells(name),
        "ferries": shipped_ferries(name),
        "setup": file.map.to_data(),
    }
    plain = responses.json_response(whole, {"Vary": "Accept-Encoding"})
    if not gzip:
        return plain
    headers = {**plain.headers, "Content-Encoding": "gzip"}
    return responses.raw_json_response(compressor.compress(plain.body, 9, mtime=0), headers)
