"""What holds for every test: the event loop is never blocked, and nothing is left behind."""

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
from pathlib import Path

import pytest

from testkit.parts import told_of
from tests.dealing import dealt

pytest_plugins = ["tests.properties", "tests.bytecode", "tests.collector", "tests.serving"]

# A terminal's size is what a test makes it, and not what it happens to be started from.
for size in ("COLUMNS", "LINES"):
    os.environ.pop(size, None)

TICK = 0.05
BLOCKED_TICKS = 40
"""Ticks without a turn of the event loop after which it counts as blocked: half a second."""
PATIENCE = 2.0
"""Seconds in which whatever a test has started may end by itself."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Watch the event loop of every test that has one, and put the tests in the order of `tests.dealing`."""
    items[:] = dealt(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            # First inside the other one: an event loop's own threads end with it.
            item.fixturenames.insert(item.fixturenames.index("nothing_left_behind") + 1, "watched_loop")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what was not tested because this machine lacks a part, and how to have it."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    for line in told_of(str(why[2]) for why in skipped if isinstance(why, tuple | list)):
        terminalreporter.write_line(line, yellow=True)


class LoopWatch:
    """A thread that counts its own ticks since the event loop last had a turn.

    Its ticks are the measure, and not the wall clock: on a machine that is busy with other things both
    are late, and nothing is blocked.
    """

    def __init__(self) -> None:
        self.blocked_at: str | None = None
        """Where the event loop stood when it was found blocked."""
        self._ticks = 0
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run, name="loop watch", daemon=True)
        self._thread.start()

    async def beat(self) -> None:
        """Runs in the event loop, until cancelled."""
        while True:
            self._ticks = 0
            await asyncio.sleep(TICK)

    def _run(self) -> None:
        while not self._enough.wait(TICK):
            # between a test and its fixtures the loop stands still
            self._ticks = self._ticks + 1 if self._loop.is_running() else 0
            if self._ticks > BLOCKED_TICKS and self.blocked_at is None:
                frame = sys._current_frames().get(self._loop_thread)
                self.blocked_at = "".join(traceback.format_stack(frame)[-12:])

    def stop(self) -> None:
        self._enough.set()
        self._thread.join()


@pytest.fixture
async def watched_loop() -> AsyncIterator[None]:
    """Fails a test that blocks its event loop for half a second, or that leaves tasks in it."""
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
    """Takes back what a test that runs a command in this process does to the log."""
    loggers = [logging.getLogger(name) for name in ("", "arena", "arena.wire")]
    before = [(logger.handlers[:], logger.level) for logger in loggers]
    yield
    for logger, (handlers, level) in zip(loggers, before, strict=True):
        logger.handlers[:] = handlers
        logger.setLevel(level)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fails a test that leaves threads or processes."""
    threads, children = set(threading.enumerate()), child_processes()
    yield
    end = time.monotonic() + PATIENCE
    while (left := leftovers(threads, children)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left, f"left behind: {', '.join(left)}"


def leftovers(threads: set[threading.Thread], children: set[int]) -> list[str]:
    """What is there now and was not before."""
    return [
        *(f"thread {thread.name}" for thread in set(threading.enumerate()) - threads),
        *(f"process {process}" for process in child_processes() - children),
    ]


def child_processes() -> set[int]:
    """The children of this process, and those that were forked elsewhere for it; the first only where there is a /proc."""
    children = {
        int(process)
        for listing in Path("/proc/self/task").glob("*/children")
        for process in read(listing).split()
    }
    return children | {each.pid for each in multiprocessing.active_children() if each.pid is not None}


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:  # the thread has ended
        return ""
