"""Run of the checks of a bot, one after another. After a failed check, the bot is started again for the next check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal

import anyio
from msgspec import Struct, field

from arena.check.bot_connection import ProtocolFault
from arena.check.checks import CheckContext, list_checks
from arena.check.scripted_server import ScriptedServer, open_scripted_server
from arena.protocol.timecontrol import TimeControl

Verdict = Literal["passed", "failed", "skipped"]
"""Verdict of a check. All checks after a failed handshake are skipped, and so is a check that does not apply to the bot."""

BAD_USAGE_EXIT_CODE = 2
"""Exit code of a bot's process that rejects its command-line arguments."""
BOT_EXIT_TIMEOUT_SECONDS = 1.0
"""Seconds for which a failed check waits for the bot's process to end, so that the report has all its output."""
UNREACHABLE_BOT_REASON = "the bot could not be reached"
"""Reason shown for checks skipped after a failed handshake."""


class UnknownCheck(ValueError):
    """Raised when a requested check does not exist; the one-line message lists the names of all checks."""


class BadCommand(ValueError):
    """Raised when the bot's process rejects its command-line arguments; the message is the line that the process printed."""


class CheckResult(Struct, frozen=True):
    """Result of one check of a bot: passed, failed or skipped, with the reason and the last messages."""

    check: str
    verdict: Verdict
    requirement: str = field(name="asked")
    """Requirement that the check tests, as a sentence such as `The bot must ignore messages of unknown types.`"""
    reason: str = field(name="why", default="")
    """Reason why the check failed or was skipped; empty if it passed."""
    last_frames: list[str] = field(name="frames", default_factory=list)
    """Last frames before the fault, as text, the oldest first: `>` from the bot, `<` to the bot."""
    bot_output: list[str] = field(name="printed", default_factory=list)
    """Last lines that the bot's process printed before a failed check.

    Empty if the check passed or was skipped, or if `arena check` did not start the bot.
    """


async def check_bot(
    command: Sequence[str] | None,
    *,
    tiny_time_control: TimeControl,
    network_margin_ms: int,
    patience_seconds: float,
    check_names: Collection[str] = (),
    host: str = "127.0.0.1",
    port: int = 0,
    on_listening: Callable[[str], None] = lambda _url: None,
    on_result: Callable[[CheckResult], None] = lambda _result: None,
) -> list[CheckResult]:
    """Run the checks of a bot one after another, and return their results in order.

    command: command that starts the bot; None if the bot is started elsewhere. The bot connects to the URL in the
        environment variable ARENA_URL.
    tiny_time_control, network_margin_ms: time limit per move, and allowance for network delay, in the check "tiny clock"
    patience_seconds: time limit in seconds for each action of the bot that no chess clock limits, such as connecting
    check_names: names of the checks to run, besides the handshake; empty for all
    host, port: address on which the scripted server listens; port 0 for any free port
    on_listening: function that is called with the server's URL before the first check
    on_result: function that is called with each result as soon as it is known

    Raises OSError if the port cannot be used. Raises BadCommand if the bot's process prints one line and ends with exit
    code 2 instead of connecting. Raises UnknownCheck if `check_names` contains an unknown name, but only after the other
    checks, because the names of all checks are known only after the bot's hello.
    """
    results: list[CheckResult] = []
    async with open_scripted_server(command, patience_seconds, host, port) as server:
        on_listening(server.url)
        context = CheckContext(server, tiny_time_control, network_margin_ms)
        is_reachable = True
        for name, requirement, check in list_checks(context):
            if check_names and name not in check_names and name != "handshake":
                continue
            server.frame_log.recent_lines.clear()
            if not is_reachable:
                result = CheckResult(name, "skipped", requirement, UNREACHABLE_BOT_REASON)
            elif check is None:
                result = CheckResult(
                    name, "skipped", requirement, "does not apply to this bot, according to its hello"
                )
            else:
                try:
                    await check(context)
                    result = CheckResult(name, "passed", requirement)
                except ProtocolFault as fault:
                    result = await _make_failed_result(name, requirement, str(fault), server)
                    exit_code = None if server.bot_process is None else server.bot_process.exit_code
                    if (
                        name == "handshake"
                        and exit_code == BAD_USAGE_EXIT_CODE
                        and len(result.bot_output) == 1
                    ):
                        raise BadCommand(result.bot_output[0]) from None
                    # The next check starts with a new process and connection of the bot.
                    await server.stop_bot_process()
                    is_reachable = name != "handshake"
            results.append(result)
            on_result(result)
        names = [name for name, _, _ in list_checks(context)]
    unknown_names = set(check_names) - set(names)
    if unknown_names and is_reachable:
        raise UnknownCheck(
            f"no check is called {', '.join(sorted(unknown_names))}: choose from {', '.join(names)}"
        )
    return results


async def _make_failed_result(
    name: str, requirement: str, reason: str, server: ScriptedServer
) -> CheckResult:
    bot_output: list[str] = []
    if server.bot_process is not None:
        with anyio.move_on_after(BOT_EXIT_TIMEOUT_SECONDS):
            await server.bot_process.wait_for_exit()
        if server.bot_process.exit_code is not None:
            await server.bot_process.wait_for_remaining_output()
        bot_output = list(server.bot_process.output_tail)
    return CheckResult(name, "failed", requirement, reason, list(server.frame_log.recent_lines), bot_output)
