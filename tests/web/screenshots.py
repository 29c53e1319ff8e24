"""Makes the pictures of the page: `python -m tests.web.screenshots FOLDER`.

page-live.png is for the README, and film-tv.webp is some seconds of Arena TV. looks-*.webp show each
view in windows of eight sizes, light and dark, on one sheet. With --all there is also every built-in map in each of these looks,
to look at. The pictures for the guides have 256 colours at the most.

Example: python -m tests.web.screenshots docs/pictures --only start own
"""

from __future__ import annotations

import argparse
import base64
import io
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect

from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import list_built_in_map_names
from arena.protocol.codes import EndReason
from arena.protocol.record import RECORD_FORMAT, Record, RecordedMove, Result, format_record_line
from arena.protocol.values import Players, Thinking
from arena.server.web.initial_page import DEMO_MATCH_FILE
from testkit.browser import BrowserArena, open_chromium, run_arena, wait_until

TABLET = {"width": 1180, "height": 800}
SIZES = {
    "1920": (1920, 1080),
    "1440": (1440, 900),
    "390": (390, 780),
    "360": (360, 640),
    "1280": (1280, 720),
    "1024": (1024, 768),
    "844": (844, 390),
    "768": (768, 1024),
}
"""Sizes of a window, in the order of a sheet: so they fill two rows for each colour scheme."""
LOOKS = {
    f"{name}-{scheme}": ({"width": width, "height": height}, scheme)
    for scheme in ("light", "dark")
    for name, (width, height) in SIZES.items()
}
PATIENCE_MS = 300_000
SHRUNK = 0.5
"""How large a picture is on a sheet."""
GAP = 8
SHEET_WIDTH = round(SHRUNK * sum(SIZES[name][0] for name in ("1920", "1440", "390", "360"))) + 5 * GAP


@dataclass(frozen=True)
class View:
    """A view of the page: its address, what is there when it is complete, and what is done to it before the picture.

    complete: waits for all that is in sight, before each picture
    below: what is scrolled to, for it lies below what one sees first
    leave: what is done after the picture
    """

    name: str
    address: str
    sign: str
    prepare: Callable[..., object] = lambda _page: None
    complete: Callable[[Page], object] = lambda _page: None
    below: str = ""
    leave: Callable[[Page], object] = lambda _page: None


OWN_MOVES = (
    ("Liguria", "Piedmont"),
    ("Apulia", "Campania"),
    ("Campania", "Molise"),
    ("Apulia", "Molise"),
    ("Campania", "Lazio"),
    ("Apulia", "Basilicata"),
)
"""Moves on italy after which both sides are about even."""


MARVIN = """
import random
import time

from arena.bots.engines.simple import GreedyBot


class Marvin(GreedyBot):
    def choose(self, position, clock):
        time.sleep(0.6)
        return random.choice(self.game.moves(position)) if random.random() < 0.1 else super().choose(position, clock)
"""
"""Greedy bot that waits 0.6 s before each move and plays a random move in ten."""


def boards_are_drawn(page: Page) -> None:
    page.locator(".card.live .tug-bar:not([data-unknown])").first.wait_for()
    page.wait_for_function("""() => [...document.querySelectorAll('.card.live')].every((card) => {
        const board = card.querySelector('.small-board');
        const [{ top }, { bottom }] = [card, card.closest('.cards')].map((each) => each.getBoundingClientRect());
        const isInView = card.checkVisibility() && top < Math.min(innerHeight, bottom) - 8;
        return !isInView || board && card.querySelector('.tug-bar:not([data-unknown])')
            && board.getContext('2d').getImageData(0, 0, board.width, board.height).data.some((each) => each > 0);
    })""")


def rows_are_complete(page: Page) -> None:
    page.wait_for_function("""() => [...document.querySelectorAll('.rows .card')].slice(0, 16).every((row) => (
        row.getBoundingClientRect().top > innerHeight + 300 || row.querySelector('.final-score > *')))""")


def maps_are_drawn(page: Page) -> None:
    page.wait_for_function(
        """() => [...document.querySelectorAll('.choice .picture-of')].every((each) => each.querySelector('.small-board'))"""
    )


def opened(page: Page, file: Path) -> None:
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("slider").fill("9")
    page.get_by_role("slider").blur()


def analysed(page: Page, file: Path) -> None:
    opened(page, file)
    page.get_by_role("button", name="Try your own moves").click()
    page.locator("[data-source]").first.click()


def reviewed(page: Page, **_random: Path) -> None:
    """Show a review of the built-in match. A review of random moves would say little."""
    opened(page, DEMO_MATCH_FILE)
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_text("accuracy").first.wait_for()
    page.evaluate("scrollTo(0, 0)")


def begun(page: Page) -> None:
    """Play some moves against the house, whose replies are always the same, and choose a territory for the next one."""
    page.get_by_role("button", name="Start the match").click()
    for number, names in enumerate(OWN_MOVES, 1):
        for name, choice in zip(names, ("source", "target"), strict=True):
            page.locator(f"[data-{choice}][aria-label^='{name}:']").dispatch_event("click")
        expect(page.locator(".moves li")).to_have_count(2 * number)
    page.locator("[data-source][aria-label^='Umbria:']").dispatch_event("click")


def resigned(page: Page) -> None:
    """End the match: the house has few places."""
    page.get_by_role("button", name="Resign", exact=True).click()
    page.get_by_role("button", name="Yes, resign").click()
    page.get_by_role("button", name="Rematch").wait_for()


def pressed(name: str) -> Callable[[Page], object]:
    return lambda page: page.get_by_role("button", name=name).click()


def by_name(*views: View) -> dict[str, View]:
    return {each.name: each for each in views}


BUSY = by_name(
    View("start", "", ".stage:not(.first) .map", complete=boards_are_drawn),
    View("cards", "", ".card.live", complete=boards_are_drawn, below=".card.live"),
    View("tv", "tv", ".stage .map"),
    View("boards", "tv/4", ".stage .map"),
    View("embed", "embed/{match}/12", ".map .area-of"),
    View("table", "table", "table.cross", complete=rows_are_complete),
    View("event", "event/serve", "table.standing", complete=rows_are_complete),
    View("bot", "bot/greedy", ".rows .card", complete=rows_are_complete),
    View("versus", "versus/greedy/marvin", ".rows .card", complete=rows_are_complete),
    View("search", "search?bot=greedy", ".rows .card", complete=rows_are_complete),
    View("maps", "maps", ".maps svg"),
    View("map", "maps/usa", ".mini-board svg"),
    View(
        "share",
        "match/{match}/12",
        ".map .area-of",
        lambda page: page.get_by_text("Share", exact=True).click(),
    ),
    View("replay", "match/{match}/{late}", ".map .area-of"),
    View("rules", "table", "table", pressed("Rules")),
    View("comfort", "table", "table", pressed("Settings")),
)
"""Views of a server on which matches are played."""
QUIET = by_name(
    View("empty", "", ".stage:not(.first) .map"),
    View("form", "play", ".mini-board .area-of", maps_are_drawn),
    View("me", "me", ".lone > form"),
    View("host", "host", ".lone > form"),
    View("own", "play/house-greedy", "form", begun, leave=resigned),
    View("usa", "file", "input", opened),
    View("analysis", "file", "input", analysed),
    View("review", "file", "input", reviewed),
    View("file", "file", ".drop", lambda _page, **_given: None),
    View("join", "join/{invitation}", ".lone form"),
)
"""Those of one to which no bot is connected but its own; `file` is given a record."""
FILM: ViewportSize = {"width": 1100, "height": 640}
FILM_MS = 250
FILM_FROM_MS = 15_000
"""So far into a match, armies begin to meet."""
FILM_PICTURES = 80
NAMES = ("film-tv", "page-live", *BUSY, *QUIET)


def main() -> None:
    """Take them all, or those that are named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=sorted(NAMES), help=f"of {', '.join(NAMES)}"
    )
    parser.add_argument("--all", action="store_true", help="every built-in map in every look, too")
    given = parser.parse_args()
    wanted = set(given.only or NAMES)
    expect.set_options(timeout=PATIENCE_MS)
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="arena-") as work, open_chromium() as browser:
        folder = Path(work)
        if "film-tv" in wanted:
            (folder / "film").mkdir()
            with run_arena(folder / "film", "--map", "world", "--tc", "60/move") as running:
                for name, depth in (("Boudica", 4), ("Sun-Tzu", 3)):
                    running.connect_bot(f"alphabeta:depth={depth}", name)
                film(running, browser, given.folder)
        if wanted & {"page-live", *BUSY}:
            with run_arena(
                folder, "--map", "world,italy,usa,poland", "--tc", "60/move", "--set=pool.concurrency=8"
            ) as running:
                for engine in ("alphabeta:depth=4", "greedy"):
                    running.connect_bot(engine, max_matches=4)
                file = folder / "marvin.py"
                file.write_text(MARVIN)
                running.connect_bot(str(file), "marvin", max_matches=8)
                played(running, browser, given.folder, wanted)
        if given.all or wanted & {*QUIET}:
            (folder / "quiet").mkdir()
            with run_arena(folder / "quiet", "--set=pool.matchmaker=false", is_private=False) as running:
                quiet(running, browser, given.folder, folder, wanted)
                if given.all:
                    maps(running, browser, given.folder)


def played(running: BrowserArena, browser: Browser, folder: Path, wanted: set[str]) -> None:
    """Show a server with matches in progress."""
    if "page-live" in wanted:
        live(running, browser, folder)
    wait_until(lambda: len(running.fetch_json("records")["matches"]) >= 3, timeout_seconds=240)
    wait_until(lambda: len(running.fetch_json("table")["standings"]) == 3, timeout_seconds=240)
    longest = max(running.fetch_json("records")["matches"], key=lambda each: each["plies"])
    late = 3 * longest["plies"] // 4  # most of its graph is drawn by then
    for each in BUSY.values():
        if each.name in wanted:
            address = each.address.format(match=longest["match"], late=late)
            sheet(running, browser, replace(each, address=address), folder)


def quiet(running: BrowserArena, browser: Browser, folder: Path, work: Path, wanted: set[str]) -> None:
    """Show a server to which only its own bots are connected."""
    file = work / "usa.jsonl"
    file.write_text(format_record_line(made_up("usa")) + "\n", encoding="utf-8")
    told = running.run_command("invite", "ada", "--bots", "2", "--url", running.url)
    invitation = told.partition("/join/")[2].split()[0]
    for each in QUIET.values():
        if each.name in wanted:
            prepare = partial(each.prepare, file=file) if each.address == "file" else each.prepare
            address = each.address.format(invitation=invitation)
            sheet(running, browser, replace(each, address=address, prepare=prepare), folder)


def view(browser: Browser, size: dict[str, int], address: str, scheme: str = "light") -> Page:
    """A page of this size at an address."""
    page = browser.new_page(
        viewport={"width": size["width"], "height": size["height"]},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address)
    return page


def live(running: BrowserArena, browser: Browser, folder: Path) -> None:
    """A match in progress, on a tablet."""
    page = view(browser, TABLET, f"{running.url}table")
    page.evaluate("document.fonts.ready.then(() => null)")  # the next view has the page's own font
    page.goto(running.url)
    page.locator(".card.live", has_text="alphabeta").filter(has_text="marvin").first.click()
    expect(page.locator(".moves li").nth(15)).to_be_visible()
    page.keyboard.press("End")
    shoot(page, folder / "page-live.png")


def film(running: BrowserArena, browser: Browser, folder: Path) -> None:
    """Arena TV, on a page whose time goes on from picture to picture, so that each is as late as it says."""
    page = browser.new_page(viewport=FILM)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{running.url}table")
    page.evaluate("document.fonts.ready.then(() => null)")  # the next view has the page's own font
    page.clock.install()
    page.goto(f"{running.url}tv")
    expect(page.locator(".stage .map .spot[data-owner=maxie]").first).to_be_visible()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.clock.run_for(FILM_FROM_MS)
    pictures: list[Image.Image] = []
    for _ in range(FILM_PICTURES):
        page.clock.run_for(FILM_MS)
        pictures.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    page.close()
    pictures[0].save(
        folder / "film-tv.webp",
        save_all=True,
        append_images=pictures[1:],
        duration=FILM_MS,
        loop=0,
        quality=45,
    )


def sheet(running: BrowserArena, browser: Browser, shown: View, folder: Path) -> None:
    """Draw one view in every theme and size, in one picture."""
    pictures = []
    size, scheme = LOOKS["1440-light"]
    page = view(browser, size, f"{running.url}{shown.address}", scheme)
    expect(page.locator(shown.sign).first).to_be_visible()
    shown.prepare(page)
    page.evaluate("document.fonts.ready.then(() => null)")
    for look, (size, scheme) in LOOKS.items():
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        if shown.below:
            page.locator(shown.below).first.evaluate("(found) => found.scrollIntoView({ block: 'center' })")
        page.wait_for_timeout(400)
        shown.complete(page)
        data = base64.b64encode(page.screenshot(type="png")).decode()
        width = round(size["width"] * SHRUNK)
        pictures.append(f'<img alt="{look}" width="{width}" src="data:image/png;base64,{data}">')
    shown.leave(page)
    page.close()
    page = browser.new_page(viewport={"width": SHEET_WIDTH, "height": 100})
    style = (
        f"body{{margin:{GAP}px;display:flex;flex-wrap:wrap;gap:{GAP}px;align-items:start;background:#888}}"
    )
    page.set_content(f"<style>{style}</style>{''.join(pictures)}", wait_until="load")
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    picture.save(folder / f"looks-{shown.name}.webp", quality=60, method=6)
    page.close()


def maps(running: BrowserArena, browser: Browser, folder: Path) -> None:
    """Every built-in map in every look, in the middle of a match."""
    for name in list_built_in_map_names():
        file = folder / f"{name}.jsonl"
        file.write_text(format_record_line(made_up(name)) + "\n", encoding="utf-8")
        for look, (size, scheme) in LOOKS.items():
            page = view(browser, size, f"{running.url}file", scheme)
            page.locator("input[type=file]").set_input_files(file)
            expect(page.locator(".viewer .map")).to_be_visible()
            page.get_by_role("slider").fill("9")
            shoot(page, folder / f"all-map-{name}-{look}.png")
        file.unlink()


def made_up(map_name: str = "", game_name: str = "riskless") -> Record:
    """A match of random moves, on a map if the game has maps, as its record."""
    game, chance = make_game_on_map(game_name, map_name), random.Random(7)
    position = game.start()
    moves: list[RecordedMove] = []
    while game.outcome(position) is None and len(moves) < 60:
        move = chance.choice(game.moves(position))
        position = game.play(position, move)
        thinking = Thinking(depth=5, value=float(chance.randrange(-900, 900)), nodes=70_000)
        moves.append(RecordedMove(game.move_to_data(move), 21.5, thinking=thinking))
    return Record(
        format=RECORD_FORMAT,
        match="m" * 32,
        event="Autumn cup",
        game=game_name,
        setup=game.setup(),
        players=Players("ada", "bob"),
        time_control="10+0.1",
        started="2026-11-20T12:00:00Z",
        moves=moves,
        result=Result("maxie", EndReason.RESIGNATION, ""),
    )


def shoot(page: Page, file: Path) -> None:
    """Take one picture."""
    page.evaluate("document.fonts.ready.then(() => null)")
    page.wait_for_timeout(400)
    keep(page.screenshot(), file)
    page.close()


def keep(picture: bytes, file: Path) -> None:
    """Write a picture with so many colours that nobody misses one, in a third of the bytes."""
    reduced = Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    reduced.save(file, optimize=True)


if __name__ == "__main__":
    main()
