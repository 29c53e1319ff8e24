"""Comfort: light or dark by choice, contrast, titles, what a screen reader hears, and where the focus goes."""

from __future__ import annotations

import io
import itertools
import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from arena.protocol.record import format_record_line
from testkit.browser import BrowserArena, evaluate_via_json
from tests.web.screenshots import made_up
from tests.web.test_replay import open_record

COLOURS = """() => {
  const probe = document.body.appendChild(document.createElement('span'));
  const of = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color.match(/[0-9.]+/g).slice(0, 3).map(Number); };
  const found = Object.fromEntries(['sheet', 'ground', 'glow', 'focus', 'ink', 'quiet', 'maxie', 'minnie', 'sea', 'coast', 'nobody'].map((name) => [name, of(name)]));
  probe.remove();
  return found;
}"""
PRINTED = """(element) => {
  const { color, backgroundColor } = getComputedStyle(element);
  const paper = document.createElement('canvas').getContext('2d');
  return [color, backgroundColor].map((each) => {
    paper.fillStyle = each;
    paper.fillRect(0, 0, 1, 1);
    return [...paper.getImageData(0, 0, 1, 1).data].slice(0, 3);
  });
}"""
"""Colours of an element's text and of its background."""


def luminance(colour: list[float]) -> float:
    """The relative luminance of a colour (WCAG 2.2)."""
    parts = [each / 255 for each in colour]
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: list[float], other: list[float]) -> float:
    """The contrast of two colours (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_light_or_dark_is_chosen_and_kept_and_both_have_contrast(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}play")
    found = {}
    start = page.get_by_role("button", name="Start the match")
    for theme in ("light", "dark"):
        page.get_by_role("button", name="Settings").click()
        page.get_by_label("Theme").select_option(theme)
        page.get_by_role("button", name="Close").click()
        found[theme] = page.evaluate(COLOURS)
        for sign in ("glow", "focus"):
            for ground in ("sheet", "ground"):
                assert contrast(found[theme][sign], found[theme][ground]) >= 3, (theme, sign)
        assert contrast(found[theme]["maxie"], found[theme]["minnie"]) >= 3, "the sides differ in greyscale"
        assert contrast(found[theme]["coast"], found[theme]["sea"]) >= 2, "the coast is seen"
        start.hover()
        assert contrast(*start.evaluate(PRINTED)) >= 4.5, "the main button is read where it is pointed at"
        red, green, blue = found[theme]["glow"]
        assert blue < min(red, green), "targets are of gold"
        red, green, blue = found[theme]["focus"]
        assert blue > max(red, green), "the focus is violet"
    assert found["light"]["sheet"] != found["dark"]["sheet"]
    assert contrast(found["dark"]["nobody"], found["dark"]["sea"]) >= 1.6, "land without owner is no sea"
    page.reload()
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_label("Theme")).to_have_value("dark")
    expect(page.get_by_label("Sounds")).not_to_be_checked()
    assert page.evaluate(COLOURS) == found["dark"]


WIDTHS = """async ([texts, weights]) => {
  const source = document.querySelector('link[as=font]').href;
  const font = await new FontFace('Loaded', `url(${source})`, { weight: '100 900' }).load();
  document.fonts.add(font);
  const fallback = [...document.fonts].filter(({ family }) => family.includes('fallback'));
  if ((await Promise.allSettled(fallback.map((each) => each.load()))).some(({ status }) => status === 'rejected')) return null;
  const line = document.body.appendChild(document.createElement('span'));
  line.style.cssText = 'position: absolute; white-space: nowrap';
  const width = (family, weight, text) => {
    line.textContent = text;
    line.style.font = `${weight} 100px "${family}"`;
    return line.getBoundingClientRect().width;
  };
  const ratios = weights.flatMap((weight) => texts.map((text) => width('Arena fallback', weight, text) / width('Loaded', weight, text)));
  line.remove();
  return ratios;
}"""
"""Widths of texts in the fallback font, as multiples of those in the page's font; null if this machine lacks that fallback."""


def test_texts_are_about_as_wide_before_the_font_has_come(empty: BrowserArena, page: Page) -> None:
    """A page whose font comes late keeps the fallback: it must cut no text, and labels must fit on their land."""
    page.goto(f"{empty.url}file")
    texts = [
        "Final · Draw after 15 moves",
        "Friuli-Venezia Giulia",
        "Find the best move",
        "33 after",
        "Game 208",
    ]
    ratios = page.evaluate(WIDTHS, [texts, [400, 500, 600, 700]])
    if ratios is None:
        pytest.skip("this machine has neither Arial nor Liberation Sans")
    assert max(ratios) < 1.08
    assert min(ratios) > 0.9


GREYS = """() => [...document.querySelectorAll('.area-of, .cell')].map((area) => {
  const { left, right, top, bottom } = area.getBoundingClientRect();
  const [wide, high] = area.matches('.cell') ? [(right - left) / 3, (bottom - top) / 3] : [0, 0];
  const points = [];
  for (let x = Math.ceil(left + wide); x < right - wide; x += 4) {
    for (let y = Math.ceil(top + high); y < bottom - high; y += 4) if (document.elementFromPoint(x, y) === area) points.push([x, y]);
  }
  return [area.dataset.owner, points];
})"""
"""Owner of each territory or square, and points of it: all that no mark of armies covers, or those in the middle of a square."""


@pytest.mark.parametrize(
    ("game", "map_name", "schemes"),
    [("riskless", "italy", ["light", "dark"]), ("tictactoe", "", ["light"]), ("hexapawn", "", ["dark"])],
)
def test_a_grey_picture_tells_whose_a_territory_is(
    empty: BrowserArena,
    page: Page,
    tmp_path: Path,
    game: str,
    map_name: str,
    schemes: list[Literal["light", "dark"]],
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    file = tmp_path / "one.jsonl"
    file.write_text(format_record_line(made_up(map_name, game)) + "\n", encoding="utf-8")
    page.goto(f"{empty.url}file")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("slider").fill("4")
    expect(page.locator(".told")).to_contain_text("Move 4,")
    expect(page.locator(".area-of[data-owner=minnie], .cell[data-owner=minnie]").first).to_be_visible()
    expect(page.locator(".march > *")).to_have_count(0)
    territories = evaluate_via_json(page, GREYS)
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        with Image.open(io.BytesIO(page.screenshot())) as picture:
            width, greys = picture.width, picture.convert("L").tobytes()
        seen = defaultdict(list)
        for owner, points in territories:
            if points:
                seen[owner].append(statistics.median(greys[y * width + x] for x, y in points))
        assert {"maxie", "minnie", "nobody"} == set(seen)
        for one, other in itertools.combinations(seen.values(), 2):
            lower, higher = sorted((one, other))
            assert max(lower) + 20 < min(higher), f"of 256 levels of grey, where it is {scheme}"


WATCH_TRAVEL = """() => {
  window.travelled = [];
  new MutationObserver(() => {
    for (const { effect } of document.querySelector('.march').getAnimations({ subtree: true })) travelled.push(effect.getTiming().duration);
  }).observe(document.querySelector('.march'), { childList: true });
}"""
TRAVEL_TIMES = """async (gaps) => {
  const { travelTime } = await import(new URL('boards/moveanimation.js', document.querySelector('script[type=module]').src).href);
  return gaps.map(travelTime);
}"""
HOLD_ARMIES = """() => {
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...how) {
    const animation = animate.apply(this, how);
    if (this.closest('.march')) animation.pause();
    return animation;
  };
}"""
"""From now on, armies travel until ARRIVE."""
ARRIVE = (
    "() => document.querySelector('.march').getAnimations({ subtree: true }).forEach((each) => each.finish())"
)
WATCH_TELLING = """() => {
  const parts = ['.story', '.told', '.tug-bar', '.plot', '.moves', '.counter'];
  window.telling = new Set();
  const observer = new MutationObserver((changes) => {
    for (const { target } of changes) {
      const element = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
      parts.filter((part) => element?.closest(part)).forEach((part) => telling.add(part));
    }
  });
  observer.observe(document.querySelector('.viewer'), { subtree: true, childList: true, characterData: true, attributes: true });
}"""
"""Keeps in window.telling which parts of the page that tell the result of a move have changed."""
WATCH_TONES = """() => {
  window.tones = [];
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...when) { tones.push(this.frequency.value); return start.apply(this, when); };
}"""


def test_armies_travel_as_long_as_one_likes_and_less_at_speed(
    empty: BrowserArena, timed: Page, tmp_path: Path
) -> None:
    open_record(timed, empty, tmp_path / "one.jsonl", made_up("m2"))
    expect(timed.locator(".map .area-of").first).to_be_visible()
    timed.evaluate(WATCH_TRAVEL)

    def step(ply: int) -> list[float]:
        timed.evaluate("travelled.length = 0")
        timed.clock.run_for(1300)  # from the last move: the quicker moves come, the less armies travel
        timed.keyboard.press("ArrowRight")
        expect(timed.locator(".told")).to_contain_text(f"Move {ply},")
        expect(timed.locator(".march > *")).to_have_count(0)
        found: list[float] = timed.evaluate("travelled")
        return found

    (usual,) = set(step(1))
    assert usual == 380
    for ply, pace in ((2, "2"), (3, "0.5")):
        timed.get_by_role("button", name="Settings").click()
        timed.get_by_label("Pace").select_option(pace)
        timed.get_by_role("button", name="Close").click()
        (took,) = set(step(ply))
        assert took == usual / 2 if pace == "2" else took > usual
    fast, slower, slow = timed.evaluate(TRAVEL_TIMES, [75, 300, 10_000])
    assert fast == 0, "where a move comes after 75 ms, as at 8 ×, nobody sees how armies travel"
    assert slower == pytest.approx(0.65 * 300)
    assert slow == took


def test_each_of_two_quick_moves_of_ones_own_line_is_told_while_its_armies_travel(
    empty: BrowserArena, timed: Page, tmp_path: Path
) -> None:
    open_record(timed, empty, tmp_path / "one.jsonl", made_up("m2"))
    expect(timed.locator(".map .area-of").first).to_be_visible()
    timed.get_by_role("button", name="Try your own moves").click()
    timed.evaluate(HOLD_ARMIES)
    told = timed.locator(".told")
    expect(told).to_have_text("Your own moves from move 0: Blue to move")
    for text in ("Your own line, move 1:", "Your own line, move 2:"):
        timed.clock.run_for(1300)
        for choice in ("source", "target"):
            timed.locator(f"[data-{choice}]").first.dispatch_event("click")
        assert told.inner_text().startswith(text)
        assert timed.locator(".march > *").count() == 1


def test_a_move_is_told_and_has_its_arrow_while_its_armies_travel(
    empty: BrowserArena, timed: Page, tmp_path: Path
) -> None:
    open_record(timed, empty, tmp_path / "one.jsonl", made_up("m2"))
    expect(timed.locator(".map .area-of").first).to_be_visible()
    timed.evaluate(HOLD_ARMIES)
    timed.clock.run_for(1300)
    timed.evaluate(WATCH_TELLING)
    timed.keyboard.press("ArrowRight")
    timed.clock.run_for(300)
    armies, told = timed.locator(".march > *"), timed.locator(".told")
    assert armies.count() == 1
    assert told.inner_text().startswith("Move 1,")
    expect(timed.locator(".map .move[d]")).to_have_count(1)
    assert {".told", ".tug-bar", ".plot", ".moves", ".counter"} <= set(timed.evaluate("[...telling]"))
    for ply in (2, 3):  # the next move comes while armies travel: they arrive
        timed.clock.run_for(300)
        timed.keyboard.press("ArrowRight")
        timed.clock.run_for(300)
        assert told.inner_text().startswith(f"Move {ply},")
        assert armies.count() == 1
        expect(timed.locator(".counter")).to_contain_text(f"{ply} /")
        expect(timed.get_by_role("slider")).to_have_value(str(ply))
    timed.evaluate(ARRIVE)
    expect(armies).to_have_count(0)
    assert told.inner_text().startswith("Move 3,")


def test_a_move_is_heard_where_sound_is_switched_on(empty: BrowserArena, page: Page, tmp_path: Path) -> None:
    open_record(page, empty, tmp_path / "one.jsonl", made_up("m2"))
    page.evaluate(WATCH_TONES)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".told")).to_contain_text("Move 1,")
    assert page.evaluate("tones") == [], "sound is off at first"
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Sounds").check()
    page.get_by_role("button", name="Close").click()
    count = page.evaluate("tones.length")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".told")).to_contain_text("Move 2,")
    assert page.evaluate("tones.length") == count + 1


def test_armies_that_do_not_travel_are_there_at_once(empty: BrowserArena, page: Page, tmp_path: Path) -> None:
    page.goto(f"{empty.url}file")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Pace").select_option("0")
    page.get_by_role("button", name="Close").click()
    open_record(page, empty, tmp_path / "one.jsonl", made_up("m2"))
    page.keyboard.press("ArrowRight")
    assert page.locator(".march > *").count() == 0
    expect(page.locator(".told")).to_contain_text("Move 1")


def test_a_move_styles_only_what_it_changes(
    empty: BrowserArena, browser: Browser, page: Page, tmp_path: Path
) -> None:
    """A rule such as `.view:has(.child) > *` makes Chromium style all of a view anew for each element that is put into it."""
    open_record(page, empty, tmp_path / "one.jsonl", made_up("usa"))
    expect(page.locator(".spot")).not_to_have_count(0)
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    for ply in (1, 2):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".told")).to_contain_text(f"Move {ply},")
        expect(page.locator(".march > *")).to_have_count(0)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    styled = [event["args"]["elementCount"] for event in events if event["name"] == "UpdateLayoutTree"]
    assert 0 < max(styled) < page.locator(".map *").count() / 2, styled


def test_every_view_has_a_title_of_its_own(played: BrowserArena, page: Page) -> None:
    match = played.fetch_json("records")["matches"][-1]
    titles = {
        "": "Riskless Arena: watch and play",
        "#/play": "Play · Riskless Arena",
        "#/table": "Ratings · Riskless Arena",
        "#/table/serve": "Open pool · Riskless Arena",
        "#/bot/greedy": "greedy · Riskless Arena",
        "#/file": "Record file · Riskless Arena",
        "event/serve": "Open pool · Riskless Arena",
        "versus/greedy/random": "greedy against random · Riskless Arena",
        "search?bot=greedy": "Search · Riskless Arena",
        "maps": "Maps · Riskless Arena",
        "maps/usa": "USA · Riskless Arena",
        f"#/match/{match['match']}": f"{match['players']['maxie']} v {match['players']['minnie']}",
    }
    for address, title in titles.items():
        page.goto(f"{played.url}{address}")
        expect(page).to_have_title(title)


def test_territories_come_by_tab_as_one_reads(empty: BrowserArena, page: Page, tmp_path: Path) -> None:
    open_record(page, empty, tmp_path / "one.jsonl", made_up("m2"))
    expect(page.locator(".map .spot[transform]").first).to_be_visible()
    # armies that travel are a spot without a number
    places = page.evaluate("""() => [...document.querySelectorAll('.map [data-spot]')].map((each) => {
      const { e, f } = each.transform.baseVal.consolidate().matrix; return [e, f]; })""")
    rows = [round(y / 62) for _, y in places]
    assert rows == sorted(rows)
    for (x, y), (right, below) in itertools.pairwise(places):
        assert below > y + 20 or right > x
