"""Tables and bots' pages, and every view looked at by axe."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import list_built_in_map_names
from arena.protocol.codes import EndReason
from arena.server.web.titles import make_map_title
from testkit.browser import BrowserArena, find_truncated_texts
from tests.web.screenshots import SIZES
from tests.web.test_director import FROM

AXE = Path(__file__).parent / "vendor" / "axe.min.js"


@pytest.fixture
def looked_at(page: Page) -> Page:
    """A page that stands still while axe looks at it."""
    page.emulate_media(reduced_motion="reduce")
    return page


def test_the_table_and_the_page_of_a_bot(played: BrowserArena, page: Page) -> None:
    page.goto(f"{played.url}#/table")
    standing = page.locator("table.standing").first
    expect(standing.locator("tbody tr")).to_have_count(2)
    expect(standing.locator(".rating-bar").first).to_have_attribute(
        "aria-label", re.compile(r"^\d+ plus or minus \d+$")
    )
    expect(page.locator("table.cross tbody tr")).to_have_count(2)
    signs = [cell.get_attribute("data-sign") for cell in page.locator("table.cross td a").all()]
    assert {"+": "−", "−": "+", "=": "="}[signs[0] or ""] == signs[1]
    page.locator("a[href='/event/serve']").click()
    expect(page.get_by_role("heading", name="Open pool", exact=True)).to_be_visible()
    rows = page.locator("table.standing tbody tr")  # those who have played for other tests have one, too
    for name in ("greedy", "random"):
        expect(rows.filter(has=page.get_by_role("link", name=name))).to_have_count(1)
    page.locator("table.standing").get_by_role("link", name="greedy").click()
    expect(page.get_by_role("heading", name="By map and side")).to_be_visible()
    expect(page.locator(".card").first).to_be_visible()


VIEWS = {
    "": ".past .card",
    "tv": ".stage .map",
    "tv/4": ".stage .map",
    "match/{match}/3": ".map",
    "embed/{match}/3": ".map",
    "play": "form",
    "table": "table.cross",
    "event/serve": "table.cross",
    "bot/greedy": ".card",
    "versus/greedy/random": ".record-bar",
    "search?map=path4": ".card",
    "maps": ".maps svg",
    "maps/path4": ".card",
    "me": "form",
    "host": "form",
    "file": "input",
}
"""Addresses, and what is there when the view is complete."""
Look = tuple[str, Literal["dark", "light"], list[str]]
OF_SIZE = ["target-size", "scrollable-region-focusable"]
"""Rules of axe whose outcome depends on the room that there is."""
LOOKS: list[Look] = [
    *((size, "light", []) for size in ("1440", "360")),
    *((size, "light", OF_SIZE) for size in ("844", "768")),
    *((size, "dark", ["color-contrast"]) for size in ("1440", "360")),
]
"""Windows of all kinds in light colours, and the widest and the narrowest in dark ones: these change the contrast alone.

Each with the rules of axe that are tried; all where none is named.
"""


NEVER_CUT = "h1, .player, .title, .stage:not(.minor) :is(.story, .latest), .telling, .told, .card"
"""Titles, of which each view has one, and elements with short texts, which leave out whole parts where they have no room."""


@pytest.mark.parametrize("address", VIEWS)
def test_axe_finds_nothing_and_no_text_is_cut_in_a_view_at_any_size(
    played: BrowserArena, looked_at: Page, address: str
) -> None:
    match = [each for each in played.fetch_json("records")["matches"] if each["plies"] > 3][-1]["match"]
    looked_at.goto(f"{played.url}{address.format(match=match)}")
    expect(looked_at.locator(VIEWS[address]).first).to_be_visible()
    blameless(looked_at)
    for size, (width, height) in SIZES.items():
        looked_at.set_viewport_size({"width": width, "height": height})
        assert not find_truncated_texts(looked_at.locator(NEVER_CUT)), size


ENDED = f"""async ([setups, reasons]) => {{ {FROM}
  const [{{ Match }}, {{ LiveCards }}, {{ pastItem }}] = [await from('match.js'), await from('home/livecards.js'), await from('parts/matchlist.js')];
  const players = {{ maxie: 'House AlphaBeta', minnie: 'House MCTS' }};
  const ends = [{{ winner: 'maxie', reason: 'armies' }}, {{ winner: null, reason: 'ply_limit' }}, {{ winner: null, reason: 'server_fault' }}];
  const listed = Object.keys(setups).flatMap((map) => ends.map((end, n) => ({{ match: map + n, game: 'riskless', map, players, ply: 9, end }})));
  const show = (matches, ...names) => {{
    const cards = new LiveCards({{ keepsPlaces: true }}); // they stay, however long it takes to look at them
    cards.sight = {{ observe() {{}}, unobserve() {{}} }}; // the matches are not on the server
    cards.element.classList.add(...names);
    cards.show(matches);
    for (const {{ match: id, map, end }} of matches) {{
      const card = cards.cards.get(id);
      const match = new Match({{ ...listed.find((each) => each.match === id), setup: setups[map], time_control: '1+0' }});
      match.moves = Array(setups[map].ply_limit).fill({{ move: match.game.moves(match.last)[0] }});
      match.positions = Array(setups[map].ply_limit + 1).fill(match.last);
      match.end = end;
      Object.assign(card, {{ drawn: true, state: match, board: {{ show() {{}}, stop() {{}} }} }});
      cards.draw(card);
    }}
    return cards.element;
  }};
  document.querySelector('main').innerHTML = '<div class="playing"></div><div><div class="hero"><div class="stage"></div><div class="wall"></div></div></div><ul class="cards rows"></ul>';
  for (let n = 0; n < listed.length; n += 4) document.querySelector('.playing').append(show(listed.slice(n, n + 4), 'now'));
  document.querySelector('.wall').append(show(listed));
  document.querySelector('.rows').replaceChildren(...Object.keys(setups).flatMap((map) => reasons.map((reason) => pastItem({{
    match: 'm', event: 'Winter championship', game: 'riskless', map, players, finished: '2026-11-30T00:00:00Z', plies: 1000,
    result: {{ winner: ['ply_limit', 'both_armies', 'board_full', 'server_fault'].includes(reason) ? null : 'minnie', reason, detail: '' }} }}))));
}}"""
"""Shows, on cards of events and of the start page, a won, a drawn and a void match at the limit of moves on each map; in rows, finished matches with all reasons."""


def test_no_text_of_a_card_is_cut_whatever_its_map_and_its_end_are(
    empty: BrowserArena, looked_at: Page
) -> None:
    looked_at.goto(f"{empty.url}file")
    setups = {name: make_game_on_map("riskless", name).setup() for name in list_built_in_map_names()}
    looked_at.evaluate(ENDED, [setups, [*EndReason]])
    texts = looked_at.locator(".card.live .summary-of, .rows .outcome")
    expect(texts.filter(has_text="Draw after 1000 moves").first).to_be_attached()
    for size, (width, height) in SIZES.items():
        looked_at.set_viewport_size({"width": width, "height": height})
        assert not find_truncated_texts(texts), size


@pytest.mark.parametrize(
    ("address", "dialog"), [("file", "Rules"), ("file", "Settings"), ("match/{match}/3", "Share")]
)
def test_axe_finds_nothing_in_a_dialog_at_any_size(
    played: BrowserArena, looked_at: Page, address: str, dialog: str
) -> None:
    match = [each for each in played.fetch_json("records")["matches"] if each["plies"] > 3][-1]["match"]
    looked_at.goto(f"{played.url}{address.format(match=match)}")
    looked_at.get_by_role("button", name=dialog, exact=True).click()
    expect(looked_at.get_by_role("dialog")).to_be_visible()
    blameless(looked_at)


def test_axe_finds_nothing_in_a_match_of_ones_own(played: BrowserArena, looked_at: Page) -> None:
    looked_at.goto(f"{played.url}play/greedy")
    looked_at.get_by_role("button", name="Start the match").click()
    looked_at.locator("[data-source]").first.click()
    blameless(looked_at)


def test_axe_finds_nothing_in_an_invitation_and_in_the_token_that_it_gives(
    played: BrowserArena, looked_at: Page
) -> None:
    told = played.run_command("invite", "ada", "--bots", "2", "--url", played.url)
    link = re.search(r"http://\S+/join/\S+", told)
    assert link is not None
    looked_at.goto(link[0])
    name = looked_at.get_by_label("Name of the bot")
    expect(name).to_be_visible()
    blameless(looked_at)
    name.fill("tiger")
    looked_at.get_by_role("button", name="Take this name").click()
    expect(looked_at.get_by_role("heading", name="The token of tiger")).to_be_visible()
    blameless(looked_at)


LOOK = """(rules) => axe.run({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } }, ...rules.length && { runOnly: rules } })
  .then((done) => done.violations)"""


LEFT_EDGES = """() => {
  const boxes = [...document.querySelectorAll('main > *')]
    .filter((each) => each.offsetWidth && getComputedStyle(each).position !== 'absolute')
    .map((each) => each.getBoundingClientRect());
  const isBeside = (a) => boxes.some((b) => b.left < a.left && b.top < a.bottom && a.top < b.bottom);
  return [...new Set(boxes.filter((box) => !isBeside(box)).map(({ left }) => Math.round(left)))];
}"""
"""Left edges of the parts of a view that stand beside no other part."""


def blameless(page: Page) -> None:
    """axe finds nothing in what is shown, and all parts that stand beside no other begin at one left edge."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for size, scheme, rules in LOOKS:
        width, height = SIZES[size]
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        bad = [
            (each["id"], [node["html"] for node in each["nodes"]][:3], each["nodes"][0]["failureSummary"])
            for each in page.evaluate(LOOK, rules)
        ]
        assert not bad, (size, scheme, bad)
        assert len(page.evaluate(LEFT_EDGES)) == 1, (size, scheme)


def test_a_further_process_of_a_bot_leads_to_the_bot_and_no_number_is_minus_nothing(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}file")
    found = page.evaluate(
        """async (names) => {
          const { botOf, whole } = await import(new URL('text.js', document.querySelector('script[type=module]').src).href);
          return [names.map(botOf), [-0.3, -1.6, 12.4].map(whole)];
        }""",
        ["greedy", "greedy#2", "x#10", "#2", "a#b", "a#0"],
    )
    assert found == [["greedy", "greedy", "x", "#2", "a#b", "a#0"], ["0", "−2", "12"]]


def test_the_page_and_the_server_give_maps_the_same_titles(empty: BrowserArena, page: Page) -> None:
    names = [*list_built_in_map_names(), "ring:8", "islands", "ab12"]
    page.goto(f"{empty.url}play")
    found = page.evaluate(
        """async (names) => {
          const { mapTitle } = await import(new URL('text.js', document.querySelector('script[type=module]').src).href);
          return names.map(mapTitle);
        }""",
        names,
    )
    assert found == [make_map_title(name) for name in names]
