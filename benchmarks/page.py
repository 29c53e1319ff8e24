"""Cost of the web pages for a browser: the first view, moving armies, and many live boards.

    first       first load of the start page: bytes over the network, and time until it shows matches and bots
    slow        the start page on a slow network that the browser simulates (round trip of 400 ms, 400 kbit/s): time of
                the first paint, time until the large board shows a match, and time until this board shows live moves
    frames      frame rate while armies move on the map usa at their highest speed, CPU time of the page's thread for
                each frame, and CPU time of all processes of the browser
    shift       layout shift of every view while bots play a hundred moves a second
    boards      CPU time of all processes of the browser for the live boards in sight on the start page, while at least
                25 matches are in progress
    lighthouse  four scores of Lighthouse on a phone and on a desktop, medians of three loads, with its simulated
                network and processor; needs the program: npm install --global lighthouse

Each part prints the load of the machine. A high load makes all times longer, except CPU times.

Example: python -m benchmarks.page first slow
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page, Response

from arena.protocol.record import format_record_line
from benchmarks.kit.results import make_argument_parser
from benchmarks.kit.running_server import fetch_move_time_histogram
from testkit.browser import MEASURE_LAYOUT_SHIFT_SCRIPT, BrowserArena, open_chromium, run_arena, wait_until
from testkit.tools import find_chromium as chromium_path
from testkit.tools import find_program
from tests.web.screenshots import made_up

SLOW_NETWORK_ROUND_TRIP_MS = 400
"""Round trip time of the simulated slow network, in ms."""
SLOW_NETWORK_BYTES_PER_SECOND = 400_000 / 8
"""Speed of the simulated slow network in each direction, in bytes per second."""
FIRST_VIEW_LOAD_COUNT = 9
"""Number of times that the start page is loaded, each time with an empty cache."""
MIN_LIVE_MATCHES = 25
"""Number of matches that must be in progress before live boards are measured. The bots play at most 30 in parallel."""
BOARD_MEASUREMENT_SECONDS = 20.0
"""Time over which the CPU time of the live boards is measured, in seconds."""
SECONDS_PER_MOVE = 1.0
"""Seconds that a bot pauses before each move while the live boards are measured."""
LAYOUT_SHIFT_MEASUREMENT_SECONDS = 30.0
"""Time for which the layout shift of a view is measured, in seconds."""
MAX_OPEN_VIEWS = 6
"""Maximum number of views that are open at the same time while their layout shift is measured."""
FRAME_DURATION_MS = 1000 / 60
"""Time from one frame of the screen to the next, in ms."""
TRACE_CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel"]
LIGHTHOUSE_CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
LIGHTHOUSE_RUNS_PER_VIEW = 3
VIEW_PATHS = [
    *("", "tv", "tv/4", "match/{match}", "embed/{match}", "play", "table", "event/serve", "bot/ann"),
    *("versus/ann/bob", "search?bot=ann", "maps", "maps/italy", "file", "me", "host"),
]
"""URL paths of all views of the website, with `{match}` for the id of a match.

The pages of a bot's owner (`me`) and of the host (`host`) are measured without signing in.
"""
FIRST_PAINT_SCRIPT = """() => performance.getEntriesByName('first-contentful-paint')[0].startTime"""
"""JavaScript function that returns the ms from the start of a page's loading to its first paint."""
SHOW_BOARD_SCRIPT = """async () => {
  const { MapBoard } = await import(new URL('boards/map.js', document.querySelector('script[type=module]').src).href);
  const { Match } = await import(new URL('match.js', document.querySelector('script[type=module]').src).href);
  const match = Match.fromRecord(window.record);
  const board = new MapBoard(match.game, () => null);
  document.querySelector('main').replaceChildren(board.element);
  board.show(match.positions[0], null, null);
  await new Promise((ready) => setTimeout(ready, 1000));
  window.marching = { board, match };
}"""
"""JavaScript function that shows the start position of the match `window.record` on a board, without the rest of the page."""
PLAY_MOVES_SCRIPT = """async () => {
  const { board, match } = window.marching;
  const gaps = [];
  let before = null;
  let going = true;
  const frame = (now) => {
    if (board.march.over !== null && before !== null) gaps.push(now - before);
    before = board.march.over === null ? null : now;
    if (going) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  for (let ply = 1; ply <= Math.min(40, match.moves.length); ply++) {
    board.show(match.positions[ply], match.moves[ply - 1].move, match.positions[ply - 1]);
    await new Promise((ready) => setTimeout(ready, 400));
  }
  going = false;
  return gaps;
}"""
"""JavaScript function that plays up to 40 moves of `window.marching.match` on its board, and returns the ms from frame to frame."""


def main() -> None:
    """Run the requested measurements, by default all, and print their results."""
    parts: dict[str, Callable[[Browser, Path], None]] = {
        "first": measure_first_page_load,
        "slow": measure_page_load_on_slow_network,
        "frames": measure_frame_times,
        "shift": measure_layout_shift,
        "boards": measure_live_board_cpu,
        "lighthouse": measure_lighthouse_scores,
    }
    parser = make_argument_parser(__doc__)
    parser.add_argument("parts", nargs="*", help=f"measurements to take, of {', '.join(parts)}; default: all")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(parts):
        parser.error(f"there is no {', '.join(sorted(unknown))}: there are {', '.join(parts)}")
    with open_chromium() as browser:
        for name, measure in parts.items():
            if name in (arguments.parts or parts):
                print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores:", flush=True)
                with tempfile.TemporaryDirectory(prefix="arena-") as folder:
                    measure(browser, Path(folder))


def measure_layout_shift(browser: Browser, server_folder: Path) -> None:
    """Measure and print the layout shift of all views on a desktop and on a phone."""
    print(
        f"layout shift in {LAYOUT_SHIFT_MEASUREMENT_SECONDS:.0f} s, with bots that play a hundred moves a second:"
    )
    with run_server_with_fast_bots(server_folder) as (running, match):
        addresses = [view.format(match=match) for view in VIEW_PATHS]
        largest_shift = 0.0
        for width, height in ((1280, 800), (390, 844)):
            for first in range(0, len(addresses), MAX_OPEN_VIEWS):
                pages = {}
                for address in addresses[first : first + MAX_OPEN_VIEWS]:
                    pages[address] = page = browser.new_page(viewport={"width": width, "height": height})
                    page.add_init_script(MEASURE_LAYOUT_SHIFT_SCRIPT)
                    page.goto(f"{running.url}{address}")
                page.wait_for_timeout(1000 * LAYOUT_SHIFT_MEASUREMENT_SECONDS)
                for address, page in pages.items():
                    shift = page.evaluate("shifted")
                    largest_shift = max(largest_shift, shift)
                    print(f"  {shift:.3f} on /{address} at {width} x {height}", flush=True)
                    page.close()
        print(f"  {largest_shift:.3f} at most")


@contextmanager
def run_server_with_fast_bots(server_folder: Path) -> Iterator[tuple[BrowserArena, str]]:
    """Run a server on which two bots play about 100 moves a second. Yield the server and the id of a finished match."""
    with run_arena(server_folder, "--map", "italy", "--tc", "9/move") as running:
        running.connect_slow_bot("ann", 0.01)
        running.connect_slow_bot("bob", 0.01)
        yield running, wait_until(lambda: running.fetch_json("records")["matches"], 600)[0]["match"]


def measure_first_page_load(browser: Browser, server_folder: Path) -> None:
    """Measure and print the size and the time of the start page, FIRST_VIEW_LOAD_COUNT times with an empty cache."""
    with run_arena(server_folder, "--tc", "1/move", bots=("random", "greedy")) as running:
        wait_until(lambda: running.fetch_json("records")["matches"])
        loads = [load_start_page(browser, running.url) for _ in range(FIRST_VIEW_LOAD_COUNT)]
    times = [load.seconds for load in loads]
    print(f"first view, {FIRST_VIEW_LOAD_COUNT} loads with an empty cache:")
    print(
        f"  {max(load.size_bytes for load in loads) / 1000:.1f} kB over the wire at most, in {loads[0].response_count} answers"
    )
    print(f"  complete after {statistics.median(times):.2f} s (median), {max(times):.2f} s at most")


class StartPageLoad(NamedTuple):
    """One load of the start page with an empty cache."""

    seconds: float
    """Time from the first request until the page shows matches and bots, in seconds."""
    size_bytes: int
    """Size of all HTTP responses of the load, with their headers, in bytes."""
    response_count: int


def load_start_page(browser: Browser, url: str) -> StartPageLoad:
    """Load the start page at `url` with an empty cache, and measure the load."""
    context = browser.new_context()
    page = context.new_page()
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108  playwright marks what it calls
    start_time = time.perf_counter()
    page.goto(url)
    page.locator(".bots .name").nth(1).wait_for()
    page.locator("main .card:not(.live)").first.wait_for()
    page.locator(".stage:not(.first) .map").wait_for()
    seconds = time.perf_counter() - start_time
    sizes = [response.request.sizes() for response in answers]
    size = sum(size_fields["responseBodySize"] + size_fields["responseHeadersSize"] for size_fields in sizes)
    context.close()
    return StartPageLoad(seconds, size, len(answers))


def measure_page_load_on_slow_network(browser: Browser, server_folder: Path) -> None:
    """Measure and print when the start page is painted and shows matches on a slow network, over FIRST_VIEW_LOAD_COUNT loads."""
    paint_times, board_times, live_times = [], [], []
    with run_arena(server_folder, "--tc", "1/move", bots=("random", "greedy")) as running:
        wait_until(lambda: running.fetch_json("records")["matches"])  # the first request starts a process
        for _ in range(FIRST_VIEW_LOAD_COUNT):
            context = browser.new_context()
            page = context.new_page()
            session = context.new_cdp_session(page)
            session.send("Network.enable")
            throughput = {
                "downloadThroughput": SLOW_NETWORK_BYTES_PER_SECOND,
                "uploadThroughput": SLOW_NETWORK_BYTES_PER_SECOND,
            }
            session.send(
                "Network.emulateNetworkConditions",
                {"offline": False, "latency": SLOW_NETWORK_ROUND_TRIP_MS, **throughput},
            )
            start_time = time.perf_counter()
            page.goto(running.url, wait_until="commit")
            page.locator(".stage .map").wait_for()
            board_times.append(time.perf_counter() - start_time)
            page.locator(".stage:not(.first) .map").wait_for()
            live_times.append(time.perf_counter() - start_time)
            paint_times.append(page.evaluate(FIRST_PAINT_SCRIPT) / 1000)
            context.close()
    print(
        f"first view at {SLOW_NETWORK_ROUND_TRIP_MS} ms and 400 kbit/s, {FIRST_VIEW_LOAD_COUNT} loads with an empty cache:"
    )
    print(
        f"  painted after {statistics.median(paint_times):.2f} s (median), {max(paint_times):.2f} s at most"
    )
    print(
        f"  a match on the large board after {statistics.median(board_times):.2f} s, {max(board_times):.2f} s at most,"
    )
    print(
        f"  and one that moves after {statistics.median(live_times):.2f} s, {max(live_times):.2f} s at most"
    )


def measure_frame_times(browser: Browser, server_folder: Path) -> None:
    """Measure and print the frame rate and the CPU times of the browser while armies move on the map usa."""
    with run_arena(server_folder) as running:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{running.url}#/play")
        page.evaluate("(line) => { window.record = JSON.parse(line); }", format_record_line(made_up("usa")))
        page.evaluate(SHOW_BOARD_SCRIPT)
        browser.start_tracing(page=page, categories=TRACE_CATEGORIES)
        cpu_seconds_before = read_browser_cpu_seconds(browser)
        gaps = page.evaluate(PLAY_MOVES_SCRIPT)
        cpu_seconds = read_browser_cpu_seconds(browser) - cpu_seconds_before
        frame_times = extract_frame_times(json.loads(browser.stop_tracing())["traceEvents"])
        page.close()
    late_count = sum(gap > FRAME_DURATION_MS * 1.5 for gap in gaps)
    print(f"armies travel on usa, {len(gaps)} pictures:")
    print(
        f"  {1000 * len(gaps) / sum(gaps):.0f} a second; {late_count} came late; the longest took {max(gaps):.0f} ms"
    )
    print(
        f"  the page's thread worked {statistics.median(frame_times):.1f} ms for one (median), {max(frame_times):.1f} ms at most, of "
        f"{FRAME_DURATION_MS:.1f} ms; {sum(milliseconds > FRAME_DURATION_MS for milliseconds in frame_times)} of {len(frame_times)} took longer;"
    )
    print(f"  all processes of the browser worked {cpu_seconds:.1f} s, without a graphics card")


def extract_frame_times(events: list[dict[str, Any]]) -> list[float]:
    """Return the CPU time of the page's thread from each frame to the next, in ms.

    events: events of a performance trace that Chromium recorded
    """
    frame_starts = [event for event in events if event["name"] == "FireAnimationFrame"]
    ((process, thread),) = {(event["pid"], event["tid"]) for event in frame_starts}
    starts = sorted(event["ts"] for event in frame_starts)
    frame_times = [0.0] * len(starts)
    for event in events:
        is_page_task = (event["pid"], event["tid"]) == (process, thread) and event["ts"] >= starts[
            0
        ] - 1000 * FRAME_DURATION_MS
        if is_page_task and event["name"] == "ThreadControllerImpl::RunTask" and event["ph"] == "X":
            frame_times[max(0, bisect_right(starts, event["ts"] + event["dur"]) - 1)] += (
                event.get("tdur", 0) / 1000
            )
    return frame_times


def measure_live_board_cpu(browser: Browser, server_folder: Path) -> None:
    """Print the browser's CPU time for drawing the live boards of a start page that lists many matches in progress."""
    with run_arena(server_folder, "--map", "usa", "--tc", "20/move", "--set=pool.concurrency=40") as running:
        for number in range(6):
            running.connect_slow_bot(f"bot-{number}", SECONDS_PER_MOVE, max_matches=10)
        page = browser.new_page(viewport={"width": 1440, "height": 2400})
        page.goto(running.url)
        cards, drawn = page.locator(".cards.boards > *"), page.locator(".small-board")
        # The page draws only the visible boards.
        wait_until(lambda: cards.count() >= MIN_LIVE_MATCHES and drawn.count() > 0)
        moves_before, share = count_accepted_moves(running), measure_cpu_share(browser, page)
        rate = (count_accepted_moves(running) - moves_before) / BOARD_MEASUREMENT_SECONDS
        print(
            f"{drawn.count()} live boards of usa in sight, of {cards.count()} matches with {rate:.1f} moves a second in all:"
        )
        page.evaluate("document.querySelector('.cards.boards').style.display = 'none'")
        share_without_boards = measure_cpu_share(browser, page)
        print(
            f"  {share - share_without_boards:.1%} of one core for them, in all processes of the browser, drawn without a graphics card;"
        )
        print(
            f"  {share:.1%} with the rest of the start page, on whose large board one of the matches is played"
        )


def measure_lighthouse_scores(_browser: Browser, server_folder: Path) -> None:
    """Print the median scores of Lighthouse for each view, and the failed audits of the load with the lowest scores.

    Exit with code 1 if a score is below 100. Print only a remark if Lighthouse is not installed.
    """
    tool = find_program("lighthouse")
    if tool is None:
        print("Lighthouse is not measured, for it is not installed: npm install --global lighthouse")
        return
    low_score_count = 0
    print(f"Lighthouse: {', '.join(LIGHTHOUSE_CATEGORIES)}, medians of {LIGHTHOUSE_RUNS_PER_VIEW} loads")
    with run_server_with_fast_bots(server_folder) as (running, match):
        running.set_sleep_of_slow_bots(1.0)
        for view in VIEW_PATHS:
            address = view.format(match=match)
            for device, options in {"phone": [], "desktop": ["--preset=desktop"]}.items():
                url = f"{running.url}{address}"
                audits = [run_lighthouse_audit(tool, url, options) for _ in range(LIGHTHOUSE_RUNS_PER_VIEW)]
                scores = [
                    round(statistics.median(values))
                    for values in zip(*(audit.scores for audit in audits), strict=True)
                ]
                low_score_count += any(score < 100 for score in scores)
                print(f"  {' '.join(f'{score:3}' for score in scores)}  /{address} on a {device}", flush=True)
                for fault in min(audits).faults:
                    print(f"      {fault}")
    if low_score_count:
        sys.exit(f"{low_score_count} of {2 * len(VIEW_PATHS)} have a score below 100")


class LighthouseAudit(NamedTuple):
    """Result of one run of Lighthouse, a program that scores web pages."""

    scores: list[int]
    """Score from 0 to 100 for each of LIGHTHOUSE_CATEGORIES."""
    faults: list[str]
    """Lighthouse audits (single tests) that lower the scores, each as a line of text."""


def run_lighthouse_audit(lighthouse_path: str, url: str, options: list[str]) -> LighthouseAudit:
    """Run Lighthouse on a URL.

    lighthouse_path: path of the program; options: further options of the program
    """
    categories = ",".join(LIGHTHOUSE_CATEGORIES)
    command = [lighthouse_path, url, "--quiet", "--output=json", f"--only-categories={categories}", *options]
    command += ["--throttling-method=simulate", "--chrome-flags=--headless --no-sandbox --disable-gpu"]
    result = subprocess.run(
        command, env={**os.environ, "CHROME_PATH": str(chromium_path())}, capture_output=True, check=False
    )
    if result.returncode:
        sys.exit(f"lighthouse {url} failed: {result.stderr.decode().strip().splitlines()[-1]}")
    data = json.loads(result.stdout)
    faults = []
    for category in LIGHTHOUSE_CATEGORIES:
        for audit_reference in data["categories"][category]["auditRefs"]:
            audit = data["audits"][audit_reference["id"]]
            if audit_reference["weight"] and audit["score"] is not None and audit["score"] < 1:
                faults.append(f"{audit['title']}: {audit.get('displayValue', audit['score'])}")
    scores = [round(100 * data["categories"][category]["score"]) for category in LIGHTHOUSE_CATEGORIES]
    return LighthouseAudit(scores, faults)


def count_accepted_moves(running: BrowserArena) -> float:
    """Return the number of moves that the server has accepted so far."""
    return fetch_move_time_histogram(running.url.rstrip("/"))[float("inf")]


def measure_cpu_share(browser: Browser, page: Page) -> float:
    """Return the browser's CPU usage over BOARD_MEASUREMENT_SECONDS, all processes together, as a share of one core."""
    start_time, before = time.perf_counter(), read_browser_cpu_seconds(browser)
    page.wait_for_timeout(BOARD_MEASUREMENT_SECONDS * 1000)
    return (read_browser_cpu_seconds(browser) - before) / (time.perf_counter() - start_time)


def read_browser_cpu_seconds(browser: Browser) -> float:
    """Return the CPU time that all processes of the browser have used so far, in seconds."""
    answer = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    return float(sum(process["cpuTime"] for process in answer["processInfo"]))


if __name__ == "__main__":
    main()
