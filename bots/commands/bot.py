"""`arena bot`: connects an engine, or any program, to a server."""

from __future__ import annotations

import logging
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from bots.api.match import Ending, Match
from bots.api.options import BadSpec
from bots.commands.engine_option import load_engine
from bots.engines.from_program import program_engine
from bots.engines.registry import Engine
from console import Failure, Misuse, OwnGamesOption, err, know_games, out
from cores import cores
from games.catalogue import KNOWN
from protocol.codes import Code

DEFAULT_URL = "ws://127.0.0.1:8765"
MOST_NAMESAKES = 1000
SWITCH_SECONDS = 0.001
"""How long a searching thread may keep the interpreter from the one that reads the clock and the wire."""


def register(app: typer.Typer) -> None:
    """Add `arena bot`."""
    app.command("bot")(bot)


def bot(
    engine: Annotated[str, typer.Argument(help="A built-in engine, file.py, or file.py:Class.")] = "",
    program: Annotated[
        str,
        typer.Option(
            "--exec", metavar="COMMAND", help="Any program, by JSON lines (docs/stdio.md), instead."
        ),
    ] = "",
    logs: Annotated[
        Path | None,
        typer.Option("--logs", help="With --exec: keep what it writes to standard error here, MATCH.log."),
    ] = None,
    url: Annotated[
        str, typer.Option("--url", envvar="ARENA_URL", help="Where the server listens.")
    ] = DEFAULT_URL,
    name: Annotated[
        str, typer.Option("--name", envvar="ARENA_NAME", help="The bot's name; else the engine's.")
    ] = "",
    token: Annotated[
        str,
        typer.Option("--token", envvar="ARENA_TOKEN", help="The token of that name, if the host gave one."),
    ] = "",
    game: OwnGamesOption = None,
    matches: Annotated[int, typer.Option("--matches", min=1, max=1000, help="Matches at once.")] = 1,
    reconnect: Annotated[
        int, typer.Option("--reconnect", min=0, help="Tries in a row to return when the connection is lost.")
    ] = 16,  # as bots.client.client.RECONNECTS, which is not loaded for the help
    wait: Annotated[
        float, typer.Option("--wait", min=0, help="Seconds to wait for a server that is not there yet.")
    ] = 0.0,
    *,
    unique: Annotated[
        bool, typer.Option("--unique", help="When the name is taken, be NAME-2, NAME-3 and so on.")
    ] = False,
    challenges_only: Annotated[
        bool, typer.Option("--challenges-only", help="No matchmaker: play only whom challenges it.")
    ] = False,
    wire: Annotated[
        bool, typer.Option("--wire", help="Show every message, < from and > to the server.")
    ] = False,
) -> None:
    """Connect a bot to a server and play the matches that come, until the server stops or Ctrl-C.

    Each finished match is printed on a line. A bot's exception is printed with its traceback, and
    resigns the match.

    Example: arena bot my_bot.py --url ws://127.0.0.1:8765 --name mine

    Example: arena bot --exec "perl my_bot.pl" --name camel
    """
    know_games(game)
    made = _engine(engine, program, logs)
    name = name or made.name
    if len(name) > 64 or not name.isprintable() or name != name.strip():
        raise Misuse(f"--name {name!r:.80} is no name: 1 to 64 printed characters")
    sys.setswitchinterval(SWITCH_SECONDS)
    if wire:
        logging.basicConfig(format="%(asctime)s %(message)s", stream=sys.stderr)
        logging.getLogger("arena.client").setLevel(logging.DEBUG)
    _run(made, url, name, token, matches, reconnect, wait, pool=not challenges_only, unique=unique)


def _engine(spec: str, program: str, logs: Path | None) -> Engine:
    if bool(spec) == bool(program):
        raise Misuse("name an engine or a file.py, or give --exec COMMAND; one of the two")
    if logs is not None:
        if not program:
            raise Misuse("--logs is for a program: give --exec too")
        try:
            logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(f"--logs: cannot make the folder {logs}: {error.strerror}") from None
    if not program:
        return load_engine(spec)
    try:
        return program_engine(program, logs)
    except BadSpec as error:
        raise Misuse(str(error)) from None


def _run(
    made: Engine,
    url: str,
    name: str,
    token: str,
    matches: int,
    reconnect: int,
    wait: float,
    *,
    pool: bool,
    unique: bool,
) -> None:
    # These take a while to import, and only this command needs them.
    import anyio  # noqa: PLC0415

    from bots.client.client import Client, Options, finished_line  # noqa: PLC0415
    from bots.client.connection import BadURL, ClientError, ServerRefused  # noqa: PLC0415

    async def play(name: str) -> str:
        options = Options(
            url,
            name,
            token=token,
            matches=matches,
            program=made.spec,
            engine=made.about(_cores(matches, pool=pool)),
            games=tuple(KNOWN.names()[:32]),
            rules=KNOWN.digests(),
            pool=pool,
            reconnects=reconnect,
            wait=wait,
        )

        def tell(match: Match, ending: Ending) -> None:
            try:
                _say(finished_line(match, ending))
            except SystemExit:  # so rich tells that the output is closed, as by `| head`
                client.stop()

        client = Client(
            made.make,
            options,
            connected=lambda: err.print(f"{name} is connected to {url}", markup=False, highlight=False),
            finished=tell,
            complain=lambda text: err.print(text, markup=False, highlight=False, soft_wrap=True),
        )

        async def stop_on_signals() -> None:
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                async for _ in signals:
                    client.stop()
                    return

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop_on_signals)
            try:
                tally = await client.run()
            except ClientError as error:
                problem: ClientError | None = error
            else:
                problem = None
            tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem
        return str(tally)

    names = (name if number == 1 else f"{name}-{number}" for number in range(1, MOST_NAMESAKES + 1))
    for each in names:
        try:
            tally = anyio.run(play, each)
        except BadURL as error:
            raise Misuse(str(error)) from None
        except ClientError as error:
            taken = isinstance(error, ServerRefused) and error.code is Code.NAME_TAKEN
            if taken and unique:
                continue
            raise Failure(str(error)) from None
        _say(f"{each}: {tally}")
        return
    raise Failure(f"every name from {name} to {name}-{MOST_NAMESAKES} is taken")


def _cores(matches: int, *, pool: bool) -> int:
    """The cores for each match: those of this machine, shared among as many matches as the matchmaker may give at once.

    Whom only challenges reach plays with all of them: it mostly waits for people, who think longer than it does.
    """
    here = len(cores())
    return max(1, here // matches) if pool else here


def _say(line: str) -> None:
    out.print(line, markup=False, highlight=False, soft_wrap=True)
    # A bot whose output goes to a file or a pipe is watched as it plays.
    out.file.flush()
