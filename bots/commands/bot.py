"""`arena bot`: connects an engine, or any program, to a server."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from arena.bots.api.options import PROGRAM, BadSpec
from arena.bots.commands.bot_settings import (
    DEFAULT_URL,
    BadSettings,
    BotSettings,
    checked,
    listed,
    read_settings,
)
from arena.bots.commands.options import load_engine
from arena.bots.engines.from_program import program_engine
from arena.bots.engines.isolated import isolated
from arena.bots.engines.registry import Engine
from arena.console import Failure, Misuse, is_given

SWITCH_SECONDS = 0.001
"""How long a searching thread may keep the interpreter from the one that reads the clock and the wire."""


def register(app: typer.Typer) -> None:
    """Add `arena bot`."""
    app.command("bot")(bot)


def bot(
    context: typer.Context,
    engine: Annotated[
        str,
        typer.Argument(
            metavar="ENGINE", help="A built-in engine, file.py, file.py:Class, exec:COMMAND, or bot.toml."
        ),
    ] = "",
    program: Annotated[
        str,
        typer.Option(
            "--exec", metavar="COMMAND", help="Any program, by JSON lines (docs/stdio.md), instead."
        ),
    ] = "",
    logs: Annotated[
        Path | None,
        typer.Option(
            "--logs",
            metavar="FOLDER",
            help="With --exec or --isolate: keep what it writes to standard error here, MATCH.log.",
        ),
    ] = None,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", envvar="ARENA_URL", help="Where the server listens.")
    ] = DEFAULT_URL,
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", envvar="ARENA_NAME", help="The bot's name; else the engine's."
        ),
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            "--token",
            metavar="TOKEN",
            envvar="ARENA_TOKEN",
            help="The token of that name, if the host gave one.",
        ),
    ] = "",
    matches: Annotated[
        int, typer.Option("--matches", metavar="N", min=1, max=1000, help="Matches at once.")
    ] = 1,
    games: Annotated[
        int | None,
        typer.Option("--games", metavar="N", min=1, help="Play so many matches, then end; else until told."),
    ] = None,
    for_: Annotated[
        str,
        typer.Option("--for", metavar="TIME", help="Take no more matches after 30s, 10m or 2h, then end."),
    ] = "ever",
    game: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            metavar="GAME,GAME",
            envvar="ARENA_GAME",
            help="Play these games only, of your own too (FILE.py:Class); else all that are known here.",
        ),
    ] = None,
    map: Annotated[
        str, typer.Option("--map", metavar="MAP,MAP", help="Play Riskless on these maps only; else on all.")
    ] = "",
    tc: Annotated[
        str, typer.Option("--tc", metavar="TIME,TIME", help="Play at these time controls only, as 10+0.1.")
    ] = "",
    challenge: Annotated[
        str,
        typer.Option(
            "--challenge",
            metavar="BOT",
            help="Challenge this bot again and again, to the first of --game, --map and --tc; the pool gives nothing.",
        ),
    ] = "",
    reconnect: Annotated[
        int | None,
        typer.Option(
            "--reconnect",
            metavar="N",
            min=0,
            help="Tries in a row to return when the connection is lost or the server stops; else for ever.",
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            "--wait", metavar="SECONDS", min=0, help="Seconds to wait for a server that is not there yet."
        ),
    ] = 0.0,
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="FILE", help="Keep all that it says here, with date and time."),
    ] = None,
    *,
    casual: Annotated[
        bool, typer.Option("--casual", help="With --challenge: ask for matches that are not rated.")
    ] = False,
    unique: Annotated[
        bool, typer.Option("--unique", help="When the name is taken, be NAME-2, NAME-3 and so on.")
    ] = False,
    challenges_only: Annotated[
        bool, typer.Option("--challenges-only", help="No matchmaker: play only whom challenges it.")
    ] = False,
    isolate: Annotated[
        bool,
        typer.Option("--isolate", help="Play each match in a process of its own, which is ended with it."),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "--wire", help="Show every message, < from and > to the server."),
    ] = False,
) -> None:
    """Connect a bot to a server and play the matches that come, until its event is over or Ctrl-C.

    Each finished match is printed on a line. A bot's exception is printed with its traceback, and
    loses the match. The first Ctrl-C takes no more matches and finishes those in play, the second gives
    them up, and the third leaves; SIGTERM leaves at once, and the server waits for the bot for a while.
    A file bot.toml may say the same as the options, which then count before it.

    Example: arena bot my_bot.py --url ws://127.0.0.1:8765 --name mine

    Example: arena bot --exec "perl my_bot.pl" --name camel --challenge house-greedy --games 10
    """
    told = BotSettings(
        engine=engine,
        program=program,
        logs=logs,
        url=url,
        name=name,
        token=token,
        matches=matches,
        games=games,
        for_=for_,
        game=listed(",".join(game or ())),
        map=listed(map),
        tc=listed(tc),
        challenge=challenge,
        casual=casual,
        reconnect=reconnect,
        wait=wait,
        unique=unique,
        challenges_only=challenges_only,
        isolate=isolate,
        log=log,
        verbose=verbose,
    )
    given = {key for key in context.params if is_given(context, key)}
    settings = _settings(told, given)
    made = _engine(settings)
    name = settings.name or made.name
    if len(name) > 64 or not name.isprintable() or name != name.strip():
        raise Misuse(f"--name {name!r:.80} is no name: 1 to 64 printed characters")
    sys.setswitchinterval(SWITCH_SECONDS)
    if settings.verbose:
        logging.getLogger("arena.client").setLevel(logging.DEBUG)
    # It takes a while to import, and only a bot that runs needs it.
    from arena.bots.commands.bot_run import run  # noqa: PLC0415

    run(made, settings, name)


def _settings(told: BotSettings, given: set[str]) -> BotSettings:
    """The settings by the options, or by a file and those options that were `given` beside it. Raises Misuse."""
    try:
        if not told.engine.endswith(".toml"):
            return checked(told)
        file = read_settings(Path(told.engine))
        if "program" in given:
            file = replace(file, engine="")
        beside = {key: getattr(told, key) for key in given - {"engine"}}
        return checked(replace(file, **beside))
    except BadSettings as error:
        raise Misuse(str(error)) from None


def _engine(settings: BotSettings) -> Engine:
    if settings.engine.startswith(PROGRAM) and not settings.program:
        settings = replace(settings, engine="", program=settings.engine.removeprefix(PROGRAM))
    if bool(settings.engine) == bool(settings.program):
        raise Misuse("name an engine or a file.py, or give --exec COMMAND; one of the two")
    if settings.logs is not None:
        if not (settings.program or settings.isolate):
            raise Misuse("--logs is for a program: give --exec or --isolate too")
        try:
            settings.logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(f"--logs: cannot make the folder {settings.logs}: {error.strerror}") from None
    if not settings.program:
        made = load_engine(settings.engine)
        return isolated(made, settings.logs) if settings.isolate else made
    try:
        return program_engine(settings.program, settings.logs)
    except BadSpec as error:
        raise Misuse(str(error)) from None
