"""Measurements and solutions of the built-in maps, as in `maps/README.md`."""

from __future__ import annotations

import json
import re

from arena.maps.loader import list_built_in_map_names
from arena.server.web.maps import (
    MAPS_README_FILE,
    answer_map_list_request,
    list_built_in_maps,
    read_map_solutions,
)


def test_every_built_in_map_has_its_measurements() -> None:
    maps_by_name = {each.name: each for each in list_built_in_maps()}
    assert sorted(maps_by_name) == sorted(list_built_in_map_names())
    assert [each.name for each in maps_by_name.values() if each.is_default] == ["italy"]
    for each in maps_by_name.values():
        assert [measured.nodes_per_move for measured in each.statistics] == ["500", "4,000", "32,000"], (
            each.name
        )
        assert all(re.match(r"\d+ ± \d+ %$", measured.drawn_share) for measured in each.statistics)
    assert json.loads(answer_map_list_request().body)[0]["name"] == min(maps_by_name)


def test_a_solved_map_has_its_solution() -> None:
    solved = read_map_solutions(MAPS_README_FILE)
    assert solved["path4"].start_value == "Minnie wins in 16 plies"
    assert solved["m1"].longest_win == "35 plies"
    assert {each.name for each in list_built_in_maps() if each.solution} == {"m1", "path4"}
