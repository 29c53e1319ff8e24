"""Analysis: moves of one's own from any ply and back to the match, and what an engine of the house thinks of a position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from arena.protocol.record import to_line
from testkit.browser import Arena, arena
from tests.web.screenshots import made_up


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server where guests may play the house."""
    with arena(tmp_path_factory.mktemp("explorer"), private=False) as running:
        yield running


@pytest.fixture
def shown(served: Arena, page: Page, tmp_path: Path) -> Page:
    file = tmp_path / "one.jsonl"
    file.write_text(to_line(made_up("path4")) + "\n", encoding="utf-8")
    page.goto(f"{served.url}#/file")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("slider").fill("2")
    expect(page.locator(".told")).to_contain_text("Ply 2,")
    return page


def test_moves_of_ones_own_are_tried_and_the_match_is_as_it_was(shown: Page) -> None:
    owners = "() => [...document.querySelectorAll('.map .spot')].map((each) => each.querySelector('title').textContent)"
    before = shown.evaluate(owners)
    shown.get_by_role("button", name="Try moves").click()
    expect(shown.locator(".told")).to_have_text("Your own moves from ply 2: Maxie to move")
    for ply in (3, 4):
        shown.locator("[data-source]").first.click()
        shown.locator("[data-target]").first.click()
        expect(shown.locator(".told")).to_contain_text(f"Your own line, ply {ply}:")
    shown.get_by_role("button", name="Take back").click()
    expect(shown.locator(".told")).to_contain_text("Your own line, ply 3:")
    shown.get_by_role("button", name="Back to the match").click()
    expect(shown.locator(".told")).to_contain_text("Ply 2,")
    assert shown.evaluate(owners) == before
    expect(shown.locator("[data-source]")).to_have_count(0)
    shown.get_by_role("button", name="Try moves").click()
    shown.get_by_role("button", name="One on").click()
    expect(shown.locator(".told")).to_contain_text("Ply 3,")


def test_the_focus_stays_on_the_map_after_a_move_by_keys(shown: Page) -> None:
    shown.get_by_role("button", name="Try moves").click()
    shown.locator("[data-source]").first.focus()
    shown.keyboard.press("Enter")
    target = shown.locator("[data-target]").first
    number = target.get_attribute("data-spot")
    target.focus()
    shown.keyboard.press("Enter")
    expect(shown.locator(".told")).to_contain_text("Your own line, ply 3:")
    expect(shown.locator(f".spot[data-spot='{number}']")).to_be_focused()


def test_an_engine_says_what_it_thinks_and_its_line_is_followed(shown: Page) -> None:
    shown.get_by_role("button", name="Ask the engine").click()
    told = shown.locator(".explorer [role=status]")
    expect(told).to_have_text(
        re.compile(r"alphabeta, \d plies: value .*→.*By the table of the map"), use_inner_text=True
    )
    first = re.search(r": ([^:,]+ → [^,.]+)", told.inner_text())
    assert first is not None
    shown.get_by_role("button", name="Follow its line").click()
    expect(shown.locator(".told")).to_have_text(f"Your own line, ply 3: {first[1]}")


def test_nobody_is_advised_while_playing(served: Arena, page: Page) -> None:
    page.goto(f"{served.url}#/play/house-greedy")
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator("[data-source]").first).to_be_visible()
    expect(page.locator(".explorer")).to_be_hidden()
