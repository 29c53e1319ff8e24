"""Names on the maps: each inside its own land, whole or short, by the size of the map alone; and nothing covers an army."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pytest
import shapely
from playwright.sync_api import Page, expect

from arena.maps.loader import list_built_in_map_names, load_annotated_map, load_map
from arena.protocol.record import format_record_line
from testkit.browser import BrowserArena, evaluate_via_json
from tests.web.screenshots import made_up
from tests.web.test_map import show_replay

SIZES = [(390, 780), (768, 1024), (1920, 1080)]
BEARING_PX = 2
"""Pixels around the letters that belong to the box of a text."""
TOLERANCE = 0.04
"""Share of a name's box that may lie outside its land, because a border has a width."""

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
    written: [...map.querySelectorAll('.place')].map((each) => (each.hasAttribute('data-crowded') ? '' : each.textContent)),
    marks: seen('.spot .maxie, .spot .minnie, .spot .empty').map(box),
    land: [...map.querySelectorAll('.area-of')].map(corners),
  };
}"""


def letters(box: list[float], scale: float) -> Any:
    """Return the part of a text's box in which letters are."""
    return shapely.box(*box).buffer(-BEARING_PX / scale, join_style="mitre")


def misplaced(found: dict[str, Any], map_name: str) -> list[str]:
    """Return the faults of the names that a map shows."""
    file = load_annotated_map(map_name)
    scale = found["scale"]
    land = [shapely.unary_union([shapely.Polygon(ring) for ring in rings]) for rings in found["land"]]
    marks = [shapely.box(*each).buffer(-1 / scale) for each in found["marks"]]
    names = [
        (file.map.territories[v], letters(box, scale), land[v])
        for v, box in enumerate(found["places"])
        if box
    ]
    faults = [
        f"{name} is not inside its land"
        for name, box, own in names
        if own.intersection(box).area < (1 - TOLERANCE) * box.area
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
    page.emulate_media(reduced_motion="reduce")  # the map of a phone glides to the latest moves
    show_replay(page, name)
    page.evaluate("document.fonts.ready.then(() => null)")
    page.evaluate(DRAWN)


NAMES_BY_SCALE = """async (line) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ MapBoard }, { Match }, { loadMapData }] = [await from('boards/map.js'), await from('match.js'), await from('boards/mapdata.js')];
  const match = Match.fromRecord(JSON.parse(line));
  await loadMapData(match.game.setup);
  const board = new MapBoard(match.game, () => null, { whole: true });
  const found = [];
  for (let scale = 0.4; scale <= 4; scale *= 1.08) {
    board.zoom.scale = scale;
    found.push(board.placeNames()[0].map((name) => (name ? name.lines.join('').replaceAll(' ', '') : '')));
  }
  return found;
}"""
"""Names on a map, as they are written at one scale after another, without spaces."""


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_a_larger_map_writes_no_name_shorter_than_a_smaller_one(table: Page, name: str) -> None:
    whole = [territory.replace(" ", "") for territory in load_map(name).territories]
    found = table.evaluate(NAMES_BY_SCALE, format_record_line(made_up(name)))
    assert found[-1] == whole
    for smaller, larger in pairwise(found):
        for v, (before, after) in enumerate(zip(smaller, larger, strict=True)):
            assert before in {"", after} or after == whole[v], f"{before!r} becomes {after!r}"


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_names_lie_inside_their_land_and_a_larger_map_has_all_that_a_smaller_one_has(
    table: Page, name: str
) -> None:
    file = load_annotated_map(name)
    whole = [territory.replace(" ", "") for territory in file.map.territories]  # in two lines, too
    short = [text.replace(" ", "") for text in file.short_names]
    by_scale: dict[float, list[str]] = {}
    for width, height in SIZES:
        show(table, name, width, height)
        for zoom in range(5):
            if zoom:
                table.get_by_role("button", name="Zoom in").press("Enter")
            found = evaluate_via_json(table, MEASURED)
            assert misplaced(found, name) == [], f"at zoom {zoom} of {width} x {height}"
            by_scale[found["scale"]] = written = [text.replace(" ", "") for text in found["written"]]
            abbreviated = {
                text for v, text in enumerate(written) if text and text == "".join(short[v : v + 1])
            }
            spelled_out = {
                text for v, text in enumerate(written) if text == whole[v] and "".join(short[v : v + 1])
            }
            assert not abbreviated or not spelled_out - set(short), "all names are whole, or all are short"
            if not zoom:
                unzoomed = by_scale[found["scale"]]
        table.get_by_role("button", name="Next move").click()
        expect(table.locator(".told")).to_contain_text("Move 10")
        written = evaluate_via_json(table, MEASURED)["written"]
        assert [text.replace(" ", "") for text in written] == by_scale[max(by_scale)], "whatever is played"
    assert all(by_scale[max(by_scale)])
    if name == "italy":
        assert sum(map(bool, unzoomed)) > len(whole) / 2
    if name == "usa":
        assert set(unzoomed) & set(short)
    for smaller, larger in pairwise(by_scale[scale] for scale in sorted(by_scale)):
        for v, (before, after) in enumerate(zip(smaller, larger, strict=True)):
            assert before in {"", after} or after == whole[v], f"{before!r} becomes {after!r}"
            assert after in {"", whole[v], *short[v : v + 1]}


def test_the_whole_name_is_told_of_the_last_move_and_of_the_territory_that_is_pointed_at(table: Page) -> None:
    show(table, "usa", 768, 900)
    names = table.locator(".place, .tag text").filter(visible=True)
    for name in ("Louisiana", "Texas"):
        expect(names.filter(has_text=name)).to_have_count(1)
    kentucky = load_map("usa").territories.index("Kentucky")
    expect(names.filter(has_text="Kentucky")).to_have_count(0)
    table.locator(f'[data-spot="{kentucky}"] .reach').hover(force=True)
    expect(names.filter(has_text="Kentucky")).to_have_count(1)


FARTHEST_PX = 60
"""Pixels between the place of a territory and the label with its name, at most."""

ON_OTHER_LAND = """async ([line, farthest]) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ MapBoard }, { Match }, { loadMapData }] = [await from('boards/map.js'), await from('match.js'), await from('boards/mapdata.js')];
  const match = Match.fromRecord(JSON.parse(line));
  await loadMapData(match.game.setup);
  const board = new MapBoard(match.game, () => null, { whole: true });
  document.querySelector('main').replaceChildren(board.element);
  board.zoom.fit();
  const [told, wrong] = [[], []];
  match.moves.forEach(({ move }, ply) => {
    board.show(match.positions[ply + 1], move, match.positions[ply]);
    const corner = board.picture.getScreenCTM().inverse();
    for (const rect of board.tag.querySelectorAll('rect')) {
      const { left, right, top, bottom } = rect.getBoundingClientRect();
      const name = rect.nextSibling.textContent;
      const at = (x, y) => new DOMPoint(x, y).matrixTransform(corner);
      const [a, b] = [at(left, top), at(right, bottom)];
      const covered = { x1: a.x + 3, y1: a.y + 3, x2: b.x - 3, y2: b.y - 3 };
      told.push(name);
      const named = move.find((v) => [match.game.names[v], board.shortNames[v]].includes(name));
      if (board.land.regions.some((land, v) => v !== named && land.meets(covered))) wrong.push(`${ply} ${name}: on other land`);
      const [x, y] = board.layout.at[named];
      const far = Math.hypot(Math.max(covered.x1 - x, x - covered.x2, 0), Math.max(covered.y1 - y, y - covered.y2, 0));
      if (far * board.zoom.scale > farthest) wrong.push(`${ply} ${name}: ${far * board.zoom.scale} pixels away`);
    }
  });
  return [told.length, wrong];
}"""


@pytest.mark.parametrize("name", ["italy", "world", "usa"])
def test_a_map_names_the_last_move_on_no_other_land_and_near_its_own(table: Page, name: str) -> None:
    table.set_viewport_size({"width": 390, "height": 780})
    table.emulate_media(reduced_motion="reduce")  # a move has its names when its armies have arrived
    told, wrong = table.evaluate(ON_OTHER_LAND, [format_record_line(made_up(name)), FARTHEST_PX])
    assert told > 0
    assert wrong == []


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
    pluses, covering, waves = table.evaluate(TRAINED, format_record_line(made_up(name)))
    assert pluses > 100
    assert covering == 0
    assert waves > 1
