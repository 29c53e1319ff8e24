"""check: each faulty bot fails one check, for the expected reason, and correct bots pass all checks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from arena.check.run import CheckResult, check_bot
from arena.protocol.timecontrol import TimeControl
from tests.bots.command_line import ARENA

TINY = TimeControl(100, per_move=True)
FAULTY = Path(__file__).parents[1] / "faulty"
MODULES = {
    path.stem: f"tests.faulty.{path.parent.name}.{path.stem}"
    for path in FAULTY.glob("*/*.py")
    if path.stem != "__init__"
}
"""Module of each faulty bot, by the bot's name."""

CAUGHT = [
    ("no_subprotocol", "handshake", "offers the subprotocol none"),
    ("silent", "handshake", "must send hello within"),
    ("textual", "handshake", "this is a text frame"),
    ("impatient", "handshake", "ready must not be sent before the server's welcome"),
    ("first_word", "handshake", "the first message must be hello, not ready"),
    ("nameless", "handshake", "is not a valid name"),
    ("binary", "handshake", "a frame is not a valid message"),
    ("watcher", "handshake", "must be bot, not 'spectator'"),
    ("unready", "tictactoe as maxie", "must send ready within"),
    ("illegal", "tictactoe as maxie", "illegal move"),
    ("wrong_ply", "tictactoe as maxie", "must be for ply 0, not 1"),
    ("wrong_match", "tictactoe as maxie", "not 'my match'"),
    ("float_move", "tictactoe as maxie", "whole number"),
    ("text_ply", "tictactoe as maxie", "a frame is not a valid message: move"),
    ("two_moves", "tictactoe as maxie", "sent 0 for ply 0, which was already played with 4"),
    ("one_seat", "tictactoe as minnie", "the bot must move at ply 1"),
    ("one_match", "repeated messages", "ended unexpectedly (exit code 7)|the connection was closed"),
    ("changes_mind", "repeated messages", "sent 2 for ply 0, which was already played with 1"),
    ("answers_the_past", "outdated messages", "sent 8 for ply 0, which was already played with 4"),
    ("brittle_types", "unknown types", "the connection was closed"),
    ("brittle_fields", "unknown fields", "the connection was closed"),
    ("brittle_errors", "unknown errors", "the connection was closed"),
    ("own_board", "catch up", "illegal move"),
    ("stuck", "match end while thinking", "must send ready within"),
    ("mixed_up", "two at once", "the move must be for match"),
    ("slow", "tiny clock", "the limit was 150 ms (100 ms plus a margin of 50 ms)"),
    ("deaf", "pings while thinking", "the bot must answer pings while it thinks"),
    ("forgets_session", "dropped connection", "with the session"),
    ("deserter", "dropped connection", "after a lost connection: the bot ended"),
    ("not_ready_again", "dropped connection", "for the same match, not move|must send ready"),
    ("gives_up", "restarted server", "exit code"),
    ("rusher", "server shutdown", "must retry with backoff"),
    ("never_returns", "server shutdown", "after a lost connection: the bot did not connect within"),
]


@pytest.fixture(autouse=True)
def busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bots answer a ping and the close of the connection as late as on a busy machine."""
    monkeypatch.setattr("arena.check.checks.LATE_PONG_THRESHOLD_SECONDS", 2.0)
    monkeypatch.setattr("arena.check.checks.CLOSING_HANDSHAKE_TIMEOUT_SECONDS", 100.0)


async def checked(
    command: Sequence[str], *only: str, patience: float = 150, network_margin_ms: int = 60_000
) -> list[CheckResult]:
    return await check_bot(
        command,
        tiny_time_control=TINY,
        network_margin_ms=network_margin_ms,
        patience_seconds=patience,
        check_names=only,
    )


def keeps_silent(case: tuple[str, str, str]) -> bool:
    """Return True if the bot fails because it sends nothing before the time limit."""
    *_, why = case
    return " within" in why or "must send" in why


BY_SILENCE = sorted(CAUGHT, key=keeps_silent)
TIMED = {
    "impatient": ("arena.check.bot_connection.WAIT_BEFORE_WELCOME_SECONDS", 5.0),
    "rusher": ("arena.check.checks.RECONNECT_COUNTING_SECONDS", 10.0),
}
"""Constants of the checks with the seconds that a bot needs on a busy machine to show its fault, by the bot's name."""
TOGETHER = [BY_SILENCE[first : first + 4] for first in range(0, len(BY_SILENCE), 4)]
"""Groups of cases that are tested at the same time, because most of a check is waiting."""


@pytest.mark.parametrize("cases", TOGETHER, ids=[" ".join(name for name, *_ in some) for some in TOGETHER])
async def test_a_faulty_bot_fails_for_the_expected_reason(
    cases: list[tuple[str, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, *_ in cases:
        if name in TIMED:
            monkeypatch.setattr(*TIMED[name])
    async with anyio.create_task_group() as tasks:
        for case in cases:
            tasks.start_soon(is_caught, case)


async def is_caught(case: tuple[str, str, str]) -> None:
    name, check, why = case
    # Bots that send nothing use up the patience, so it is short for them. Only "tiny clock" needs a small margin.
    patience = 15 if keeps_silent(case) else 150
    margin = 50 if check == "tiny clock" else 60_000
    command = [sys.executable, "-m", MODULES[name]]
    findings = await checked(command, check, patience=patience, network_margin_ms=margin)
    failed = [finding for finding in findings if finding.verdict == "failed"]
    assert [finding.check for finding in failed] == [check], findings
    assert any(each in failed[0].reason for each in why.split("|")), failed
    assert failed[0].last_frames or check == "handshake"


async def test_the_checks_after_a_failed_one_begin_with_a_new_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "arena.check.checks.MAX_RECONNECT_ATTEMPTS_AFTER_SHUTDOWN", -1
    )  # any number of attempts is too many
    findings = await checked((*ARENA, "bot", "random"), "server shutdown", "dropped connection")
    assert {finding.check: finding.verdict for finding in findings} == {
        "handshake": "passed",
        "server shutdown": "failed",
        "dropped connection": "passed",
    }


def test_every_faulty_bot_is_tested() -> None:
    assert MODULES.keys() == {name for name, _, _ in CAUGHT}


async def test_correct_bots_pass() -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(passes, (sys.executable, "-m", "tests.faulty.honest"))
        tasks.start_soon(passes, (*ARENA, "bot", "random"))
        tasks.start_soon(passes, (*ARENA, "bot", "minimax:depth=2"))


async def passes(command: Sequence[str]) -> None:
    """Assert that the bot fails no check."""
    findings = await checked(command)
    assert [finding for finding in findings if finding.verdict == "failed"] == []
    passed = {finding.check for finding in findings if finding.verdict == "passed"}
    assert {"tictactoe as minnie", "dropped connection", "restarted server", "server shutdown"} <= passed
