"""Bots as processes for tests of the fleet, the runner and the ladder."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from arena.ladder.plan import BotPlan
from arena.processes.bot_process import RestartPolicy

ROOT = Path(__file__).parents[2]

QUICK = RestartPolicy(
    connect_timeout_seconds=200,
    first_match_wait_seconds=200,
    max_restarts=1,
    max_silent_matches=1,
    backoff_seconds=0.01,
    stop_timeout_seconds=0.3,
)


def bot(name: str, mode: str = "play", file: Path | None = None) -> BotPlan:
    """Return a bot that behaves as `tests.server.ladder_bot` says of `mode`."""
    arguments = [mode] if file is None else [mode, str(file)]
    return BotPlan(name, None, (sys.executable, "-m", "tests.server.ladder_bot", *arguments))


def processes_of(mark: str) -> list[int]:
    """Return the ids of the running processes that have `mark` in their environment."""
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if mark.encode() in environment and state != "Z":
            processes.append(int(folder.name))
    return processes


def all_gone(mark: str, seconds: float = 500) -> bool:
    """Return True if no process with `mark` is left after a short wait."""
    until = time.monotonic() + seconds
    while processes_of(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
