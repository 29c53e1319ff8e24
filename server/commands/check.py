"""`arena check`: does a bot obey the protocol?"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Annotated

import anyio
import typer

from arena.console import (
    Failure,
    JsonOption,
    MarginOption,
    Misuse,
    OwnGamesOption,
    SeedOption,
    TimeOption,
    know_games,
    out,
    write_json,
)
from arena.games.catalogue import KNOWN
from arena.protocol.timecontrol import BadTimeControl, TimeControl
from arena.server.check.run import UNREACHED, Finding, UnknownCheck, examine
from arena.server.commands.check_games import check_games
from arena.server.commands.output import print_table, say


def register(app: typer.Typer) -> None:
    """Add `arena check`."""
    app.command("check")(check)


def check(
    bot: Annotated[str, typer.Argument(help="As `arena bot` takes it: a file.py or an engine.")] = "",
    program: Annotated[
        str, typer.Option("--exec", metavar="COMMAND", help="A program by JSON lines (docs/stdio.md).")
    ] = "",
    command: Annotated[
        str,
        typer.Option(
            "--command",
            metavar="COMMAND",
            help="A program that connects by itself, by ARENA_URL, ARENA_NAME and ARENA_TOKEN.",
        ),
    ] = "",
    dial_in: Annotated[
        bool, typer.Option("--dial-in", help="Start nothing: wait for a bot that connects.")
    ] = False,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="0: any free one.")
    ] = 0,
    game: OwnGamesOption = None,
    matches: Annotated[
        int,
        typer.Option(
            "--matches", metavar="N", min=1, max=100_000, help="Without a bot: random matches of each --game."
        ),
    ] = 100,
    seed: SeedOption = 1,
    tc: TimeOption = "0.1/move",
    margin: MarginOption = 100,
    patience: Annotated[
        float,
        typer.Option(
            "--patience", metavar="SECONDS", min=0.1, max=600, help="Seconds for what has no clock."
        ),
    ] = 10.0,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CHECK", help="Run this check only; may be given several times."),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Check whether a bot obeys the protocol, against a scripted server; exit code 1 when it does not.

    Each check that fails is told with why and with the frames that show it. --tc and --margin are
    for the check of a tiny clock.

    With --game and no bot it is the game that is checked: it is played at random, and what every game must
    keep is looked at in each position. With a bot, the bot is checked with that game too.

    Example: arena check my_bot.py

    Example: arena check --command "node bot.js" --json -

    Example: arena check --game connect4.py:ConnectFour
    """
    if game and not any((bot, program, command, dial_in)):
        check_games(game, matches, seed, json)
        return
    own = [word for spec in know_games(game) for word in ("--game", KNOWN.spec(spec))]
    if sum(map(bool, (bot, program, command, dial_in))) != 1:
        raise Misuse("say which bot: FILE or ENGINE, --exec COMMAND, --command COMMAND, or --dial-in")
    try:
        tiny = TimeControl.parse(tc)
    except BadTimeControl as error:
        raise Misuse(f"--tc: {error}") from None
    arena = [sys.executable, "-P", "-m", "arena", "bot"]
    words: Sequence[str] | None = None
    if bot:
        words = [*arena, bot, "--matches", "2", *own]
    elif program:
        words = [*arena, "--exec", program, "--matches", "2", *own]
    elif command:
        words = _split(command)

    async def main() -> list[Finding]:
        return await examine(
            words,
            tiny=tiny,
            margin_ms=margin,
            patience=patience,
            only=only or (),
            host=host,
            port=port,
            listening=lambda url: say(f"connect the bot to {url}") if dial_in else None,
            found=lambda finding: None if finding.why == UNREACHED else say(_in_a_line(finding)),
        )

    try:
        findings = anyio.run(main)
    except UnknownCheck as error:
        raise Misuse(f"--only: {error}") from None
    except OSError as error:
        raise Failure(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    if json is not None:
        write_json(findings, json)
    else:
        _print(findings)
    failed = sum(finding.verdict == "failed" for finding in findings)
    if failed:
        raise Failure(f"{failed} of {len(findings)} checks failed: {_names(findings)}")


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Misuse(f"--command: {command!r:.100} is no command line: {error}") from None
    if not words:
        raise Misuse("--command: write the program and its arguments")
    return words


def _in_a_line(finding: Finding) -> str:
    return f"{finding.verdict}: {finding.check}"


def _names(findings: Sequence[Finding]) -> str:
    return ", ".join(finding.check for finding in findings if finding.verdict == "failed")


def _print(findings: Sequence[Finding]) -> None:
    reached = [each for each in findings if each.why != UNREACHED]
    rows = [(each.check, each.verdict, each.why or each.asked) for each in reached]
    print_table({"check": "left", "verdict": "left", "what": "left"}, rows)
    if len(reached) < len(findings):
        say(f"{len(findings) - len(reached)} more checks are skipped: {UNREACHED}")
    for each in findings:
        if each.verdict != "failed":
            continue
        lines = ["", f"{each.check}: {each.why}", *(f"  {frame}" for frame in each.frames)]
        if each.printed:
            lines += ["  the bot printed:", *(f"    {line}" for line in each.printed)]
        out.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
