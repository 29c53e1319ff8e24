"""The house: engines that a server runs itself, so that whoever comes has somebody to play.

A house bot is `arena bot ENGINE` in a process of its own, on the wire like any other. It plays only whom
challenges it, several matches at once. It is started when it is first challenged, started again when it
crashes or hangs, and ended with the server. Whenever it is started, it goes on with the matches that it is in.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePath

import anyio
import anyio.abc

from games.core import Player
from protocol.messages import Present
from protocol.record import Record
from rating.standings import answered
from server.host import Host
from server.processes.bot_process import BotProcess, Launch, Patience, State, engine_command
from server.store.tokens import is_name

PREFIX = "house-"
"""Before the engine's name: `arena bot greedy` must find its own name free."""
DEFAULT = "greedy,alphabeta:depth=6"
"""One that beginners beat, and one that they do not; both answer at once and leave the cores to others."""
NONE = "none"
MATCHES = 4
"""That one house bot plays at once."""
PATIENCE = Patience(restarts=100, backoff_limit=60)
"""A server runs for months: its bots are given up only when they fail for hours and never make a move."""


class BadHouse(ValueError):
    """A list of house bots that cannot be understood; one line."""


@dataclass(frozen=True)
class HouseBot:
    """A bot of the house: its name, and the engine that it runs."""

    name: str
    engine: str


def house_bots(text: str) -> list[HouseBot]:
    """The bots of a list of engines, as in `greedy,alphabeta:depth=6,exact=yes`. Raises BadHouse."""
    if text.strip() == NONE:
        return []
    engines: list[str] = []
    for part in text.split(","):
        # an engine's options are divided by commas as the engines are
        if engines and ":" in engines[-1] and "=" in part and ":" not in part:
            engines[-1] += f",{part.strip()}"
        else:
            engines.append(part.strip())
    bots: list[HouseBot] = []
    for engine in engines:
        name = PREFIX + PurePath(engine.partition(":")[0]).stem
        twins = sum(each.name == name or each.name.startswith(f"{name}-") for each in bots)
        name = f"{name}-{twins + 1}" if twins else name
        if not engine or not is_name(name):
            raise BadHouse(f"{text!r:.80} is no list of engines: write greedy,alphabeta:depth=6, or {NONE}")
        bots.append(HouseBot(name, engine))
    return bots


class House:
    """The house bots of one server. Made by `open_house`."""

    def __init__(
        self,
        host: Host,
        bots: Sequence[HouseBot],
        patience: Patience,
        notice: Callable[[str], None],
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        self._host = host
        self._notice = notice
        self._tasks = tasks
        self._patience = patience
        self._checking = False
        self._started: set[str] = set()
        self._changed = anyio.Event()
        self._processes = {
            bot.name: BotProcess(
                Launch(bot.name, self._command(bot), None), host, patience, notice, self._look
            )
            for bot in bots
        }
        host.lobby.house = {bot.name: Present(bot.name, bot.engine, 0, MATCHES, house=True) for bot in bots}
        for bot in bots:
            # Before anybody can come in under the name.
            host.issue_token(bot.name)

    def _command(self, bot: HouseBot) -> tuple[str, ...]:
        started = engine_command(bot.engine, self._host.inside_url, bot.name)
        return (*started, "--challenges-only", "--matches", str(MATCHES))

    def wake(self, name: str) -> None:
        """Start a bot, unless that was done."""
        if name not in self._started:
            self._started.add(name)
            self._tasks.start_soon(self._processes[name].run)

    def wake_for_matches(self) -> None:
        """Start the bots whose matches were in progress when the server went away: they go on with them."""
        for name in self._processes:
            member = self._host.lobby.find(name)
            if member is not None and member.matches:
                self.wake(name)

    async def start_all(self) -> str | None:
        """Start every bot, and wait until all are up; what one says that was named wrongly, if one was."""
        self._checking = True
        for name in self._processes:
            self.wake(name)
        with anyio.move_on_after(self._patience.settle):
            while any(each.state is State.STARTING for each in self._processes.values()):
                await self._changed.wait()
        self._checking = False
        return next((each.refusal for each in self._processes.values() if each.refusal), None)

    def ended(self, record: Record) -> None:
        """A match is over: a bot that made no move in its matches hangs."""
        for seat, name in ((Player.MAXIE, record.players.maxie), (Player.MINNIE, record.players.minnie)):
            process = self._processes.get(name)
            if process is None:
                continue
            match answered(record, seat, name):
                case True:
                    process.answered()
                case False:
                    process.stayed_silent()

    def _look(self) -> None:
        for name, process in self._processes.items():
            if process.state is State.LOST and self._host.lobby.house.pop(name, None) is not None:
                if process.refusal is not None and not self._checking:
                    self._notice(f"bot {name} cannot be started: {process.refusal}")
                self._host.arranger.close_of(name, f"{name} cannot be started")
                self._host.lobby.stir()
        self._changed.set()
        self._changed = anyio.Event()


@asynccontextmanager
async def open_house(
    host: Host,
    bots: Sequence[HouseBot],
    *,
    guests: bool,
    notice: Callable[[str], None],
    patience: Patience = PATIENCE,
) -> AsyncIterator[House]:
    """Have these bots in the house; on leaving, however that comes, their processes are ended.

    guests  who has no token may play them too
    notice  told of every crash and hang, in a line that names the bot, with its last output below
    """
    async with anyio.create_task_group() as tasks:
        house = House(host, bots, patience, notice, tasks)
        host.arranger.wake = house.wake
        house.wake_for_matches()
        host.lobby.accounts.guests = host.pages.guests = guests and bool(bots)
        try:
            yield house
        finally:
            tasks.cancel_scope.cancel()
