from __future__ import annotations

import re

import pytest

from arena.maps.loader import list_built_in_map_names, load_annotated_map
from arena.maps.text_map import MAX_MAP_ROWS, draw_text_map

NAMES = [
    *list_built_in_map_names(),
    "ring:12",
    "grid:6x7",
    "grid:1x2",
    "grid:30x30",
    "ring:1000",
    "grid:1000x1",
    "grid:1x1000",
]


@pytest.mark.parametrize(
    ("name", "width"),
    [*((name, 60) for name in NAMES), *((name, 100) for name in NAMES if "1000" not in name)],
)
def test_the_picture_fits(name: str, width: int) -> None:
    text, _ = draw_text_map(load_annotated_map(name), column_count=width)
    rows = text.plain.split("\n")
    assert max(map(len, rows)) <= width
    assert len(rows) <= MAX_MAP_ROWS
    assert rows[0].strip()
    assert rows[-1].strip()


@pytest.mark.parametrize(
    ("name", "width"), [("m1", 100), ("m2", 100), ("path4", 100), ("world", 140), ("grid:6x7", 100)]
)
def test_every_name_is_drawn_if_there_is_room(name: str, width: int) -> None:
    file = load_annotated_map(name)
    text, named = draw_text_map(file, column_count=width)
    assert named
    words = re.findall(r"[^\s⠀-⣿]+", text.plain)
    for territory in file.map.territories:
        for word in territory.split():
            words.remove(word)
    held = sorted(f"{n:+d}" for n in file.map.start if n)
    assert sorted(words) == held, "and besides the names only the armies"


def test_a_crowded_map_has_numbers() -> None:
    file = load_annotated_map("usa")
    text, named = draw_text_map(file)
    assert not named
    words = re.findall(r"[^\s⠀-⣿]+", text.plain)
    armies = [f"{n:+d}" for n in file.map.start if n]
    assert sorted(words) == sorted([*map(str, range(48)), *armies])


def test_a_map_too_large_for_numbers_has_marks() -> None:
    file = load_annotated_map("grid:30x30")
    text, named = draw_text_map(file)
    assert not named
    assert text.plain.count("o") == file.map.start.count(0)
    assert text.plain.count("-") == sum(armies < 0 for armies in file.map.start)
    assert (text.plain[0], text.plain[-1]) == ("-", "+")


def test_the_road_of_path4_is_drawn() -> None:
    assert re.fullmatch(r"0 \+2 ⠤+ 1 ⠤+ 2 ⠤+ 3 -3", draw_text_map(load_annotated_map("path4"))[0].plain)


def test_armies_of_any_position_can_be_shown() -> None:
    text, _ = draw_text_map(load_annotated_map("path4"), armies=(5, 3, 1, -3), use_braille_dots=False)
    assert re.fullmatch(r"0 \+5 \.+ 1 \+3 \.+ 2 \+1 \.+ 3 -3", text.plain)


@pytest.mark.parametrize("name", ["world", "usa", "m2"])
def test_without_dots_all_is_ascii(name: str) -> None:
    assert draw_text_map(load_annotated_map(name), use_braille_dots=False)[0].plain.isascii()


def test_every_road_leaves_both_its_ends() -> None:
    """On a map with wide spaces, as many dotted lines as the territory has roads begin beside each name."""
    rows = draw_text_map(load_annotated_map("m2"))[0].plain.split("\n")
    at = {name: (r, row.index(name)) for r, row in enumerate(rows) for name in re.findall(r"[a-d][1-4]", row)}
    file = load_annotated_map("m2")
    for v, name in enumerate(file.map.territories):
        r, c = at[name]
        around = [rows[r][: max(0, c - 1)][-1:], rows[r][c + 6 : c + 7]]
        around += [
            rows[each][max(0, c - 1) : c + 6].strip() if 0 <= each < len(rows) else ""
            for each in (r - 1, r + 1)
        ]
        dotted = [each for each in around if re.search("[⠁-⣿]", each)]
        assert len(dotted) == len(file.map.neighbours[v]), name
