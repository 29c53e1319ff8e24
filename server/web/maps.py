"""Responses to `GET /api/maps` (all built-in maps, with statistics) and `GET /api/map/NAME` (data for drawing one map).

The statistics come from tables in `maps/README.md`: results of matches between engines, and the result of perfect play on
maps that are solved.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct, field

from arena import maps
from arena.maps.game_on_map import DEFAULT_MAP
from arena.maps.land import load_built_in_land
from arena.maps.loader import list_built_in_map_names, load_annotated_map
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.web.routes import NotFound

MAPS_README_FILE = Path(maps.__file__).with_name("README.md")
"""File with the tables of statistics and solutions of the built-in maps."""


class MapStatistics(Struct, frozen=True):
    """Results of matches between equal engines on a map. Each field is a text to show, such as `48 ± 5 %`."""

    nodes_per_move: str = field(name="nodes")
    """Number of nodes that the engines search per move."""
    drawn_share: str = field(name="drawn")
    """Share of drawn matches, in percent."""
    match_length_plies: str = field(name="plies")
    """Length of a match, in plies: the mean for m1, m2 and path4, the median for other maps."""
    maxie_points_share: str = field(name="maxie")
    """Maxie's share of the points (1 for a win, 1/2 for a draw), in percent. Maxie is the player who moves first."""


class MapSolution(Struct, frozen=True):
    """Solution of a map: results of perfect play. Each field is a text to show."""

    start_value: str = field(name="start")
    """Value of the initial position, as in `Minnie wins in 16 plies`."""
    longest_win: str = field(name="longest")
    """Length of the longest forced win among all positions of the map, as in `17 plies`."""
    fairness: str = field(name="fair")
    """Verdict, with a reason, whether Minnie's extra army at the start makes up for the disadvantage of moving second."""


class MapListEntry(Struct, frozen=True):
    """Built-in map, with its statistics and its solution."""

    name: str
    description: str
    territory_count: int = field(name="territories")
    road_count: int = field(name="roads")
    continent_count: int = field(name="continents")
    territory_cap: int
    """Maximum number of armies on a territory."""
    armies_to_win: int
    """Number of armies that a player needs to win."""
    ply_limit: int
    """Number of plies after which a match is drawn."""
    statistics: list[MapStatistics] = field(name="measured")
    """Results of matches between two equal engines, one entry for each number of nodes per move; empty if not measured."""
    solution: MapSolution | None = field(name="solved")
    """Solution; None if the map is not solved."""
    is_default: bool = field(name="default")
    """True if this map is the default for matches."""


@cache
def answer_map_list_request() -> Response:
    """Return a response with all built-in maps, as JSON."""
    return responses.make_json_response(list_built_in_maps())


def list_built_in_maps() -> list[MapListEntry]:
    """Return all built-in maps, in the order of their names."""
    measured, solved = read_map_statistics(MAPS_README_FILE), read_map_solutions(MAPS_README_FILE)
    map_infos = []
    for name in list_built_in_map_names():
        annotated_map = load_annotated_map(name)
        riskless_map = annotated_map.map
        map_infos.append(
            MapListEntry(
                name=name,
                description=annotated_map.description,
                territory_count=riskless_map.territory_count,
                road_count=sum(map(len, riskless_map.neighbours)) // 2,
                continent_count=len(annotated_map.continents),
                territory_cap=riskless_map.territory_cap,
                armies_to_win=riskless_map.armies_to_win,
                ply_limit=riskless_map.ply_limit,
                statistics=measured.get(name, []),
                solution=solved.get(name),
                is_default=name == DEFAULT_MAP,
            )
        )
    return map_infos


def read_map_statistics(readme_file: Path) -> dict[str, list[MapStatistics]]:
    """Return the statistics of each map, by its name, from the two tables of statistics in `readme_file`.

    A row without the name of a map belongs to the map of the row above.
    """
    text = readme_file.read_text(encoding="utf-8")
    by_map: dict[str, list[MapStatistics]] = {}
    name = ""
    for header_start, plies in (
        ("| map | nodes a move |", "plies, median"),
        ("| map | cap | goal | limit |", "plies"),
    ):
        for row in _read_markdown_table_rows(text, header_start):
            name = row["map"] or name
            measured = MapStatistics(row["nodes a move"], row["drawn"], row[plies], row["Maxie's share"])
            by_map.setdefault(name, []).append(measured)
    return by_map


def read_map_solutions(readme_file: Path) -> dict[str, MapSolution]:
    """Return the solution of each solved map, by its name, from the table of solutions in `readme_file`."""
    return {
        row["map"]: MapSolution(row["from the start"], row["longest win"], row["is the extra army fair?"])
        for row in _read_markdown_table_rows(
            readme_file.read_text(encoding="utf-8"), "| map | boards in play |"
        )
    }


def _read_markdown_table_rows(markdown_text: str, header_prefix: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the Markdown table whose first line begins with `header_prefix`, each as its cells by column name."""
    lines = iter(markdown_text.splitlines())
    names = next((_split_markdown_table_row(line) for line in lines if line.startswith(header_prefix)), [])
    next(lines, "")
    for line in lines:
        if not line.startswith("|"):
            return
        yield dict(zip(names, _split_markdown_table_row(line), strict=True))


def _split_markdown_table_row(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def require_built_in_map(map_name: str) -> None:
    """Raise NotFound unless `map_name` is a built-in map."""
    if map_name not in list_built_in_map_names():
        raise NotFound(f"no built-in map is called {map_name!r:.80}")


@cache
def answer_map_request(name: str) -> Response:
    """Return a response with all data for drawing a built-in map, as JSON. Raises NotFound for an unknown name.

    The response has more than the `setup` in a match's record: for example, the shapes of the territories.
    """
    require_built_in_map(name)
    annotated_map, land = load_annotated_map(name), load_built_in_land(name)
    map_data = {
        "map": name,
        "description": annotated_map.description,
        "continents": annotated_map.continents,
        "wraps": annotated_map.wraps,
        "cells": land.cells,
        "ferries": land.ferries,
        "marks": land.mark_centres,
        "short_names": annotated_map.short_names,
        "setup": annotated_map.map.to_data(),
    }
    return responses.make_json_response(map_data)
