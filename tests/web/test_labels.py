"""Names on the maps: all or none, each on its own land or on the sea with a line to it, and nothing covers an army."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
import shapely
from playwright.sync_api import Page, expect

from arena.maps.loader import list_map_names, load_map, load_map_file
from arena.protocol.record import to_line
from testkit.browser import BrowserArena, evaluate_large
from tests.web.screenshots import made_up
from tests.web.test_map import show_replay

SIZES = [(390, 780), (768, 1024), (1920, 1080)]
BESIDE_PX = 12
"""Distance of a name from its land above which a line joins them."""
BEARING_PX = 2
"""Pixels around the letters that belong to the box of a text."""
TOLERANCE = 0.04
"""Share of a name's box that may lie on a neighbour's land, because a border has a width."""

MEASURED = """() => {
  const map = document.querySelector('.map');
  const frame = map.getBoundingClientRect();
  const scale = frame.width / map.viewBox.baseVal.width;
  const box = (each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    return [left - frame.left, top - frame.top, right - frame.left, bottom - frame.top].map((n) => n / scale);
  };
  const seen = (sign) => [...map.querySelectorAll(sign)].filter((each) => each.getBoundingClientRect().width > 0);
  const corners = (path) => path.getAttribute('d').split('Z').filter(Boolean)
    .map((ring) => ring.slice(1).split('L').map((corner) => corner.split(' ').map(Number)));
  return {
    scale,
    places: [...map.querySelectorAll('.place')].map((each) => each.getBoundingClientRect().width && box(each)),
    joined: [...map.querySelectorAll('.place + .leader')].map((each) => each.hasAttribute('d')),
    marks: seen('.spot .maxie, .spot .minnie, .spot .empty').map(box),
    land: [...map.querySelectorAll('.area-of')].map(corners),
  };
}"""


def letters(box: list[float], scale: float) -> Any:
    """Return the part of a text's box in which letters are."""
    return shapely.box(*box).buffer(-BEARING_PX / scale, join_style="mitre")


def misplaced(found: dict[str, Any], map_name: str) -> list[str]:
    """Return the faults of the names that a map shows."""
    file = load_map_file(map_name)
    scale = found["scale"]
    land = [shapely.unary_union([shapely.Polygon(ring) for ring in rings]) for rings in found["land"]]
    marks = [shapely.box(*each).buffer(-1 / scale) for each in found["marks"]]
    names = [
        (file.map.territories[v], letters(box, scale), {v}) for v, box in enumerate(found["places"]) if box
    ]
    faults = [
        f"{name} lies on {file.map.territories[v]}"
        for name, box, own in names
        for v, area in enumerate(land)
        if v not in own and area.intersection(box).area > TOLERANCE * box.area
    ]
    faults += [
        f"{name} lies across its border"
        for name, box, own in names
        if TOLERANCE < sum(land[v].intersection(box).area for v in own) / box.area < 1 - TOLERANCE
    ]
    faults += [
        f"{name} is far from its land, without a line"
        for name, box, own in names
        for v in own
        if land[v].distance(box) * scale > BESIDE_PX and not found["joined"][v]
    ]
    faults += [f"{name} covers an army" for name, box, _own in names if any(map(box.intersects, marks))]
    return faults + [
        f"{one} overlaps {other}"
        for (one, box, _), (other, second, _) in combinations(names, 2)
        if box.intersects(second)
    ]


DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
"""Waits until what has come with the land, such as the places of names, is drawn."""


@pytest.fixture
def table(empty: BrowserArena, page: Page) -> Page:
    page.goto(f"{empty.url}table")
    return page


def show(page: Page, name: str, width: int, height: int) -> None:
    """Show the middle of a match on a map in a window of this size."""
    page.set_viewport_size({"width": width, "height": height})
    show_replay(page, name)
    page.evaluate("document.fonts.ready.then(() => null)")
    page.evaluate(DRAWN)


@pytest.mark.parametrize("name", list_map_names())
def test_all_names_lie_on_their_land_or_are_joined_to_it_and_overlap_nothing_or_none_is_there(
    table: Page, name: str
) -> None:
    for width, height in SIZES:
        show(table, name, width, height)
        for zoom in range(5):
            found = evaluate_large(table, MEASURED)
            assert misplaced(found, name) == [], f"at zoom {zoom} of {width} x {height}"
            shown = table.locator(
                ".place:not([data-crowded])"
            ).count()  # also below the numbers of the last move
            assert shown in {0, len(found["places"])}, f"at zoom {zoom} of {width} x {height}"
            # the states of the east are too small for names, and too far from the sea
            assert shown or ((width < 1920 or name == "usa") and zoom < 4), (
                f"at zoom {zoom} of {width} x {height}"
            )
            larger = table.get_by_role("button", name="Zoom in")
            larger.press("Enter")


def test_a_map_without_names_names_the_last_move_and_the_territory_that_is_pointed_at(table: Page) -> None:
    show(table, "usa", 768, 900)
    expect(table.locator(".place").filter(visible=True)).to_have_count(0)
    expect(table.locator(".tag text")).to_have_text(["Louisiana", "Texas"])
    usa = load_map("usa")
    written = {
        name.replace(" ", "") for name in table.locator(".place").all_text_contents()
    }  # in two lines, too
    assert written == {name.replace(" ", "") for name in usa.territories}, "none is shortened"
    kentucky = usa.territories.index("Kentucky")
    name = table.locator(".place, .tag text").filter(visible=True, has_text="Kentucky")
    expect(name).to_have_count(0)
    table.locator(f'[data-spot="{kentucky}"] .reach').hover(force=True)
    expect(name).to_have_count(1)


TRAINED = """async (line) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ MapBoard }, { Match }, { loadMapData }] = [await from('boards/map.js'), await from('match.js'), await from('boards/mapdata.js')];
  const match = Match.fromRecord(JSON.parse(line));
  await loadMapData(match.game.setup);
  const board = new MapBoard(match.game, () => null, { whole: true });
  document.querySelector('main').replaceChildren(board.element);
  board.zoom.fit();
  const box = (each) => each.getBoundingClientRect();
  const boxes = (sign) => [...board.picture.querySelectorAll(sign)].map(box).filter(({ width }) => width);
  let [pluses, covering] = [0, 0];
  match.moves.forEach(({ move }, ply) => {
    const [before, after] = match.positions.slice(ply);
    board.show(after, move, before);
    board.clash(move, after, before);
    const taken = boxes('.armies, .place, .fight rect');
    for (const each of boxes('.training text')) {
      pluses += 1;
      if (taken.some((other) => Math.min(each.right, other.right) - Math.max(each.left, other.left) > 4
        && Math.min(each.bottom, other.bottom) - Math.max(each.top, other.top) > 5)) covering += 1;
    }
  });
  return [pluses, covering, board.training.children.length];
}"""


@pytest.mark.parametrize("name", ["usa", "world"])
def test_plus_one_covers_no_number_no_name_and_no_battle_and_does_not_appear_everywhere_at_once(
    table: Page, name: str
) -> None:
    table.set_viewport_size({"width": 1440, "height": 900})
    pluses, covering, waves = table.evaluate(TRAINED, to_line(made_up(name)))
    assert pluses > 100
    assert covering == 0
    assert waves > 1
