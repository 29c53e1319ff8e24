"""bots.commands.bot_run: the owner's console, if one of its outputs cannot be written."""

from __future__ import annotations

import errno
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from arena.bots.commands.bot_run import BotOwnerConsole
from tests.full_disk import FullOutput


def test_a_full_disk_is_reported_once_for_each_output_and_ends_no_bot() -> None:
    log, terminal = FullOutput(errno.ENOSPC), StringIO()
    log.name = "bot.log"
    console = BotOwnerConsole(log)
    with redirect_stdout(FullOutput(errno.ENOSPC)), redirect_stderr(terminal):
        for line in ("one", "two"):
            console.print_result(line)
        console.print_note("three")
    first, second, third = (line.partition(" ")[2] for line in terminal.getvalue().splitlines())
    assert first == "lines are lost, because bot.log cannot be written: No space left on device"
    assert second == "lines are lost, because standard output cannot be written: No space left on device"
    assert third == "three"
    with redirect_stdout(terminal), redirect_stderr(FullOutput(errno.ENOSPC)):
        BotOwnerConsole(None).print_note("four")
        BotOwnerConsole(None).print_result("five")
    assert terminal.getvalue().endswith("three\nfive\n")
