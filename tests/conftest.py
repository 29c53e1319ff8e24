"""Checks of every test: the event loop is never blocked, and nothing is left behind."""

from __future__ import annotations

import asyncio
import inspect
import logging
import multiprocessing
import os
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from arena import cli
from testkit.tools import TOOL_REQUIREMENTS, describe_missing_tools, find_missing_tool_reason

pytest_plugins = ["tests.properties", "tests.collector", "tests.serving"]

# A terminal's size is what a test makes it, and not what it happens to be started from.
for size in ("COLUMNS", "LINES"):
    os.environ.pop(size, None)

# A command takes milliseconds to make from its function, and tests call hundreds of commands in this process.
for made in ("build_cli", "load_command"):
    setattr(cli, made, cache(getattr(cli, made)))

TESTS = Path(__file__).parent
SLOW = (
    *(
        "benchmarks",
        "bots/commands/test_play.py",
        "bots/compiled",
        "check/test_faulty.py",
        "docker",
        "docs/test_games_guide.py",
    ),
    *(
        "docs/test_ladders_guide.py",
        "e2e",
        "examples",
        "lab",
        "ladder/commands",
        "ladder/test_dask_runner.py",
    ),
    *(
        "ladder/test_bot_processes.py",
        "ladder/test_ladder_run.py",
        "ladder/test_runner.py",
    ),
    "server/web",
    *("solved/test_solution.py", "solved/test_solved_table.py", "test_wheel.py", "web"),
)
"""Folders and files of tests that `make test` leaves to `make test-all`, but for those marked as smoke tests."""
TASKS = "/proc/self/task"
TICK = 0.05
BLOCKED_TICKS = 40
"""Ticks without a turn of the event loop after which it counts as blocked: two seconds."""
PATIENCE = 150.0
"""Seconds in which whatever a test has started may end by itself; only on a busy machine it takes more than a few."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--sample",
        type=int,
        metavar="COUNT",
        help="run only the first COUNT test functions of each file, each with its first parameters",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test of `make test`: to load them takes each worker seconds. Whoever names a folder is told."""
    whole = config.args == config.getini("testpaths") and config.option.markexpr == "not slow"
    if not whole or not collection_path.name.startswith("test_"):
        return None
    return True if is_slow(collection_path) and b"smoke" not in collection_path.read_bytes() else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the page first, skip tests whose tools this machine lacks, mark those of `make test-all` as slow, and watch loops."""
    # One worker has the page's tests from the start, so that hardly another one starts a browser and servers for them. Next come
    # the tests that wait for processes most of the time: as the last ones they would leave the cores idle.
    items.sort(key=lambda item: [not item.path.is_relative_to(TESTS / folder) for folder in ("web", "e2e")])
    for item in items:
        tools = list_needed_tools(item)
        for reason in filter(None, map(find_missing_tool_reason, tools)):
            item.add_marker(pytest.mark.skip(reason=reason))
        if (tools or is_slow(item.path)) and not item.get_closest_marker("smoke"):
            item.add_marker(pytest.mark.slow)
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            # First inside the other one: an event loop's own threads end with it.
            item.fixturenames.insert(item.fixturenames.index("nothing_left_behind") + 1, "watched_loop")
    if (count := config.getoption("sample")) is not None:
        chosen = sample([item for item in items if not item.get_closest_marker("slow")], count)
        config.hook.pytest_deselected(items=list(set(items) - set(chosen)))
        items[:] = chosen


def sample(items: list[pytest.Item], count: int) -> list[pytest.Item]:
    """Return the first `count` test functions of each file, each with its first parameters."""
    chosen: dict[Path, dict[str, pytest.Item]] = {}
    for item in items:
        functions = chosen.setdefault(item.path, {})
        if len(functions) < count:
            functions.setdefault(item.nodeid.partition("[")[0], item)
    return [item for functions in chosen.values() for item in functions.values()]


def list_needed_tools(item: pytest.Item) -> set[str]:
    """Return the tools (see `testkit.tools`) that a test needs: by its marks, its fixtures, or their parameters."""
    marked = {mark.args[0] for mark in item.iter_markers("needs")}
    if not isinstance(item, pytest.Function):
        return marked
    params = item.callspec.params.values() if hasattr(item, "callspec") else ()
    words = {name.removeprefix("own_") for name in item.fixturenames}
    words |= {each for each in params if isinstance(each, str)}
    return marked | words & TOOL_REQUIREMENTS.keys()


@cache
def is_slow(path: Path) -> bool:
    """Return True if the tests of a file are left to `make test-all`."""
    return any(path.is_relative_to(TESTS / each) for each in SLOW)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what was not tested because this machine lacks a tool, and how to have it."""
    stats = terminalreporter.stats
    if set(stats) == {"deselected"}:
        terminalreporter.write_line("all of these tests are slow; to run them too, add: -m ''", yellow=True)
    reasons = [report.longrepr for report in stats.get("skipped", [])]
    for line in describe_missing_tools(str(why[2]) for why in reasons if isinstance(why, tuple | list)):
        terminalreporter.write_line(line, yellow=True)


class LoopWatch:
    """A thread that counts its own ticks since the event loop last had a turn.

    Its ticks are the measure, and not the wall clock: on a machine that is busy with other things both
    are late, and nothing is blocked. What the loop's thread waits for a core does not count either: a thread that
    sleeps most of the time gets one sooner.
    """

    def __init__(self) -> None:
        self.blocked_at: str | None = None
        """Stack of the event loop when it was found blocked."""
        self._ticks = 0
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._loop_task = threading.get_native_id()
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run, name="loop watch", daemon=True)
        self._thread.start()

    async def beat(self) -> None:
        """Run in the event loop, until cancelled."""
        while True:
            self._ticks = 0
            await asyncio.sleep(TICK)

    def _run(self) -> None:
        before = 0.0
        while not self._enough.wait(TICK):
            # between a test and its fixtures the loop stands still
            self._ticks = self._ticks + 1 if self._loop.is_running() else 0
            if self._ticks == 1:
                before = waited_for_core(self._loop_task)
            if self._ticks <= BLOCKED_TICKS or self.blocked_at is not None:
                continue
            if self._ticks - (waited_for_core(self._loop_task) - before) / TICK > BLOCKED_TICKS:
                frame = sys._current_frames().get(self._loop_thread)
                self.blocked_at = "".join(traceback.format_stack(frame)[-12:])

    def stop(self) -> None:
        self._enough.set()
        self._thread.join()


def waited_for_core(task: int) -> float:
    """Return the seconds that a thread of this process was ready to run and had no core; 0 where the system does not tell."""
    statistics = read_text(Path(f"/proc/self/task/{task}/schedstat")).split()
    return int(statistics[1]) / 1e9 if statistics else 0.0


@pytest.fixture(scope="session", autouse=True)
def _state_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the sessions of bots, which stay behind if a test kills their bots, in a folder of the test run."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture
async def watched_loop() -> AsyncIterator[None]:
    """Fail a test that blocks its event loop for two seconds, or that leaves tasks in it."""
    before = asyncio.all_tasks()
    watch = LoopWatch()
    beat = asyncio.create_task(watch.beat())
    yield
    beat.cancel()
    watch.stop()
    assert watch.blocked_at is None, f"the event loop was blocked here:\n{watch.blocked_at}"
    mine = {*before, beat, asyncio.current_task()}
    end = time.monotonic() + PATIENCE
    while (left := asyncio.all_tasks() - mine) and time.monotonic() < end:
        await asyncio.sleep(0.01)
    assert not left, f"tasks are left behind: {left}"


@pytest.fixture(autouse=True)
def log_as_it_was() -> Iterator[None]:
    """Take back what a test that runs a command in this process does to the log."""
    loggers = [logging.getLogger(name) for name in ("", "arena", "arena.wire")]
    before = [(logger.handlers[:], logger.level) for logger in loggers]
    yield
    for logger, (handlers, level) in zip(loggers, before, strict=True):
        logger.handlers[:] = handlers
        logger.setLevel(level)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaves threads or processes."""
    threads, children = set(threading.enumerate()), child_processes()
    yield
    end = time.monotonic() + PATIENCE
    while (left := leftovers(threads, children)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left, f"left behind: {', '.join(left)}"


def leftovers(threads: set[threading.Thread], children: set[int]) -> list[str]:
    """Return the leftovers of a test that did not exist before it."""
    return [
        *(f"thread {thread.name}" for thread in set(threading.enumerate()) - threads),
        *(f"process {process}" for process in child_processes() - children),
    ]


def child_processes() -> set[int]:
    """Return the children of this process, and those that were forked elsewhere for it; the first only where there is a /proc."""
    children = {each.pid for each in multiprocessing.active_children() if each.pid is not None}
    if has_children() and os.path.isdir(TASKS):  # noqa: PTH112
        for task in os.listdir(TASKS):  # noqa: PTH208 - without paths, which take most of the time, once a thread
            with suppress(OSError), open(f"{TASKS}/{task}/children", "rb") as listing:  # noqa: PTH123
                children |= set(map(int, listing.read().split()))
    return children


def has_children() -> bool:
    """Return True if this process has children that it has not waited for. It asks the system once, not once a thread."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:  # the thread has ended
        return ""
