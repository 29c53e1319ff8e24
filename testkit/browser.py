"""Server and bots as processes, and a browser, for tests of the web pages."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    FloatRect,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from arena import console
from arena.bots.api.engine_spec import OPTIONS_BY_ENGINE
from testkit.forked import ForkedCommand
from testkit.tools import find_chromium, skip_without

CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
MEASURE_LAYOUT_SHIFT_SCRIPT = """(() => {
  window.shifted = 0;
  let [sum, first, last] = [0, 0, -Infinity];
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) {
      if (each.startTime - last > 1000 || each.startTime - first > 5000) [sum, first] = [0, each.startTime];
      [sum, last] = [sum + each.value, each.startTime];
      window.shifted = Math.max(window.shifted, sum);
    }
  }).observe({ type: 'layout-shift', buffered: true });
})()"""
"""JavaScript that measures the cumulative layout shift of a page (CLS of Web Vitals) in `window.shifted`.

CLS adds up the layout shifts in each burst: at most 5 s, without a pause of more than 1 s. CLS is the largest of these sums,
and so does not grow with the duration of a test. The script must run before the page's own scripts.
"""
SLOW_BOT_SOURCE = """
import random
import time
from pathlib import Path

from arena.bots.api.bot import Bot

SECONDS = Path(__file__).with_suffix(".seconds")


class Dawdler(Bot):
    def choose(self, position, clock):
        began = time.monotonic()
        while (rest := began + float(SECONDS.read_text()) - time.monotonic()) > 0:
            time.sleep(min(rest, 0.1))
        return random.choice(self.game.moves(position))
"""
WAIT_TIMEOUT_SECONDS = 150
"""Seconds for which a test waits for a browser or a server. Only a hang takes longer."""
STALLED_BOT_SLEEP_SECONDS = 50.0
"""Seconds for which a bot sleeps before each move, so that its match seems to stand still.

The sleep is shorter than the 60 s that the bot has for a move.
"""
REPORTED_LOG_LINE_COUNT = 15
"""Number of lines from the end of each log that the report of a failed test shows."""


def write_slow_bot_files(file: Path, sleep_seconds: float) -> None:
    """Write the code of a bot to `file`, and `sleep_seconds` to a file beside it. The bot sleeps for this time before each
    random move.
    """
    file.write_text(SLOW_BOT_SOURCE)
    write_bot_sleep_seconds(file, sleep_seconds)


def write_bot_sleep_seconds(file: Path, sleep_seconds: float) -> None:
    """Set the time for which the bot in this file sleeps before each move. A sleep that has already begun changes, too."""
    new_file = file.with_suffix(".new")
    new_file.write_text(str(sleep_seconds))
    # Replace the file in one step, so that the bot never reads half a number.
    new_file.replace(file.with_suffix(".seconds"))


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """Run a headless Chromium until the end of the `with` block. Skip the test if this machine has none."""
    skip_without("chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        try:
            yield running
        finally:
            running.close()


class BrowserArena:
    """Process of `arena serve` with its store in a folder, and the processes of its bots."""

    def __init__(self, folder: Path, *server_options: str, is_private_server: bool) -> None:
        """Prepare a server whose store is in `folder`. `run_arena` describes the other arguments."""
        self._folder = folder
        self._is_private_server = is_private_server
        self._server_options = server_options
        self._bots: list[ForkedCommand] = []
        self._logs: list[Path] = []
        self._slow_bot_files: list[Path] = []
        self._server: ForkedCommand | subprocess.Popen[bytes] | None = None
        self._environment: dict[str, str] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start_server(self) -> None:
        """Start the server, and wait until it listens. Later starts use the same port as the first start."""
        log = self._create_log_file("serve")
        database = f"sqlite:///{self._folder / 'arena.db'}"
        command = ["serve", "--port", str(self.port), "--db", database, "--set=server.drain_seconds=0"]
        if self._is_private_server:
            command += ["--anyone", "--set=house.engines=none"]
        words = [*command, *self._server_options]
        if self._environment is None:
            self._server = ForkedCommand(*words, cwd=self._folder, stderr=log)
        else:
            # The fork server has loaded this checkout's sources, but the upgraded server needs others.
            with log.open("wb") as err:
                self._server = subprocess.Popen(
                    [sys.executable, "-P", "-m", "arena", *words],
                    cwd=self._folder,
                    env=self._environment,
                    stdout=subprocess.DEVNULL,
                    stderr=err,
                )
        address = wait_until(
            lambda: re.search(r"listening on ws://127\.0\.0\.1:(\d+)", log.read_text()),
            2 * WAIT_TIMEOUT_SECONDS,
        )
        self.port = int(address[1])

    def connect_bot(self, engine_name: str, name: str = "", max_matches: int = 1, token: str = "") -> None:
        """Start `arena bot ENGINE` in a separate process, which connects to the server.

        name: name of the bot; empty for the default name
        max_matches: number of matches that the bot plays at the same time
        token: token of the name; empty for none
        """
        identity_options = ["--name", name] if name else []
        identity_options += ["--token", token] if token else []
        command = [
            "bot",
            engine_name,
            "--url",
            f"ws://127.0.0.1:{self.port}",
            "--matches",
            str(max_matches),
            *identity_options,
        ]
        log = self._create_log_file(f"bot-{name or engine_name.partition(':')[0]}")
        self._bots.append(
            ForkedCommand(*command, "--reconnect", "100", cwd=self._folder, stdout=log, stderr=log)
        )

    def connect_slow_bot(self, name: str, sleep_seconds: float, max_matches: int = 1) -> None:
        """Connect a bot that sleeps for `sleep_seconds` before each random move, to leave the CPU to other tests.

        name: name of the bot
        max_matches: number of matches that the bot plays at the same time
        """
        file = self._folder / f"dawdler{len(self._slow_bot_files)}.py"
        write_slow_bot_files(file, sleep_seconds)
        self._slow_bot_files.append(file)
        self.connect_bot(str(file), name, max_matches)

    def set_sleep_of_slow_bots(self, sleep_seconds: float = STALLED_BOT_SLEEP_SECONDS) -> None:
        """Let all slow bots sleep for `sleep_seconds` before each move from now on.

        The default leaves the CPU to the browser, and is so long that no match ends while a test examines it.
        """
        for file in self._slow_bot_files:
            write_bot_sleep_seconds(file, sleep_seconds)

    @contextmanager
    def speed_up_bots(self, sleep_seconds: float) -> Iterator[None]:
        """Let all slow bots sleep only `sleep_seconds` before each move until the end of the `with` block.

        After the block, the bots sleep STALLED_BOT_SLEEP_SECONDS before each move, so that their matches seem to stand still.
        """
        self.set_sleep_of_slow_bots(sleep_seconds)
        try:
            yield
        finally:
            self.set_sleep_of_slow_bots()

    def kill_server(self) -> None:
        """Kill the server with SIGKILL, as in a crash, and wait for its end."""
        assert self._server is not None
        self._server.kill()
        self._server.wait()

    def stop_server(self) -> None:
        """Stop the server with SIGTERM, as its administrator would, and wait for its end."""
        assert self._server is not None
        self._server.terminate()
        self._server.wait()

    def install_changed_page_files(self) -> None:
        """Copy the program with a changed style sheet, as an upgrade would. The server uses the copy from its next start on."""
        newer_folder = self._folder / "newer"
        newer_folder.mkdir()
        shutil.copytree(
            Path(console.__file__).parent,
            newer_folder / "arena",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        with (newer_folder / "arena" / "page" / "css" / "page.css").open("a", encoding="utf-8") as style:
            style.write("/* newer */\n")
        self._environment = {**os.environ, "PYTHONPATH": str(newer_folder)}

    @property
    def server_pid(self) -> int:
        """Process id of the server."""
        assert self._server is not None
        return self._server.pid

    def create_token(self, bot_name: str) -> str:
        """Create a token for the bot name, and return the token."""
        return self.run_command("token", "create", bot_name).split()[-1]

    def run_command(self, *arguments: str) -> str:
        """Run `arena ARGUMENTS` on the server's store, and return its output. The command must succeed."""
        output = self._folder / "told"
        command = (*arguments, "--db", f"sqlite:///{self._folder / 'arena.db'}")
        assert ForkedCommand(*command, cwd=self._folder, stdout=output).wait(WAIT_TIMEOUT_SECONDS) == 0
        return output.read_text(encoding="utf-8")

    def describe_state(self) -> str:
        """Return the exit codes of ended processes and the end of each log, for the report of a failed test."""
        processes = [process for process in (self._server, *self._bots) if process]
        ended = [
            f"{process.args!r} ended with {process.poll()}"
            for process in processes
            if process.poll() is not None
        ]
        logs = [f"{log.name}:\n{read_last_log_lines(log)}" for log in self._logs]
        return "\n".join([f"arena at {self.url}, {len(processes)} processes", *ended, *logs])

    def _create_log_file(self, process_name: str) -> Path:
        """Create an empty log file for a process, named after the process."""
        name = re.sub(r"[^a-z0-9-]+", "-", process_name.rpartition("/")[2])
        log = self._folder / f"{len(self._logs)}-{name}.log"
        log.touch()
        self._logs.append(log)
        return log

    def kill_server_and_bots(self) -> None:
        for process in [*self._bots, *([self._server] if self._server else [])]:
            process.kill()
            process.wait()

    def fetch_json(self, path: str) -> Any:
        """Return the server's JSON answer to a GET of `/api/PATH`."""
        return fetch_json(f"{self.url}api/{path}")


RUNNING_ARENAS: list[BrowserArena] = []
"""Arenas that tests in this process have started and not stopped. The report of a failed test describes them."""


@contextmanager
def run_arena(
    folder: Path, *server_options: str, bots: tuple[str, ...] = (), is_private: bool = True
) -> Iterator[BrowserArena]:
    """Run a server, and one bot for each engine in `bots`, until the end of the `with` block.

    folder: folder of the server's store and of all logs
    server_options: further options of `arena serve`
    is_private: True for the server of one user, which accepts any name without a token and has no bots of its own

    An exception in the block gets a note with the state of all processes.
    """
    assert {bot.partition(":")[0] for bot in bots} <= set(OPTIONS_BY_ENGINE)
    running = BrowserArena(folder, *server_options, is_private_server=is_private)
    RUNNING_ARENAS.append(running)
    try:
        running.start_server()
        for bot in bots:
            running.connect_bot(bot)
        yield running
    except BaseException as error:
        error.add_note(running.describe_state())
        raise
    finally:
        RUNNING_ARENAS.remove(running)
        running.kill_server_and_bots()


def new_context(
    browser: Browser, service_workers: Literal["allow", "block"] = "block", **options: Any
) -> BrowserContext:
    """Return a new browser context. Actions on its pages, such as a click, time out after 0.9 × WAIT_TIMEOUT_SECONDS.

    Service workers are blocked by default, because installing one is a third of the work of opening the page. A test
    that needs a service worker passes `service_workers="allow"`. `options`: further options of the context.
    """
    context = browser.new_context(service_workers=service_workers, **options)
    context.set_default_timeout(WAIT_TIMEOUT_SECONDS * 900)
    return context


def evaluate_via_json(page: Page, function: str, argument: Any = None) -> Any:
    """Call a JavaScript function in the page, and return its result. The argument and the result are passed as JSON text.

    For many numbers, this is much faster than `page.evaluate`, because Playwright passes each number by itself.
    """
    script = f"async (text) => JSON.stringify(await ({function})(JSON.parse(text)))"
    return json.loads(page.evaluate(script, json.dumps(argument)))


def box_of(element: Locator) -> FloatRect:
    """Return the bounding box of an element in viewport coordinates, once the element exists and no longer moves.

    An element with an empty text has a box too.
    """

    def measure() -> FloatRect | None:
        expect(element).to_be_attached()  # its error names the locator
        with suppress(Error):  # raised if the page has replaced the element meanwhile
            handle = element.element_handle()
            handle.wait_for_element_state("stable")
            return handle.bounding_box()
        return None

    box: FloatRect = wait_until(measure)
    return box


FIND_TRUNCATED_TEXTS_SCRIPT = """(elements) => elements.flatMap((element) => [element, ...element.querySelectorAll('*')]).filter((each) => (
  each.clientWidth > 1 && each.checkVisibility() && (getComputedStyle(each).overflowX !== 'visible' && each.scrollWidth > each.clientWidth
    || getComputedStyle(each).webkitLineClamp !== 'none' && each.scrollHeight > each.clientHeight + 1)
)).map((each) => each.textContent)"""


def find_truncated_texts(elements: Locator) -> list[str]:
    """Return the texts in `elements` that the page does not show in full, for example those cut off with an ellipsis.

    A text that is hidden as a whole does not count. Raises AssertionError if `elements` matches no element.
    """
    assert elements.count(), f"nothing to look at: {elements}"
    texts: list[str] = elements.evaluate_all(FIND_TRUNCATED_TEXTS_SCRIPT)
    return texts


def centre_of(element: Locator) -> tuple[float, float]:
    """Return the centre of an element's bounding box, in viewport coordinates."""
    box = box_of(element)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def skip_to_live_match(page: Page, title: str = "") -> None:
    """Press "Next match" on the page's board until the board shows a match in progress whose title begins with `title`.

    Without the presses, the page would replay a finished match to its end before it shows the next match in progress.
    """
    stage = page.locator(".stage")
    live = re.compile(f"^(Live|Delayed)(Go to live)?{re.escape(title)}")

    def is_live() -> bool:
        if not live.match(stage.locator(".stage-title").text_content() or ""):
            stage.get_by_role("button", name="Next match").click()
        with suppress(AssertionError):  # do not press the button again while a match is loading
            expect(stage.locator(".stage-title")).to_have_text(live, timeout=5000)
            return True
        return False

    wait_until(is_live)


def wait_until(condition: Callable[..., Any], timeout_seconds: float = WAIT_TIMEOUT_SECONDS) -> Any:
    """Call the function `condition` every 0.2 s until it returns a true value, and return that value.

    The pauses are needed because a condition may send requests, and the server limits their rate. Raises AssertionError after
    `timeout_seconds`.
    """
    end_time = time.monotonic() + timeout_seconds
    while not (value := condition()):
        assert time.monotonic() < end_time, (
            f"after {timeout_seconds} s still {value!r}: {inspect.getsource(condition).strip()}"
        )
        time.sleep(0.2)
    return value


def fetch_json(url: str) -> Any:
    """Return the parsed JSON body of the answer to a GET.

    While the server answers with status 503 (busy), the request is repeated for up to WAIT_TIMEOUT_SECONDS. Raises
    urllib.error.HTTPError for any other error status, and for the last 503.
    """
    deadline = time.monotonic() + WAIT_TIMEOUT_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=WAIT_TIMEOUT_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE or time.monotonic() > deadline:
                raise
        time.sleep(0.2)


def read_last_log_lines(log: Path) -> str:
    """Return the last REPORTED_LOG_LINE_COUNT lines of a log."""
    return "\n".join(
        log.read_text(encoding="utf-8", errors="replace").splitlines()[-REPORTED_LOG_LINE_COUNT:]
    )
