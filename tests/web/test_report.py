"""The report of a ladder in a browser, as wide as a telephone."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from arena.ladder.reports.html_report import render_report
from tests.ladder.reports.test_html_report import ladder


def test_the_window_never_scrolls_sideways_and_a_table_keeps_its_names(page: Page) -> None:
    page.set_content(render_report(ladder(), ()))
    page.locator("summary").first.click()
    expect(page.locator("pre:visible")).to_have_count(1)
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        moved = page.evaluate(
            """() => [...document.querySelectorAll('.scroll')].map((box) => {
                box.scrollLeft = 10000;
                const at = box.getBoundingClientRect();
                return [...box.querySelectorAll('td:first-child')].every((cell) =>
                    cell.getBoundingClientRect().left >= at.left - 1 && cell.getBoundingClientRect().right <= at.right + 1);
            })"""
        )
        assert moved, width
        assert all(moved), width
