"""The cells that ship: one for each territory of a built-in map, none for other maps, and no other file beside them."""

from __future__ import annotations

import pytest

from arena.maps.cells import CELLS_FOLDER, load_shipped_cells
from arena.maps.loader import list_map_names, load_map


def test_every_shipped_map_has_its_file() -> None:
    assert {path.name for path in CELLS_FOLDER.iterdir()} == {f"{name}.json" for name in list_map_names()}


@pytest.mark.parametrize("name", list_map_names())
def test_every_territory_has_an_area(name: str) -> None:
    cells = load_shipped_cells(name)
    assert cells is not None
    assert len(cells) == load_map(name).size
    for rings in cells:
        assert rings
        for ring in rings:
            assert len(ring) >= 3
            assert all(len(corner) == 2 for corner in ring)


@pytest.mark.parametrize("name", ["ring:12", "grid:3x3", "my/m2.toml", "../cells/m2", "nowhere"])
def test_other_maps_have_none(name: str) -> None:
    assert load_shipped_cells(name) is None
