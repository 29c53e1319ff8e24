from __future__ import annotations

from collections import Counter
from xml.etree.ElementTree import Element, fromstring

import pytest

from arena.games.riskless_map import RisklessMap, list_roads
from arena.maps.layout import compute_road_lines
from arena.maps.loader import list_built_in_map_names, load_annotated_map
from arena.maps.map_file import AnnotatedMap
from arena.maps.picture import make_map_picture
from arena.maps.svg import MARGIN_FOR_NAMES_PX, render_map_svg

NS = "{http://www.w3.org/2000/svg}"
NAMES = [*list_built_in_map_names(), "ring:12", "grid:6x7", "grid:1x2"]


def picture(file: AnnotatedMap, armies: tuple[int, ...] | None = None) -> Element:
    return fromstring(render_map_svg(file, armies))


def of_class(root: Element, name: str) -> list[Element]:
    return [each for each in root.iter() if each.get("class") == name]


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_in_the_picture(name: str) -> None:
    file = load_annotated_map(name)
    root = picture(file)
    assert root.findtext(f"{NS}title") == file.map.name
    assert [each.text for each in of_class(root, "name")] == list(file.map.territories)
    drawn = sum(len(compute_road_lines(file, v, w)) for v, w in make_map_picture(file).drawn_roads)
    assert len(of_class(root, "road")) + len(of_class(root, "road ferry")) == drawn
    land = make_map_picture(file).land
    assert len(of_class(root, "area-of")) == (0 if land is None else len(land.cells))
    held = Counter("maxie" if n > 0 else "minnie" if n < 0 else "empty" for n in file.map.start)
    for owner in ("maxie", "minnie", "empty"):
        assert len(of_class(root, owner)) == held[owner]
    assert [each.text for each in of_class(root, "armies")] == [str(abs(n)) for n in file.map.start if n]


def test_a_road_is_drawn_where_no_border_shows_it() -> None:
    usa = load_annotated_map("usa")
    names = usa.map.territories
    drawn = [(names[v], names[w]) for v, w in make_map_picture(usa).drawn_roads]
    assert drawn == [("Michigan", "Wisconsin")], "a ferry; all other neighbours touch"
    ring = load_annotated_map("ring:12")
    assert make_map_picture(ring).drawn_roads == list_roads(ring.map), "it has no land"


def test_owners_differ_by_shape_and_not_only_by_colour() -> None:
    root = picture(load_annotated_map("path4"))
    assert {each.tag for each in of_class(root, "maxie")} == {f"{NS}circle"}
    assert {each.tag for each in of_class(root, "minnie")} == {f"{NS}rect"}


def test_armies_of_any_position_can_be_shown() -> None:
    root = picture(load_annotated_map("path4"), (5, 3, 0, -12))
    assert [each.text for each in of_class(root, "armies")] == ["5", "3", "12"]


@pytest.mark.parametrize("name", NAMES)
def test_marks_and_names_are_inside_and_apart(name: str) -> None:
    file = load_annotated_map(name)
    root = picture(file)
    width, height = (float(root.get(side) or 0) for side in ("width", "height"))
    boxes = []
    for each in of_class(root, "name"):
        wide = 11 * 0.56 * len(each.text or "")
        x, y = (
            float(each.get("x") or 0) + MARGIN_FOR_NAMES_PX,
            float(each.get("y") or 0) + MARGIN_FOR_NAMES_PX,
        )
        boxes.append((each.text, x - wide / 2, y - 9, x + wide / 2, y + 2))
    for one, left, top, right, bottom in boxes:
        assert left >= 0, one
        assert top >= 0, one
        assert right <= width, one
        assert bottom <= height, one
        for other, left2, top2, right2, bottom2 in boxes:
            apart = right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
            assert one == other or apart, f"{one} is over {other}"


def test_names_are_escaped() -> None:
    map = RisklessMap(
        name="<b>&",
        territories=("<script>alert(1)</script".replace(">", "&"), '"Q" & A'),
        neighbours=((1,), (0,)),
        territory_cap=5,
        armies_to_win=5,
        ply_limit=50,
        start=(1, -1),
        places=((0, 0), (1, 1)),
    )
    root = picture(AnnotatedMap(map, "a < b", (("<i>", (0, 1)),)))
    assert [each.text for each in of_class(root, "name")] == list(map.territories)
    assert root.findtext(f"{NS}title") == "<b>&"
    assert not list(root.iter(f"{NS}script"))
