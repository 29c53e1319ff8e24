"""`arena bot`: connect an engine, or any program, to a server."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from arena import user_paths
from arena.bots.api.engine_spec import CONTAINER_SPEC_PREFIXES, PROGRAM_SPEC_PREFIX, BadSpec
from arena.bots.commands.bot_settings import (
    DEFAULT_SERVER_URL,
    BadBotSettings,
    BotSettings,
    read_settings,
    split_comma_list,
    validate_settings,
)
from arena.bots.engines.container import make_container_engine
from arena.bots.engines.from_program import make_program_engine
from arena.bots.engines.isolated import isolate_engine
from arena.bots.engines.registry import Engine, make_engine
from arena.console import CommandError, UsageError, is_option_given, validate_output_file

THREAD_SWITCH_INTERVAL_SECONDS = 0.001
"""Interval at which Python switches threads, in seconds. The interval is short so that a search does not delay the network."""


def bot(
    context: typer.Context,
    engine: Annotated[
        str,
        typer.Argument(
            metavar="ENGINE",
            help="Bot: ENGINE[:OPTION=VALUE], FILE.py[:Class], exec:COMMAND, image:IMAGE, submit:FILE.zip, or a settings file (bot.toml).",
        ),
    ] = "",
    program: Annotated[
        str,
        typer.Option(
            "--exec",
            metavar="COMMAND",
            help="Run this command as the bot; it must speak JSON Lines (docs/stdio.md).",
        ),
    ] = "",
    logs: Annotated[
        Path | None,
        typer.Option(
            "--logs",
            metavar="FOLDER",
            help="Folder for the bot's standard error, one file per match; needs --exec or --isolate.",
        ),
    ] = None,
    url: Annotated[
        str,
        typer.Option("--url", metavar="URL", envvar="ARENA_URL", help="Server address, e.g. ws://HOST:8765."),
    ] = DEFAULT_SERVER_URL,
    name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            envvar="ARENA_NAME",
            help="Name of the bot; default: the name of its engine.",
        ),
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            "--token",
            metavar="TOKEN",
            envvar="ARENA_TOKEN",
            help="Token for the bot's name, if the server requires one; you get it from the host.",
        ),
    ] = "",
    concurrency: Annotated[
        int,
        typer.Option("--matches", metavar="N", min=1, max=1000, help="Maximum number of parallel matches."),
    ] = 1,
    max_matches: Annotated[
        int | None,
        typer.Option(
            "--games",
            metavar="N",
            min=1,
            help="Exit after N matches; default: no limit.",
        ),
    ] = None,
    play_duration: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="TIME",
            help="Accept matches for this long, e.g. 10m, then finish those in progress.",
        ),
    ] = "ever",
    games: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            metavar="GAME,GAME",
            envvar="ARENA_GAME",
            help="Games to play, each a name or your FILE.py:Class, separated by commas; default: all.",
        ),
    ] = None,
    maps: Annotated[
        str,
        typer.Option(
            "--map", metavar="MAP,MAP", help="Riskless maps to play on, separated by commas; default: all."
        ),
    ] = "",
    time_controls: Annotated[
        str,
        typer.Option(
            "--tc",
            metavar="TIME,TIME",
            help="Time controls to play, separated by commas, e.g. 10+0.1 (seconds); default: all offered.",
        ),
    ] = "",
    challenge: Annotated[
        str,
        typer.Option(
            "--challenge",
            metavar="BOT",
            help="Keep challenging this bot, instead of joining the matchmaking pool.",
        ),
    ] = "",
    enter: Annotated[
        str,
        typer.Option("--enter", metavar="EVENT", help="Event of the server to enter, e.g. weekly."),
    ] = "",
    max_reconnect_attempts: Annotated[
        int | None,
        typer.Option(
            "--reconnect",
            metavar="N",
            min=0,
            help="Exit after N failed attempts to reconnect in a row; default: never.",
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="SECONDS", min=0, help="Seconds to wait for the server to start."),
    ] = 0.0,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="FILE",
            callback=validate_output_file,
            help="Also append the console output to this file.",
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="FOLDER",
            help="Folder for the state with which a restarted bot resumes its matches; default: beside bot.toml, else in ~/.local/state.",
        ),
    ] = None,
    *,
    casual: Annotated[
        bool, typer.Option("--casual", help="Play unrated matches; needs --challenge.")
    ] = False,
    unique: Annotated[
        bool, typer.Option("--unique", help="Use NAME-2, NAME-3 and so on if the name is taken.")
    ] = False,
    challenges_only: Annotated[
        bool,
        typer.Option(
            "--challenges-only", help="Play only matches by challenge; stay out of the matchmaking pool."
        ),
    ] = False,
    isolate: Annotated[
        bool,
        typer.Option("--isolate", help="Play each match in its own process."),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Print every protocol message: < received, > sent."),
    ] = False,
) -> None:
    """Connect a bot to a server.

    The bot plays the matches that the server assigns, until its event is over or you press Ctrl-C.

    Each finished match is printed as one line. If the bot raises an exception, its traceback is printed and the match
    is lost. The first Ctrl-C accepts no more matches and finishes those in progress, the second resigns them, and the
    third exits. SIGTERM exits immediately. If you restart the bot within the server's grace period, it resumes its
    matches. A file bot.toml can hold the same settings; options override it.

    Example: arena bot my_bot.py --url ws://127.0.0.1:8765 --name mine

    Example: arena bot my_bot.py --enter weekly

    Example: arena bot --exec "perl my_bot.pl" --name camel --challenge house-greedy --games 10
    """
    options = BotSettings(
        engine=engine,
        program=program,
        logs=logs,
        url=url,
        name=name,
        token=token.strip(),
        concurrency=concurrency,
        max_matches=max_matches,
        play_duration=play_duration,
        games=split_comma_list(",".join(games or ())),
        maps=split_comma_list(maps),
        time_controls=split_comma_list(time_controls),
        challenge=challenge,
        casual=casual,
        max_reconnect_attempts=max_reconnect_attempts,
        wait=wait,
        unique=unique,
        challenges_only=challenges_only,
        enter=enter,
        isolate=isolate,
        log=log,
        verbose=verbose,
        state=state,
    )
    given_options = {
        parameter.name: parameter.opts[0]
        for parameter in context.command.params
        if is_option_given(context, parameter.name)
    }
    settings = _merge_settings(options, given_options)
    chosen_engine = _make_engine(settings)
    name = settings.name or chosen_engine.name
    if len(name) > 64 or not name.isprintable() or name != name.strip():
        raise UsageError(
            f"--name {name!r:.80} is not a valid name: write 1 to 64 printable characters, without a space at either end"
        )
    sys.setswitchinterval(THREAD_SWITCH_INTERVAL_SECONDS)
    if settings.verbose:
        logging.getLogger("arena.client").setLevel(logging.DEBUG)
    # This import is slow, and only a running bot needs it.
    from arena.bots.commands.bot_run import run_bot  # noqa: PLC0415

    run_bot(chosen_engine, settings, name)


def _merge_settings(command_settings: BotSettings, given_options: Mapping[str, str]) -> BotSettings:
    """Return the settings of the bot.toml that `command_settings.engine` names, overridden by `given_options`.

    If `command_settings.engine` is not a bot.toml, return `command_settings`.

    command_settings  settings from the command line; each option that the user did not give has its default
    given_options     options that the user gave, such as `--tc`, by the name of their setting

    Raises UsageError if an option or the file is invalid.
    """
    try:
        # The weights of an engine may end like a bot.toml: alphabeta:evaluator=my.toml
        is_bot_file = command_settings.engine.endswith(".toml") and (
            ":" not in command_settings.engine or user_paths.is_file(command_settings.engine)
        )
        if not is_bot_file:
            return validate_settings(command_settings)
        file_settings = read_settings(Path(command_settings.engine))
        if "program" in given_options:
            file_settings = replace(file_settings, engine="")
        command_line_settings = {
            key: getattr(command_settings, key) for key in given_options if key != "engine"
        }
        merged_settings = validate_settings(
            replace(file_settings, **command_line_settings),
            lambda key: (
                f"--{key}" if f"--{key}" in given_options.values() else f"{command_settings.engine}: {key}"
            ),
        )
    except BadBotSettings as error:
        raise UsageError(str(error)) from None
    if not (merged_settings.engine or merged_settings.program):
        raise UsageError(
            f'the settings in {command_settings.engine} have neither engine nor exec: add engine = "my_bot.py" or exec = "COMMAND"'
        )
    if merged_settings.engine and merged_settings.program:
        raise UsageError(
            f"the settings in {command_settings.engine} have both engine and exec: leave one of them out"
        )
    return merged_settings


def _make_engine(settings: BotSettings) -> Engine:
    if settings.engine == PROGRAM_SPEC_PREFIX:
        raise UsageError(f"{PROGRAM_SPEC_PREFIX} has no command: write {PROGRAM_SPEC_PREFIX}COMMAND")
    if settings.engine.startswith(PROGRAM_SPEC_PREFIX) and not settings.program:
        settings = replace(settings, engine="", program=settings.engine.removeprefix(PROGRAM_SPEC_PREFIX))
    if bool(settings.engine) == bool(settings.program):
        raise UsageError("give exactly one bot: an engine, a FILE.py or --exec COMMAND")
    is_container = settings.engine.startswith(CONTAINER_SPEC_PREFIXES)
    if settings.isolate and is_container:
        raise UsageError(
            f"leave out --isolate, which runs a bot in a separate process: {settings.engine} already runs in a container"
        )
    if settings.logs is not None:
        if not (settings.program or settings.isolate or is_container):
            raise UsageError("--logs needs a separate process: give --exec or --isolate too")
        try:
            settings.logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"--logs: cannot make the folder {settings.logs}: {error.strerror}") from None
    try:
        if is_container:
            return make_container_engine(settings.engine, settings.logs)
        if settings.program:
            return make_program_engine(settings.program, settings.logs)
        engine = make_engine(settings.engine)
    except BadSpec as error:
        raise UsageError(str(error)) from None
    return isolate_engine(engine, settings.logs) if settings.isolate else engine
