"""The semester in small on the page: the Swiss, the bracket of the final, and the table of the closed season."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from testkit.browser import run_arena
from tests.server.test_semester import FINALISTS, compute_swiss_table, find_champion, load_or_play_week


def test_a_week_of_owners_is_on_the_page_as_it_was_played(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Page
) -> None:
    with ThreadPoolExecutor(1) as thread:  # the browser's event loop runs in this one
        week = thread.submit(load_or_play_week, run_folder, tmp_path, monkeypatch).result()
    points = compute_swiss_table(week.swiss, list(week.weekly["bots"]), week.left)
    with run_arena(tmp_path) as running:
        rows = page.locator("table.standing tbody tr")
        page.goto(f"{running.url}event/weekly")
        expect(rows).to_have_count(len(points))
        columns = page.locator("table.standing thead th").all_inner_texts()
        at = [columns.index(word) for word in ("Points", "Buchholz")]
        for row in rows.all():
            cells = row.locator("th, td").all_inner_texts()
            bot = row.get_by_role("rowheader").inner_text()
            assert tuple(float(cells[n]) for n in at) == points[bot]
        expect(page.get_by_role("heading", name="Bracket")).to_have_count(0)

        page.goto(f"{running.url}event/final")
        expect(rows).to_have_count(FINALISTS)
        best = find_champion(week.knockout, list(week.final["bots"]))
        expect(page.get_by_text("Champion:")).to_contain_text(best)
        expect(rows.first).to_contain_text("champion")
        expect(rows.first.get_by_role("rowheader")).to_contain_text(best)
        expect(page.get_by_role("heading", name="Bracket")).to_be_visible()
        expect(page.locator(".bracket li strong")).to_have_count(FINALISTS - 1)
        expect(page.get_by_role("link", name="CSV")).to_have_attribute("href", "/api/table.csv?event=final")
        page.get_by_text("Elo", exact=True).click()
        strengths = page.get_by_role("region", name="Elo").get_by_role("cell")
        expect(strengths.filter(has_text=re.compile("^−[0-9]+$"))).not_to_have_count(0)

        page.goto(f"{running.url}embed/event/final")
        expect(rows.first).to_contain_text("champion")
        expect(page.get_by_role("link", name="Play")).to_have_count(0)
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Open in Riskless Arena").click()
        opened.value.wait_for_url("**/event/final")
        opened.value.close()

        page.goto(f"{running.url}table")
        page.get_by_label("Season").select_option("autumn")
        for bot in points:
            expect(page.get_by_role("rowheader", name=bot, exact=True)).to_be_visible()
