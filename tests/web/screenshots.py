"""Makes the pictures of the page: `python -m tests.web.screenshots FOLDER`.

With --all also every shipped map and each view in light and dark, on a phone and on a projector, to look at.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from maps.loader import map_names
from maps.setup import make_setup
from protocol.codes import EndReason
from protocol.record import FORMAT, Record, RecordedMove, Result, to_line
from protocol.values import Players, Thinking
from testkit.browser import Arena, arena, chromium, wait

TABLET = {"width": 1180, "height": 800}
PHONE = {"width": 390, "height": 780}
PROJECTOR = {"width": 1920, "height": 1080}
LOOKS = {
    "light": (TABLET, "light"),
    "dark": (TABLET, "dark"),
    "phone": (PHONE, "light"),
    "projector": (PROJECTOR, "dark"),
}


def main() -> None:
    """Take them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="every view in every look, and every map")
    given = parser.parse_args()
    expect.set_options(timeout=90_000)
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="arena-") as work, chromium() as browser:
        folder = Path(work)
        with arena(folder, "--map", "world", "--tc", "0.3/move", bots=("alphabeta", "greedy")) as running:
            running.bot("random", "marvin")
            live(running, browser, given.folder)
            wait(lambda: len(running.ask("records")["matches"]) >= 3, seconds=240)
            views(running, browser, given.folder, every=given.all)
        with arena(folder, "--challenges-only", private=False) as running:
            play(running, browser, given.folder)
            if given.all:
                maps(running, browser, given.folder)


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
    page.locator(".card.live", has_text="alphabeta").first.click()
    expect(page.locator(".moves li").nth(15)).to_be_visible()
    address = page.url
    shoot(page, folder / "page-live.png")
    phone = view(browser, PHONE, address, "dark")
    expect(phone.locator(".moves li").nth(3)).to_be_visible()
    shoot(phone, folder / "page-phone.png")


def views(running: Arena, browser: Browser, folder: Path, *, every: bool) -> None:
    """The start page, a table, and a bot's page."""
    match = running.ask("records")["matches"][-1]["match"]
    for name, address, sign in (
        ("start", "", ".card.live"),
        ("table", "#/table", "table.cross"),
        ("bot", "#/bot/greedy", ".card"),
        ("event", "#/table/serve", "table.standing"),
        ("replay", f"#/match/{match}/12", ".map"),
        ("form", "#/play", "form"),
    ):
        plain = name in ("start", "table", "bot")
        for look, (size, scheme) in LOOKS.items() if every else {"light": LOOKS["light"]}.items():
            if not (every or plain):
                continue
            page = view(browser, size, f"{running.url}{address}", scheme)
            expect(page.locator(sign).first).to_be_visible()
            shoot(
                page, folder / (f"page-{name}.png" if look == "light" and plain else f"all-{name}-{look}.png")
            )


def play(running: Arena, browser: Browser, folder: Path) -> None:
    """A person's move against the house, its targets shown."""
    page = view(browser, TABLET, running.url)
    page.get_by_role("link", name="Play against house-greedy").click()
    page.get_by_label("Map").select_option("usa")
    page.get_by_role("button", name="Start the match").click()
    for _ in range(3):
        page.locator("[data-source]").first.click()
        page.locator("[data-target]").last.click()
        expect(page.locator("[data-source]").first).to_be_visible()
    page.locator("[data-source]").last.click()
    shoot(page, folder / "page-play.png")


def maps(running: Arena, browser: Browser, folder: Path) -> None:
    """Every shipped map in every look, in the middle of a match."""
    for name in map_names():
        file = folder / f"{name}.jsonl"
        file.write_text(to_line(made_up(name)) + "\n", encoding="utf-8")
        for look, (size, scheme) in LOOKS.items():
            page = view(browser, size, f"{running.url}#/file", scheme)
            page.locator("input[type=file]").set_input_files(file)
            expect(page.locator(".map")).to_be_visible()
            page.get_by_role("slider").fill("9")
            shoot(page, folder / f"all-map-{name}-{look}.png")
        file.unlink()


def made_up(name: str) -> Record:
    """A match of random moves on a map, as its record."""
    game, chance = make_setup("riskless", name), random.Random(7)
    position = game.start()
    moves: list[RecordedMove] = []
    while game.outcome(position) is None and len(moves) < 60:
        move = chance.choice(game.moves(position))
        position = game.play(position, move)
        thinking = Thinking(depth=5, value=float(chance.randrange(-900, 900)), nodes=70_000)
        moves.append(RecordedMove(game.move_to_data(move), 21.5, thinking=thinking))
    return Record(
        format=FORMAT,
        match="m" * 32,
        event="pictures",
        game="riskless",
        setup=game.setup(),
        players=Players("ada", "bob"),
        time_control="10+0.1",
        started="2026-11-20T12:00:00Z",
        moves=moves,
        result=Result("maxie", EndReason.RESIGNATION, ""),
    )


def shoot(page: Page, file: Path) -> None:
    """Take one picture."""
    page.wait_for_timeout(400)
    page.screenshot(path=file)
    page.close()


if __name__ == "__main__":
    main()
