"""The house: engines that a server runs itself, so that whoever comes has somebody to play.

A house bot is `arena bot ENGINE` in a process of its own, on the wire like any other. It plays only whom
challenges it, several matches at once. It is started when it is first challenged, started again when it
crashes or hangs, and ended with the server. Whenever it is started, it goes on with the matches that it is in.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import anyio.abc

from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matchmaking.arranger import Arranger
from arena.server.lobby.matchmaking.outcome import Outcome
from arena.server.lobby.roster import MATCHES, BadHouse, HouseBot
from arena.server.processes.bot_process import BotProcess, Launch, Patience, State, engine_command
from arena.server.processes.tasks import cancelled_at_exit

log = logging.getLogger("arena.house")

PATIENCE = Patience(restarts=100, backoff_limit=60)
"""A server runs for months: its bots are given up only when they fail for hours and never make a move."""


@dataclass(frozen=True)
class HousePlan:
    """Which house bots a server has, and how it treats them."""

    bots: Sequence[HouseBot] = ()
    guests: bool = True
    """Whether people without a token may play the house bots."""
    check: bool = False
    """Whether all house bots are started when the server is opened, and one that cannot be started is an error."""
    notice: Callable[[str], None] = log.warning
    """Told of every crash and hang, in a line that names the bot, with its last output below."""
    patience: Patience = PATIENCE
    games: Sequence[str] = ()
    """The games of somebody's own that the bots are to know, as `arena bot --game` takes them."""

    @property
    def lets_guests_in(self) -> bool:
        """Whether guests are let in: only where there is a house bot to play."""
        return self.guests and bool(self.bots)


NO_HOUSE = HousePlan()
"""The plan of a server without house bots."""


@dataclass(frozen=True)
class _Inside:
    """Where house bots connect: `server.processes.bot_process.Reception`."""

    url: str
    lobby: Lobby

    def issue_token(self, name: str) -> str:
        return self.lobby.accounts.issue(name)

    async def wait_connected(self, name: str, seconds: float) -> bool:
        return await self.lobby.wait_connected(name, seconds)

    async def died(self, name: str, how: str) -> None:
        """Nothing: its matches wait for it, as it is started again and goes on with them."""


class House:
    """The processes of one server's house bots. Made by `open_house`."""

    def __init__(
        self, plan: HousePlan, lobby: Lobby, arranger: Arranger, url: str, tasks: anyio.abc.TaskGroup
    ) -> None:
        """Set up the processes without starting one; `url` is where they connect."""
        self._plan = plan
        self._lobby = lobby
        self._arranger = arranger
        self._tasks = tasks
        self._checking = False
        self._started: set[str] = set()
        self._changed = anyio.Event()
        reception = _Inside(url, lobby)
        self._processes = {
            bot.name: BotProcess(
                Launch(bot.name, _command(bot, url, plan.games), None),
                reception,
                plan.patience,
                plan.notice,
                self._look,
            )
            for bot in plan.bots
        }

    async def follow(self) -> None:
        """Start whoever the roster asks for, and learn from its finished matches who hangs, until cancelled."""
        while True:
            asked, finished = await self._lobby.house.news()
            for name in asked:
                self._start(name)
            for outcome in finished:
                self._judge(outcome)

    def start_those_in_matches(self) -> None:
        """Start the bots whose matches were in progress when the server went away: they go on with them."""
        for name in self._processes:
            member = self._lobby.find(name)
            if member is not None and member.matches:
                self._start(name)

    async def check(self) -> None:
        """Start every bot, and wait until all are up. Raises BadHouse where one was named wrongly."""
        self._checking = True
        for name in self._processes:
            self._start(name)
        with anyio.move_on_after(self._plan.patience.settle):
            while any(each.state is State.STARTING for each in self._processes.values()):
                await self._changed.wait()
        self._checking = False
        for process in self._processes.values():
            if process.refusal is not None:
                raise BadHouse(process.refusal)

    def _start(self, name: str) -> None:
        member = self._lobby.find(name)
        if name not in self._started and (member is None or member.distant is None):
            self._started.add(name)
            self._tasks.start_soon(self._processes[name].run)

    def _judge(self, outcome: Outcome) -> None:
        """Look whether a house bot made a move in a match that is over: one that never does hangs."""
        players = outcome.players
        for name, moved in zip((players.maxie, players.minnie), outcome.answered, strict=True):
            process = self._processes.get(name)
            if process is None:
                continue
            match moved:
                case True:
                    process.answered()
                case False:
                    process.stayed_silent()

    def _look(self) -> None:
        """Look which bots are lost: nobody can challenge them any more."""
        for name, process in self._processes.items():
            if process.state is State.LOST and self._lobby.house.remove(name):
                if process.refusal is not None and not self._checking:
                    self._plan.notice(f"bot {name} cannot be started: {process.refusal}")
                self._arranger.close_of(name, f"{name} cannot be started")
                self._lobby.stir()
        self._changed.set()
        self._changed = anyio.Event()


def _command(bot: HouseBot, url: str, games: Sequence[str]) -> tuple[str, ...]:
    return (*engine_command(bot.engine, url, bot.name, games), "--challenges-only", "--matches", str(MATCHES))


@asynccontextmanager
async def open_house(plan: HousePlan, lobby: Lobby, arranger: Arranger, url: str) -> AsyncIterator[None]:
    """Run the house bots of a server that listens at `url`, as the roster of its lobby asks for them.

    On leaving, however that comes, their processes are ended. Raises BadHouse where the plan asks for a
    check and a bot cannot be started.
    """
    async with cancelled_at_exit() as tasks:
        house = House(plan, lobby, arranger, url, tasks)
        house.start_those_in_matches()
        tasks.start_soon(house.follow)
        if plan.check:
            await house.check()
        yield
