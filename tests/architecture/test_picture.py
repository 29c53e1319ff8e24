"""The picture of the house: it is what the command draws, and whatever the house, no arrow crosses a box."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.architecture.house import ROOT, Building, Folder, read
from tests.architecture.picture import picture

SVG = "{http://www.w3.org/2000/svg}"
COMMITTED = ROOT / "docs" / "pictures" / "architecture.svg"


def without_sizes(svg: str) -> str:
    """The picture without the lines of code, which change from day to day."""
    return re.sub(r">[\d,]+ lines<", "><", svg)


def test_the_committed_picture_is_what_the_command_draws(tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.svg"
    subprocess.run([sys.executable, "-m", "tests.architecture", drawn], cwd=ROOT, check=True)
    again = "draw it again: python -m tests.architecture docs/pictures/architecture.svg"
    assert without_sizes(drawn.read_text()) == without_sizes(COMMITTED.read_text()), again


def test_every_folder_and_every_import_of_the_house_is_in_the_picture() -> None:
    house = read()
    tree = ET.fromstring(picture(house))
    names = [text.text for text in tree.iter(f"{SVG}text")]
    for building in house.values():
        for folder in (folder for floor in building.floors for folder in floor):
            assert folder.name.rpartition(".")[2] in names
    arrows = sum(len(building.arrows) for building in house.values())
    assert len(list(tree.iter(f"{SVG}path"))) == arrows + len(list(tree.iter(f"{SVG}marker")))


@st.composite
def buildings(draw: st.DrawFn) -> Building:
    """Up to five floors of up to three folders, with any imports that lead down."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    floors = [
        [Folder(f"f{floor}{chr(97 + n)}", "What it is for", 100) for n in range(size)]
        for floor, size in enumerate(sizes)
    ]
    down = [
        (above.name, below.name)
        for index, floor in enumerate(floors)
        for above in floor
        for lower in floors[index + 1 :]
        for below in lower
    ]
    arrows = draw(st.sets(st.sampled_from(down))) if down else set()
    return Building(tuple(map(tuple, floors)), frozenset(arrows))


def corners(path: str) -> list[tuple[float, float]]:
    """The points of an arrow as they were before its corners were rounded."""
    numbers = [(float(x), float(y)) for x, y in re.findall(r"[MQ]([-\d.]+) ([-\d.]+)", path)]
    last = re.findall(r"L([-\d.]+) ([-\d.]+)", path)[-1]
    return [*numbers, (float(last[0]), float(last[1]))]


@given(buildings())
def test_no_arrow_crosses_a_box_and_each_ends_at_one(building: Building) -> None:
    tree = ET.fromstring(picture({"": building}))
    boxes = [
        [float(rect.get(name, "")) for name in ("x", "y", "width", "height")]
        for rect in tree.iter(f"{SVG}rect")
        if rect.get("class") == "box"
    ]
    paths = [path.get("d", "") for path in tree.iter(f"{SVG}path") if "line" in path.get("class", "")]
    assert len(paths) == len(building.arrows)
    assert not [path for path in tree.iter(f"{SVG}path") if path.get("class") == "against"]
    for points in map(corners, paths):
        for (x1, y1), (x2, y2) in pairwise(points):
            assert x1 == x2 or y1 == y2, "arrows go straight"
            for x, y, width, height in boxes:
                across = min(x1, x2) < x + width and max(x1, x2) > x
                along = min(y1, y2) < y + height and max(y1, y2) > y
                assert not (across and along), "an arrow goes through a box"
        x, y = points[-1]
        assert any(
            left - 2 <= x <= left + width + 2 and top - 2 <= y <= top + height + 2
            for left, top, width, height in boxes
        )


def test_an_import_against_the_contract_is_seen() -> None:
    top, low = Folder("top", "", 1), Folder("low", "", 1)
    svg = picture({"": Building(((top,), (low,)), frozenset({("low", "top")}))})
    assert svg.count('class="against"') == 1
