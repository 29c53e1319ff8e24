"""The page of an event: what its format adds to the table, and the bracket of a knockout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, expect

from testkit.browser import arena


def test_a_knockout_has_its_champion_and_its_bracket_and_a_swiss_its_points(
    tmp_path: Path, page: Page
) -> None:
    bots = [word for name in ("greedy", "random", "minimax:depth=2") for word in ("--bot", name)]
    for format in ("knockout", "swiss"):
        words = ("ladder", "--game", "tictactoe", "--tc", "60/move", "--rounds", "1", "--format", format)
        command = [
            sys.executable,
            "-m",
            "arena",
            *words,
            "--event",
            format,
            "--db",
            "sqlite:///arena.db",
            *bots,
        ]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with arena(tmp_path) as running:
        page.goto(f"{running.url}event/knockout")
        rows = page.locator("table.standing tbody tr")
        expect(rows.first).to_contain_text("champion")
        expect(page.get_by_role("heading", name="Bracket")).to_be_visible()
        expect(page.locator("section li strong")).to_have_count(2)
        expect(page.get_by_text("Champion:")).to_contain_text(
            rows.first.get_by_role("rowheader").inner_text()
        )
        expect(page.get_by_role("link", name="CSV")).to_have_attribute(
            "href", "/api/table.csv?event=knockout"
        )
        page.goto(f"{running.url}event/swiss")
        expect(page.get_by_role("columnheader", name="Buchholz")).to_be_visible()
        expect(page.get_by_role("heading", name="Bracket")).to_have_count(0)
        page.goto(f"{running.url}embed/event/knockout")
        expect(rows.first).to_contain_text("champion")
        expect(page.get_by_role("link", name="Play")).to_have_count(0)
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Open in Riskless Arena").click()
        opened.value.wait_for_url("**/event/knockout")
        opened.value.close()
