"""server.check: every faulty bot is caught, each for its own reason; honest ones pass."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from arena.protocol.timecontrol import TimeControl
from arena.server.check.run import Finding, examine
from tests.bots.command_line import ARENA

pytestmark = pytest.mark.timeout(150)  # a whole examination starts processes again and again

TINY = TimeControl(100, per_move=True)
FAULTY = Path(__file__).parents[2] / "faulty"
MODULES = {
    path.stem: f"tests.faulty.{path.parent.name}.{path.stem}"
    for path in FAULTY.glob("*/*.py")
    if path.stem != "__init__"
}
"""The programs, by the fault that each is named after."""

CAUGHT = [
    ("no_subprotocol", "handshake", "offers the subprotocol none"),
    ("silent", "handshake", "no hello came within"),
    ("textual", "handshake", "this is a text frame"),
    ("impatient", "handshake", "ready came before the welcome"),
    ("first_word", "handshake", "the first message is ready"),
    ("nameless", "handshake", "is no name"),
    ("binary", "handshake", "a frame is no message"),
    ("watcher", "handshake", "only a bot plays"),
    ("unready", "tictactoe as maxie", "no ready came within"),
    ("illegal", "tictactoe as maxie", "illegal move"),
    ("wrong_ply", "tictactoe as maxie", "names ply 1, and the turn was of ply 0"),
    ("wrong_match", "tictactoe as maxie", "names match 'my match'"),
    ("float_move", "tictactoe as maxie", "whole number"),
    ("text_ply", "tictactoe as maxie", "a frame is no message: move"),
    ("two_moves", "tictactoe as maxie", "played ply 0 again, with 0 after 4"),
    ("one_seat", "tictactoe as minnie", "it resigned at ply 1"),
    ("one_match", "repeated", "ended unasked (exit code 7)|the connection was closed"),
    ("changes_mind", "repeated", "played ply 0 again, with 2 after 1"),
    ("answers_the_past", "out of date", "played ply 0 again, with 8 after 4"),
    ("brittle_types", "unknown types", "the connection was closed"),
    ("brittle_fields", "unknown fields", "the connection was closed"),
    ("brittle_errors", "unknown errors", "the connection was closed"),
    ("own_board", "catch up", "illegal move"),
    ("stuck", "ended in thought", "no ready came within"),
    ("mixed_up", "two at once", "the move names match"),
    ("slow", "tiny clock", "of 100 ms and a margin of 50 ms"),
    ("deaf", "alive", "a ping was not answered while it thought"),
    ("forgets_session", "dropped", "without the session"),
    ("deserter", "dropped", "after a lost connection: the bot ended"),
    ("not_ready_again", "dropped", "answered with move, not with ready|no ready came"),
    ("gives_up", "restarted", "exit code"),
    ("rusher", "shut down", "after goodbye"),
]


async def checked(
    command: Sequence[str], *only: str, patience: float = 15, margin_ms: int = 15_000
) -> list[Finding]:
    return await examine(command, tiny=TINY, margin_ms=margin_ms, patience=patience, only=only)


def keeps_silent(case: tuple[str, str, str]) -> bool:
    """Whether the program is caught because nothing comes from it within the patience."""
    *_, why = case
    return "no " in why.partition("|")[2] or why.startswith("no ")


BY_SILENCE = sorted(CAUGHT, key=keeps_silent)
TOGETHER = [BY_SILENCE[first : first + 4] for first in range(0, len(BY_SILENCE), 4)]
"""The cases that are examined at the same time: to a large part an examination waits."""


@pytest.mark.parametrize("cases", TOGETHER, ids=[" ".join(name for name, *_ in some) for some in TOGETHER])
async def test_a_faulty_bot_is_caught_for_its_own_reason(cases: list[tuple[str, str, str]]) -> None:
    async with anyio.create_task_group() as tasks:
        for case in cases:
            tasks.start_soon(is_caught, case)


async def is_caught(case: tuple[str, str, str]) -> None:
    name, check, why = case
    # Those that keep silent are waited for; the clock is tiny where that is the question.
    patience = 5 if keeps_silent(case) else 15
    margin = 50 if check == "tiny clock" else 15_000
    command = [sys.executable, "-m", MODULES[name]]
    findings = await checked(command, check, patience=patience, margin_ms=margin)
    failed = [finding for finding in findings if finding.verdict == "failed"]
    assert [finding.check for finding in failed] == [check], findings
    assert any(each in failed[0].why for each in why.split("|")), failed
    assert failed[0].frames or check == "handshake"


def test_every_faulty_bot_is_tried() -> None:
    assert MODULES.keys() == {name for name, _, _ in CAUGHT}


async def test_honest_bots_pass() -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(passes, (sys.executable, "-m", "tests.faulty.honest"))
        tasks.start_soon(passes, (*ARENA, "bot", "random"))
        tasks.start_soon(passes, (*ARENA, "bot", "minimax:depth=2"))


async def passes(command: Sequence[str]) -> None:
    """Every check must let the bot pass."""
    findings = await checked(command, patience=30)
    assert [finding for finding in findings if finding.verdict == "failed"] == []
    passed = {finding.check for finding in findings if finding.verdict == "passed"}
    assert {"tictactoe as minnie", "dropped", "restarted", "shut down"} <= passed
