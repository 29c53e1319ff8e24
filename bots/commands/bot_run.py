"""Runs the bot that `arena bot` is told to connect, until it has played what it is to play, or a signal ends it.

The first Ctrl-C takes no more matches and plays those that are begun, the second gives them up, the third leaves. SIGTERM
leaves at once, and gives nothing up: the server waits for the bot as for any that is lost.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from importlib.util import find_spec

import anyio

from arena.bots.api.match import Ending, Match
from arena.bots.client.client import Client
from arena.bots.client.connection import BadURL, ClientError, ServerRefused
from arena.bots.client.options import Options
from arena.bots.client.tally import finished_line
from arena.bots.commands.bot_settings import BotSettings, listed
from arena.bots.commands.bot_teller import Teller, open_teller
from arena.bots.engines.registry import Engine
from arena.console import Failure, Misuse
from arena.cores import cores
from arena.games.catalogue import KNOWN
from arena.protocol.codes import Code

MOST_NAMESAKES = 1000
MOST_GAMES = 32
"""Games that a hello may name."""
Note = Callable[[str], None]
"""Tells the bot's owner something beside the results."""


def run(made: Engine, settings: BotSettings, name: str) -> None:
    """Play under this name, or where it is taken and may be varied under the next. Raises Failure and Misuse."""
    with open_teller(settings.log) as teller:
        _run(made, settings, name, teller)


def _run(made: Engine, settings: BotSettings, name: str, teller: Teller) -> None:
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, MOST_NAMESAKES + 1))
    for each in names:
        try:
            told = anyio.run(
                _play,
                made,
                settings,
                each,
                teller,
                backend_options={"use_uvloop": find_spec("uvloop") is not None},
            )
        except BadURL as error:
            raise Misuse(str(error)) from None
        except ClientError as error:
            taken = isinstance(error, ServerRefused) and error.code is Code.NAME_TAKEN
            if taken and settings.unique:
                continue
            raise Failure(str(error)) from None
        teller.say(f"{each}: {told}")
        return
    raise Failure(f"every name from {name} to {name}-{MOST_NAMESAKES} is taken")


async def _play(made: Engine, settings: BotSettings, name: str, teller: Teller) -> str:
    """How it went, in words. Raises ClientError."""
    options = Options(
        settings.url,
        name,
        token=settings.token,
        matches=settings.matches,
        program=made.spec,
        engine=made.about(_cores(settings)),
        games=listed(settings.game) or tuple(KNOWN.names()[:MOST_GAMES]),
        rules=KNOWN.digests(),
        maps=listed(settings.map),
        time_controls=listed(settings.tc),
        challenge=settings.asks(),
        pool=not (settings.challenges_only or settings.challenge),
        reconnects=settings.reconnect,
        wait=settings.wait,
        quota=settings.games,
    )

    def tell(match: Match, ending: Ending) -> None:
        try:
            teller.say(finished_line(match, ending))
        except SystemExit:  # so rich tells that the output is closed, as by `| head`
            client.stop()

    client = Client(made.make, options, finished=tell, tell=teller.note, complain=teller.note)
    problem: ClientError | None = None
    async with anyio.create_task_group() as tasks:
        await tasks.start(_follow_signals, client, teller.note)
        if settings.seconds < math.inf:
            tasks.start_soon(_finish_after, settings.seconds, client, teller.note)
        try:
            await client.run()
        except ClientError as error:
            problem = error
        tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem
    left = f", {client.playing} left in play" if client.playing else ""
    return f"{client.tally}{left}"


async def _follow_signals(
    client: Client, note: Note, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    steps: list[Callable[[], None]] = [lambda: _finish(client, note), lambda: _resign(client, note)]
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for number in signals:
            if number == signal.SIGTERM or not steps:
                client.stop()
            else:
                steps.pop(0)()


def _finish(client: Client, note: Note) -> None:
    if client.playing:
        note(f"taking no more matches, and finishing {client.playing}; Ctrl-C again gives up")
    client.finish()


def _resign(client: Client, note: Note) -> None:
    if client.playing:
        note(f"giving up {client.playing}; Ctrl-C again leaves at once")
    client.resign()


async def _finish_after(seconds: float, client: Client, note: Note) -> None:
    await anyio.sleep(seconds)
    if client.playing:
        note(f"the time is over: taking no more matches, and finishing {client.playing}")
    client.finish()


def _cores(settings: BotSettings) -> int:
    """The cores for each match: those of this machine, shared among as many matches as the matchmaker may give at once.

    Whom only challenges reach plays with all of them: it mostly waits for people, who think longer than it does.
    """
    here = len(cores())
    return here if settings.challenges_only or settings.challenge else max(1, here // settings.matches)
