"""What the page costs a browser: the first view, armies that travel, and many live boards at once.

    first    bytes over the wire, and the time until matches and bots are there
    slow     the same on a slow network (400 ms there and back, 400 kbit/s), which the browser itself imitates: the first that
             is painted, when a match is on the large board, and when that board is one that moves
    frames   how often a picture is drawn while armies travel on usa, as fast as they travel at all
    boards   the processor time that 30 live boards on the start page take from the browser, all its processes together

Example: python -m benchmarks.page first slow
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, Response

from arena.protocol.record import to_line
from testkit.browser import Arena, arena, chromium, wait
from tests.web.screenshots import made_up

LATENCY_MS = 400
BYTES_A_SECOND = 400_000 / 8
BOARDS = 30
BOARD_SECONDS = 20.0
MOVE_SECONDS = 1.0
"""What each bot of the live boards waits before a move."""
PAINTED = """() => performance.getEntriesByName('first-contentful-paint')[0].startTime"""
FRAMES = """async () => {
  const { MapBoard } = await import(new URL('boards/map.js', document.querySelector('script[type=module]').src).href);
  const { Match } = await import(new URL('match.js', document.querySelector('script[type=module]').src).href);
  const match = Match.fromRecord(window.record);
  const board = new MapBoard(match.game, () => null);
  document.querySelector('main').replaceChildren(board.element);
  await new Promise((ready) => setTimeout(ready, 1000));
  const gaps = [];
  let before = null;
  let going = true;
  const frame = (now) => {
    if (board.march.over !== null && before !== null) gaps.push(now - before);
    before = board.march.over === null ? null : now;
    if (going) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  for (let ply = 0; ply <= Math.min(40, match.moves.length); ply++) {
    board.show(match.positions[ply], ply ? match.moves[ply - 1].move : null, ply ? match.positions[ply - 1] : null);
    await new Promise((ready) => setTimeout(ready, 400));
  }
  going = false;
  return gaps;
}"""


def main() -> None:
    """Print what was asked for, or all."""
    parts: dict[str, Callable[[Browser, Path, int], None]] = {
        "first": first,
        "slow": slow,
        "frames": frames,
        "boards": boards,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; all unless named")
    parser.add_argument(
        "--loads", type=int, default=9, help="loads of the first view, each with an empty cache"
    )
    given = parser.parse_args()
    if unknown := set(given.parts) - set(parts):
        parser.error(f"there is no {', '.join(sorted(unknown))}: there are {', '.join(parts)}")
    with chromium() as browser:
        for name, measure in parts.items():
            if name in (given.parts or parts):
                with tempfile.TemporaryDirectory(prefix="arena-") as folder:
                    measure(browser, Path(folder), given.loads)


def first(browser: Browser, folder: Path, loads: int) -> None:
    """The first view without a bound on the network."""
    with arena(folder, "--tc", "1/move", bots=("random", "greedy")) as running:
        wait(lambda: running.ask("records")["matches"])
        found = [load(browser, running.url) for _ in range(loads)]
    seconds, sizes, counts = zip(*found, strict=True)
    print(f"first view, {loads} loads with an empty cache:")
    print(f"  {max(sizes) / 1000:.1f} kB over the wire at most, in {counts[0]} answers")
    print(f"  complete after {statistics.median(seconds):.2f} s (median), {max(seconds):.2f} s at most")


def load(browser: Browser, url: str) -> tuple[float, int, int]:
    """Seconds until matches and bots are on the page, bytes with their headers, and answers."""
    context = browser.new_context()
    page = context.new_page()
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108  playwright marks what it calls
    began = time.perf_counter()
    page.goto(url)
    page.locator(".bots .name").nth(1).wait_for()
    page.locator("main .card:not(.live)").first.wait_for()
    page.locator(".stage:not(.first) .map").wait_for()
    seconds = time.perf_counter() - began
    sizes = [each.request.sizes() for each in answers]
    size = sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes)
    context.close()
    return seconds, size, len(answers)


def slow(browser: Browser, folder: Path, loads: int) -> None:
    """The first view on a slow network."""
    painted, still, complete = [], [], []
    with arena(folder, "--tc", "1/move", bots=("random", "greedy")) as running:
        for _ in range(loads):
            context = browser.new_context()
            page = context.new_page()
            session = context.new_cdp_session(page)
            session.send("Network.enable")
            speed = {"downloadThroughput": BYTES_A_SECOND, "uploadThroughput": BYTES_A_SECOND}
            session.send(
                "Network.emulateNetworkConditions", {"offline": False, "latency": LATENCY_MS, **speed}
            )
            began = time.perf_counter()
            page.goto(running.url, wait_until="commit")
            page.locator(".stage .map").wait_for()
            still.append(time.perf_counter() - began)
            page.locator(".stage:not(.first) .map").wait_for()
            complete.append(time.perf_counter() - began)
            painted.append(page.evaluate(PAINTED) / 1000)
            context.close()
    print(f"first view at {LATENCY_MS} ms and 400 kbit/s, {loads} loads with an empty cache:")
    print(f"  painted after {statistics.median(painted):.2f} s (median), {max(painted):.2f} s at most")
    print(f"  a match on the large board after {statistics.median(still):.2f} s, {max(still):.2f} s at most,")
    print(f"  and one that moves after {statistics.median(complete):.2f} s, {max(complete):.2f} s at most")


def frames(browser: Browser, folder: Path, _loads: int) -> None:
    """How long each picture takes while armies travel on usa."""
    with arena(folder) as running:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{running.url}#/play")
        page.evaluate("(line) => { window.record = JSON.parse(line); }", to_line(made_up("usa")))
        gaps = page.evaluate(FRAMES)
        page.close()
    late = sum(gap > 1000 / 60 * 1.5 for gap in gaps)
    print(f"armies travel on usa, {len(gaps)} pictures:")
    print(
        f"  {1000 * len(gaps) / sum(gaps):.0f} a second; {late} came late; the longest took {max(gaps):.0f} ms"
    )


def boards(browser: Browser, folder: Path, _loads: int) -> None:
    """The processor time of a start page with many live boards, all of them in sight."""
    with arena(folder, "--map", "usa", "--tc", "20/move", "--set=pool.concurrency=40") as running:
        for number in range(6):
            running.dawdler(f"bot-{number}", MOVE_SECONDS, matches=10)
        page = browser.new_page(viewport={"width": 1440, "height": 2400})
        page.goto(running.url)
        drawn = page.locator(".small-board")
        wait(lambda: drawn.count() >= BOARDS)
        counted = partial(moves, running)
        before, share = counted(), busy(browser, page)
        rate = (counted() - before) / BOARD_SECONDS
        print(f"{drawn.count()} live boards of usa in sight, {rate:.1f} moves a second in all:")
        page.evaluate("document.querySelector('.cards.boards').style.display = 'none'")
        alone = busy(browser, page)
        print(
            f"  {share - alone:.1%} of one core for them, in all processes of the browser, drawn without a graphics card;"
        )
        print(
            f"  {share:.1%} with the rest of the start page, on whose large board one of the matches is played"
        )


def moves(running: Arena) -> int:
    """The moves that the server has taken so far."""
    with urllib.request.urlopen(f"{running.url}metrics") as answer:  # noqa: S310  our own server
        found = re.search(
            r"^arena_move_seconds_count(?:\{.*\})? ([0-9.e+]+)$", answer.read().decode(), re.MULTILINE
        )
    if found is None:
        raise ValueError("the server's metrics have no arena_move_seconds")
    return int(float(found[1]))


def busy(browser: Browser, page: Page) -> float:
    """Which share of one core the browser takes, over some seconds."""
    began, before = time.perf_counter(), processor(browser)
    page.wait_for_timeout(BOARD_SECONDS * 1000)
    return (processor(browser) - before) / (time.perf_counter() - began)


def processor(browser: Browser) -> float:
    """Seconds of processor time that the browser's processes have taken."""
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    return float(sum(each["cpuTime"] for each in found["processInfo"]))


if __name__ == "__main__":
    main()
