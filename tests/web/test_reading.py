"""Tables and bots' pages, and every view looked at by axe."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect

from testkit.browser import Arena, new_context

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
SCHEMES: dict[Literal["dark", "light"], list[str]] = {"dark": ["color-contrast"], "light": []}
"""The rules of axe that are tried in each colour scheme; all where none is named."""


def test_the_table_and_the_page_of_a_bot(played: Arena, page: Page) -> None:
    page.goto(f"{played.url}#/table")
    standing = page.locator("table.standing").first
    expect(standing.locator("tbody tr")).to_have_count(2)
    expect(standing.locator(".rating-bar").first).to_have_attribute(
        "aria-label", re.compile(r"^\d+ plus or minus \d+$")
    )
    expect(page.locator("table.cross tbody tr")).to_have_count(2)
    page.get_by_role("link", name="serve").click()
    expect(page.get_by_role("heading", name="serve", exact=True)).to_be_visible()
    expect(page.locator("table.standing tbody tr")).to_have_count(2)
    page.locator("table.standing").get_by_role("link", name="greedy").click()
    expect(page.get_by_role("heading", name="By map and side")).to_be_visible()
    expect(page.locator(".card").first).to_be_visible()


def test_axe_finds_nothing_serious(played: Arena, browser: Browser) -> None:
    # axe is put into the page from outside, which the page's own policy rightly forbids
    context = new_context(browser, bypass_csp=True)
    page = context.new_page()
    match = played.ask("records")["matches"][-1]["match"]
    views = {
        "": ".card",
        f"match/{match}/3": ".map",
        f"embed/{match}/3": ".map",
        "play": "form",
        "table": "table.cross",
        "event/serve": "table.cross",
        "bot/greedy": ".card",
        "versus/greedy/random": "meter",
        "search?map=path4": ".card",
        "maps": ".maps svg",
        "maps/path4": "table",
        "file": "input",
    }
    for address, sign in views.items():
        page.goto(f"{played.url}{address}")
        expect(page.locator(sign).first).to_be_visible()
        blameless(page, address)
        for dialog in ("Rules", "Settings") if address == "file" else ():
            page.get_by_role("button", name=dialog).click()
            expect(page.get_by_role("dialog")).to_be_visible()
            blameless(page, dialog)
            page.keyboard.press("Escape")
    page.goto(f"{played.url}play/greedy")
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator("[data-source]").first).to_be_visible()
    page.locator("[data-source]").first.click()
    blameless(page, "a match of one's own")
    context.close()


LOOK = """(rules) => axe.run({ resultTypes: ['violations'], ...rules.length && { runOnly: rules } })
  .then((done) => done.violations)"""


def blameless(page: Page, what: str) -> None:
    """axe finds nothing serious in what is shown, in light colours; in dark ones, which change nothing else, by contrast."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for scheme, rules in SCHEMES.items():
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate(LOOK, rules)
        bad = [
            (each["id"], [node["html"] for node in each["nodes"]][:3], each["nodes"][0]["failureSummary"])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert not bad, (what, scheme, bad)


def test_a_further_process_of_a_bot_leads_to_the_bot_and_no_number_is_minus_nothing(
    played: Arena, page: Page
) -> None:
    page.goto(played.url)
    found = page.evaluate(
        """async (names) => {
          const { botOf, whole } = await import(new URL('text.js', document.querySelector('script[type=module]').src).href);
          return [names.map(botOf), [-0.3, -1.6, 12.4].map(whole)];
        }""",
        ["greedy", "greedy#2", "x#10", "#2", "a#b", "a#0"],
    )
    assert found == [["greedy", "greedy", "x", "#2", "a#b", "a#0"], ["0", "-2", "12"]]
