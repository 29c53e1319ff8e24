"""Runs the checks one after another, each from a clean state, and keeps their results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal

import anyio
from msgspec import Struct

from arena.protocol.timecontrol import TimeControl
from arena.server.check.checks import Exam, schedule
from arena.server.check.peer import Fault
from arena.server.check.stage import Stage, open_stage

Verdict = Literal["passed", "failed", "skipped"]

UNREACHED = "the bot could not be reached"
"""Why all that comes after a handshake that failed is skipped."""


class UnknownCheck(ValueError):
    """A check was asked for that there is not; one line, with those that there are."""


class Finding(Struct, frozen=True):
    """The result of one check."""

    check: str
    verdict: Verdict
    asked: str
    """What the check asks of a bot."""
    why: str = ""
    frames: list[str] = []
    """The last frames before the fault: `<` from the bot, `>` to it."""
    printed: list[str] = []
    """What the bot's process printed last."""


async def examine(
    command: Sequence[str] | None,
    *,
    tiny: TimeControl,
    margin_ms: int,
    patience: float,
    only: Collection[str] = (),
    host: str = "127.0.0.1",
    port: int = 0,
    listening: Callable[[str], None] = lambda _url: None,
    found: Callable[[Finding], None] = lambda _finding: None,
) -> list[Finding]:
    """Check a bot: a command that connects to ARENA_URL, or None for one that dials in by itself.

    patience  seconds for whatever has no clock of its own
    only      the names of the checks to run beside the handshake; none for all

    Raises UnknownCheck when `only` names none of this bot's, and OSError when it cannot listen.
    """
    findings: list[Finding] = []
    async with open_stage(command, patience, host, port) as stage:
        listening(stage.url)
        exam = Exam(stage, tiny, margin_ms)
        usable = True
        for name, asked, check in schedule(exam):
            if only and name not in only and name != "handshake":
                continue
            stage.frames.clear()
            if not usable:
                finding = Finding(name, "skipped", asked, UNREACHED)
            elif check is None:
                finding = Finding(name, "skipped", asked, "not for this bot, by what its hello says")
            else:
                try:
                    await check(exam)
                    finding = Finding(name, "passed", asked)
                except Fault as fault:
                    finding = await _failed(name, asked, str(fault), stage)
                    # Each check begins anew with a bot that has forgotten what went wrong.
                    await stage.clear()
                    usable = name != "handshake"
            findings.append(finding)
            found(finding)
        names = [name for name, _, _ in schedule(exam)]
    unknown = set(only) - set(names)
    if unknown and usable:
        raise UnknownCheck(
            f"no check of this bot is called {', '.join(sorted(unknown))}: there are {', '.join(names)}"
        )
    return findings


async def _failed(name: str, asked: str, why: str, stage: Stage) -> Finding:
    printed: list[str] = []
    if stage.subject is not None:
        with anyio.move_on_after(0.2):  # what it printed last may be on the way
            await stage.subject.wait_heard()
        printed = list(stage.subject.tail)
    return Finding(name, "failed", asked, why, stage.frames.lines(), printed)
