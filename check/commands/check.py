"""The command `arena check`, which checks whether a bot follows the protocol."""

from __future__ import annotations

import errno
import shlex
import sys
from collections.abc import Sequence
from typing import Annotated

import anyio
import typer

from arena.check.commands.check_games import check_games
from arena.check.run import UNREACHABLE_BOT_REASON, BadCommand, CheckResult, UnknownCheck, check_bot
from arena.console import (
    CommandError,
    JsonOption,
    MarginOption,
    OwnGamesOption,
    SeedOption,
    TimeOption,
    UsageError,
    err,
    out,
    parse_time_control_option,
    print_table,
    register_games,
    write_json,
)
from arena.games.catalogue import CATALOGUE


def check(
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT", help="Bot to check: built-in engine, FILE.py, image:NAME or submit:FILE.zip."
        ),
    ] = "",
    program: Annotated[
        str,
        typer.Option(
            "--exec",
            metavar="COMMAND",
            help="Program that speaks JSON Lines over stdin and stdout (docs/stdio.md).",
        ),
    ] = "",
    command: Annotated[
        str,
        typer.Option(
            "--command",
            metavar="COMMAND",
            help="Program that connects by itself; it gets ARENA_URL, ARENA_NAME and ARENA_TOKEN as environment variables.",
        ),
    ] = "",
    dial_in: Annotated[
        bool,
        typer.Option("--dial-in", help="Check a bot that you start yourself: wait until it connects."),
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port to listen on; 0: any free port."),
    ] = 0,
    game: OwnGamesOption = None,
    match_count: Annotated[
        int,
        typer.Option(
            "--matches",
            metavar="N",
            min=1,
            max=100_000,
            help="Number of random matches to test the rules of each --game, without a bot.",
        ),
    ] = 100,
    seed: SeedOption = 1,
    tc: TimeOption = "0.1/move",
    margin: MarginOption = 100,
    patience: Annotated[
        float,
        typer.Option(
            "--patience",
            metavar="SECONDS",
            min=0.1,
            max=600,
            help="Seconds to wait for the bot while no clock runs, e.g. while it starts.",
        ),
    ] = 10.0,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CHECK", help="Run only the check of this name; may be repeated."),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Check that a bot follows the protocol.

    A scripted server plays against the bot. The exit code is 1 if a check fails.

    For each failed check, the reason and the last messages between server and bot are shown. --tc and --margin are the
    time limits of the check "tiny clock".

    With --game and no bot, the game itself is checked: random matches are played, and each position is tested for the
    properties that every game must have. With --game and a bot, the bot is also checked with that game.

    Example: arena check my_bot.py

    Example: arena check --command "node bot.js" --json -

    Example: arena check --game connect4.py:ConnectFour
    """
    if game and not any((bot, program, command, dial_in)):
        check_games(game, match_count, seed, json)
        return
    game_options = [
        word for spec in register_games(game) for word in ("--game", CATALOGUE.get_game_spec(spec))
    ]
    if sum(map(bool, (bot, program, command, dial_in))) != 1:
        raise UsageError(
            "give exactly one bot: FILE or ENGINE, --exec COMMAND (speaks JSON Lines), "
            "--command COMMAND (connects by itself), or --dial-in"
        )
    tiny_time_control = parse_time_control_option(tc)
    bot_command = [sys.executable, "-P", "-m", "arena", "bot"]
    command_line: Sequence[str] | None = None
    if bot:
        command_line = [*bot_command, bot, "--matches", "2", *game_options]
    elif program:
        command_line = [*bot_command, "--exec", program, "--matches", "2", *game_options]
    elif command:
        command_line = _split_command(command)

    async def run_checks() -> list[CheckResult]:
        return await check_bot(
            command_line,
            tiny_time_control=tiny_time_control,
            network_margin_ms=margin,
            patience_seconds=patience,
            check_names=only or (),
            host=host,
            port=port,
            on_listening=lambda url: err.print(f"connect the bot to {url}") if dial_in else None,
            on_result=lambda result: (
                None
                if result.reason == UNREACHABLE_BOT_REASON
                else err.print(f"{result.verdict}: {result.check}")
            ),
        )

    try:
        results = anyio.run(run_checks)
    except BadCommand as error:
        raise UsageError(str(error).removeprefix("arena: ")) from None
    except UnknownCheck as error:
        raise UsageError(f"--only: {error}") from None
    except OSError as error:
        why = "the port is in use" if error.errno == errno.EADDRINUSE else error.strerror or error
        raise CommandError(f"cannot listen on {host}:{port}: {why}; give another --host or --port") from None
    if json is not None:
        write_json(results, json)
    else:
        _print_results(results)
    failed_checks = [result.check for result in results if result.verdict == "failed"]
    if failed_checks:
        raise CommandError(
            f"{len(failed_checks)} of {len(results)} checks failed: {', '.join(failed_checks)}"
        )


def _split_command(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--command: {command!r:.100} is not a valid command line: {error}") from None
    if not arguments:
        raise UsageError("--command is empty: write the program and its arguments")
    return arguments


def _print_results(results: Sequence[CheckResult]) -> None:
    reached_checks = [result for result in results if result.reason != UNREACHABLE_BOT_REASON]
    rows = [(result.check, result.verdict, result.reason or result.requirement) for result in reached_checks]
    print_table({"check": "left", "verdict": "left", "what": "left"}, rows)
    if len(reached_checks) < len(results):
        err.print(f"{len(results) - len(reached_checks)} more checks are skipped: {UNREACHABLE_BOT_REASON}")
    for result in results:
        if result.verdict != "failed":
            continue
        lines = ["", f"{result.check}: {result.reason}", *(f"  {frame}" for frame in result.last_frames)]
        if result.bot_output:
            lines += ["  the bot printed:", *(f"    {line}" for line in result.bot_output)]
        out.print("\n".join(lines))
