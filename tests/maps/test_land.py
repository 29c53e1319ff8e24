"""The shipped cells: one file for each built-in map and no other, with an area for each territory."""

from __future__ import annotations

import pytest

from arena.maps.land import LAND_FOLDER, load_built_in_land
from arena.maps.loader import list_built_in_map_names, load_map
from arena.maps.map_file import MapError


def test_every_shipped_map_has_its_file() -> None:
    assert {path.name for path in LAND_FOLDER.iterdir()} == {
        f"{name}.json" for name in list_built_in_map_names()
    }


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_every_territory_has_an_area(name: str) -> None:
    cells = load_built_in_land(name).cells
    assert len(cells) == load_map(name).territory_count
    for rings in cells:
        assert rings
        for ring in rings:
            assert len(ring) >= 3
            assert all(len(corner) == 2 for corner in ring)


@pytest.mark.parametrize("name", ["ring:12", "grid:3x3", "my/m2.toml", "../cells/m2", "nowhere"])
def test_a_map_that_is_not_built_in_has_no_land(name: str) -> None:
    with pytest.raises(MapError, match="no built-in map is called"):
        load_built_in_land(name)
