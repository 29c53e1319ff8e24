"""Makes the pictures of the page: `python -m tests.web.screenshots FOLDER`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.web.arena import Arena, arena, chromium, wait

TABLET = {"width": 1180, "height": 800}
PHONE = {"width": 390, "height": 780}


def main(folder: Path) -> None:
    """Take them all."""
    expect.set_options(timeout=90_000)
    with tempfile.TemporaryDirectory(prefix="arena-") as work, chromium() as browser:
        with arena(Path(work), "--map", "world", "--tc", "0.3/move", bots=("alphabeta", "greedy")) as running:
            running.bot("random", "marvin")
            live(running, browser, folder)
            wait(lambda: len(running.ask("records")["matches"]) >= 3, seconds=240)
            for name, address, sign in (
                ("start", "", ".card.live"),
                ("table", "#/table", "table.cross"),
                ("bot", "#/bot/greedy", ".card"),
            ):
                page = view(browser, TABLET, f"{running.url}{address}")
                expect(page.locator(sign).first).to_be_visible()
                shoot(page, folder / f"page-{name}.png")
        with arena(Path(work), "--challenges-only", "--map", "usa", bots=("greedy",)) as running:
            play(running, browser, folder)


def view(browser: Browser, size: dict[str, int], address: str, scheme: str = "light") -> Page:
    """A page of this size at an address."""
    page = browser.new_page(
        viewport={"width": size["width"], "height": size["height"]},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page.goto(address)
    return page


def live(running: Arena, browser: Browser, folder: Path) -> None:
    """A match in progress, on a tablet and in the dark on a phone."""
    page = view(browser, TABLET, running.url)
    page.locator(".card.live").first.click()
    expect(page.locator(".moves li").nth(15)).to_be_visible()
    address = page.url
    shoot(page, folder / "page-live.png")
    phone = view(browser, PHONE, address, "dark")
    expect(phone.locator(".moves li").nth(3)).to_be_visible()
    shoot(phone, folder / "page-phone.png")


def play(running: Arena, browser: Browser, folder: Path) -> None:
    """A person's move, its targets shown."""
    page = view(browser, TABLET, running.url)
    page.get_by_role("link", name="Play against greedy").click()
    page.get_by_label("Map").select_option("usa")
    page.get_by_role("button", name="Start the match").click()
    for _ in range(3):
        page.locator("[data-source]").first.click()
        page.locator("[data-target]").last.click()
        expect(page.locator("[data-source]").first).to_be_visible()
    page.locator("[data-source]").last.click()
    shoot(page, folder / "page-play.png")


def shoot(page: Page, file: Path) -> None:
    """Take one picture."""
    page.wait_for_timeout(400)
    page.screenshot(path=file)
    page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
