"""Where a move's time goes: the stacks of a profile of the server, sorted by what it does in them.

A stack counts for the innermost function that a rule names, so that a library's time is that of whoever called it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

LOOP = "event loop"
"""What is in no function of the server's: waiting for sockets, reading from them, and calling who is next."""
OTHER = "other"
STAGES = (
    "read",
    "decode",
    "dispatch",
    "referee",
    "journal",
    "commit",
    "encode",
    "write",
    "timers",
    "metrics",
    "matches",
    OTHER,
    LOOP,
)
ABOUT = {
    "read": "frames: counted, unmasked, and made messages",
    "decode": "a message of the bytes",
    "dispatch": "session, lobby and room: whose it is, and what follows",
    "referee": "the rules, the clocks, the verdict",
    "journal": "the row of the event, and the task that gathers commits",
    "commit": "SQLite, its log and the disk: rows in the loop, the commit in the writer's thread",
    "encode": "bytes of the answer and of the turn",
    "write": "websocket frames, and the kernel's copy of them",
    "timers": "deadlines, pings, the watch over the loop",
    "metrics": "counts and histograms",
    "matches": "their beginning and their end: pairing, records, ratings, packing; a share of each move",
    OTHER: "what else the server's threads do",
    LOOP: "waiting for sockets, the kernel's part of reading them, and calling who is next",
}
RULES: Mapping[str, str] = {
    "server/net/connection.py:send": "write",
    "server/net/outgoing.py": "write",
    "server/net/metrics.py": "metrics",
    "server/net/keepalive.py": "timers",
    "server/net/loop_watch.py": "timers",
    "server/rooms/deadline_timer.py": "timers",
    "server/net/": "read",
    "protocol/codec.py:encode": "encode",
    "protocol/moves.py": "encode",
    "protocol/codec.py": "decode",
    "server/lobby/session.py:_decode": "decode",
    "server/lobby/session.py": "dispatch",
    "server/lobby/dispatch.py": "dispatch",
    "server/lobby/costs.py": "dispatch",
    "server/rooms/room.py:run": "matches",
    "server/rooms/room.py:record": "matches",
    "server/rooms/room.py:_begin": "matches",
    "server/rooms/": "dispatch",
    "server/lobby/": "matches",
    "server/running.py": "matches",
    "match/events.py:to_journal": "journal",
    "match/terms.py": "matches",
    "match/": "referee",
    "games/": "referee",
    "server/store/journal/journal.py:close_match": "matches",
    "server/store/journal/journal.py:open_match": "matches",
    "server/store/journal/journal.py": "journal",
    "server/store/journal/batch.py:closing": "matches",
    "server/store/journal/": "commit",
    "server/store/sqlite.py": "commit",
    "server/store/database.py": "commit",
    "server/store/lease.py": "commit",
    "server/store/": "matches",
    "protocol/record.py": "matches",
    "ladder/": "matches",
}
"""The stage of a function, of a file, or of a folder; the most exact one counts."""

_THREAD = re.compile(r"^thread \((?P<number>\d+)\)")
_FRAME = re.compile(r"(?P<function>[^;]+?) \((?P<file>[^;()]+?)(?::\d+)?\)(?:;|$)")
WAITING = frozenset(
    {
        ("server/store/journal/thread.py", "_run"),
        ("aiosqlite/core.py", "_connection_worker_thread"),
        ("threading.py", "wait"),
    }
)
"""Functions in which a thread waits for something to do, when they are the innermost ones."""


class Frame(NamedTuple):
    """One function on a stack."""

    file: str
    function: str
    """Its name alone, without that of its class."""


def stage_of(stack: Sequence[Frame]) -> str:
    """The stage of a stack, whose outermost function comes first."""
    for frame in reversed(stack):
        for key in (f"{frame.file}:{frame.function}", frame.file, *_folders(frame.file)):
            if key in RULES:
                return RULES[key]
    return LOOP if any(frame.file.startswith("asyncio/") for frame in stack) else OTHER


def shares(folded: str) -> dict[int, dict[str, float]]:
    """By the number of each thread, the share of each stage in what it did.

    folded: a profile as `py-spy record --format raw --threads` writes it, one stack a line with its count
    """
    counts: dict[int, Counter[str]] = {}
    for line in folded.splitlines():
        thread = _THREAD.match(line)
        stack, _, count = line.rpartition(" ")
        frames = [Frame(each["file"], each["function"].rpartition(".")[2]) for each in _FRAME.finditer(stack)]
        if thread is None or not frames or frames[-1] in WAITING:
            continue
        counts.setdefault(int(thread["number"]), Counter())[stage_of(frames)] += int(count)
    return {thread: {stage: each / of.total() for stage, each in of.items()} for thread, of in counts.items()}


def by_stage(folded: str, cpu: Mapping[int, float]) -> dict[str, float]:
    """What all threads have spent on each stage; `cpu` says of each thread what it has spent."""
    found = dict.fromkeys(STAGES, 0.0)
    known = shares(folded)
    for thread, spent in cpu.items():
        for stage, share in known.get(thread, {OTHER: 1.0}).items():
            found[stage] += spent * share
    return found


def dearest(stages: Mapping[str, float], count: int = 3) -> str:
    """The stages into which the most goes, as part of a sentence."""
    most = sorted(stages, key=lambda stage: stages[stage], reverse=True)[:count]
    return ", ".join(f"{stage} ({stages[stage] / sum(stages.values()):.0%})" for stage in most)


def _folders(file: str) -> list[str]:
    """The folders that a file is in, the innermost first."""
    parts = file.split("/")[:-1]
    return ["/".join(parts[:count]) + "/" for count in range(len(parts), 0, -1)]
