from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.riskless_map import RisklessMap
from arena.maps.loader import (
    MAPS_FOLDER,
    MapError,
    count_generated_territories,
    list_built_in_map_names,
    load_annotated_map,
    load_map,
    read_map_file,
)
from arena.toml_file import MAX_TOML_FILE_BYTES
from tests.maps.test_map_file import GOOD


def test_every_toml_file_of_the_folder_is_a_built_in_map() -> None:
    assert list_built_in_map_names() == ["italy", "m1", "m2", "path4", "poland", "usa", "world"]
    for name in list_built_in_map_names():
        assert load_map(name).name == name
        assert load_map(str(MAPS_FOLDER / f"{name}.toml")) == load_map(name)


def test_a_path_is_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "strait.toml"
    path.write_text(GOOD, encoding="utf-8")
    assert isinstance(load_map(str(path)), RisklessMap)
    assert load_map(str(path)).name == "strait"
    assert load_annotated_map(str(path)) == read_map_file(path)


def test_generated_maps_are_loaded_by_name() -> None:
    assert load_map("ring:5").territory_count == 5
    assert load_map("grid:4x3").territory_count == 12
    assert "generated" in load_annotated_map("grid:4x3").description


def test_an_unknown_name_lists_the_maps() -> None:
    with pytest.raises(MapError) as error:
        load_map("m3")
    assert str(error.value) == (
        "m3: no such map: choose from italy, m1, m2, path4, poland, usa, world, ring:N, grid:WxH "
        "(or give the path of a .toml file)"
    )


@pytest.mark.parametrize("name", ["", "M1", "../m1", "m1.tom", "\0", "x" * 10_000, "maps/m1"])
def test_other_names_are_no_maps(name: str) -> None:
    with pytest.raises(MapError, match="no such map") as error:
        load_map(name)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("name", ["ring:2", "ring:x", "ring:", "ring:1001", "ring:-3", "ring:3x3", "ring:٣"])
def test_the_error_for_a_wrong_ring_shows_a_valid_one(name: str) -> None:
    with pytest.raises(
        MapError, match=r"no such map: a ring must be ring:N with N from 3 to 1000, e.g. ring:12"
    ):
        load_map(name)


@pytest.mark.parametrize("name", ["grid:1x1", "grid:4", "grid:4x", "grid:40x26", "grid:0x9", "grid:2x2x2"])
def test_the_error_for_a_wrong_grid_shows_a_valid_one(name: str) -> None:
    with pytest.raises(MapError, match=r"no such map: a grid must be grid:WxH with 2 to 1000 territories"):
        load_map(name)


def test_nothing_else_is_generated() -> None:
    with pytest.raises(MapError, match="star:5: no such map: a generated map must be ring:N or grid:WxH"):
        load_map("star:5")


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(MapError, match=r"none\.toml: No such file or directory"):
        read_map_file(tmp_path / "none.toml")
    with pytest.raises(MapError, match="a folder; name a file in it"):
        read_map_file(tmp_path)
    with pytest.raises(MapError, match="embedded null byte"):
        load_map("a\0.toml")


def test_a_file_that_is_no_text_says_which_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes(b'territory_cap = 10\ndescription = "\xe9"\n')
    with pytest.raises(MapError, match=r"latin\.toml:2: not UTF-8 text"):
        read_map_file(path)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.toml"
    path.write_bytes(b"#" * (MAX_TOML_FILE_BYTES + 1))
    with pytest.raises(MapError, match=r"too large; a file may have at most 1,000,000 bytes"):
        read_map_file(path)


def test_the_largest_map_is_far_from_that_bound() -> None:
    map = load_map("grid:31x32")
    written = [
        f'[[territory]]\nname = "{name}"\nplace = [{place[0]}, {place[1]}]\nroads = {list(near)}\n'
        for name, place, near in zip(map.territories, map.places, map.neighbours, strict=True)
    ]
    assert len("\n".join(written)) < MAX_TOML_FILE_BYTES / 5


@given(st.sampled_from(["ring", "grid"]), st.lists(st.integers(0, 60), min_size=1, max_size=3))
def test_the_size_of_a_generated_map_is_known_before_it_is_made(kind: str, numbers: list[int]) -> None:
    name = f"{kind}:{'x'.join(map(str, numbers))}"
    try:
        size = count_generated_territories(name)
    except MapError:
        with pytest.raises(MapError):
            load_map(name)
    else:
        assert load_map(name).territory_count == size


def test_the_size_of_another_map_is_not_in_its_name() -> None:
    assert count_generated_territories("m2") is None
    assert count_generated_territories("grid:3x3.toml") is None
