"""The bots of an event as processes on this machine: who is free to play, who is starting, who is lost.

A bot plays one match at a time in one process. Where more matches are to run at once than there are
bots for, each bot gets twins: `greedy`, `greedy#2`. So matches run side by side on real cores,
and a crash costs one match.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from arena.ladder.bots import BotRefused
from arena.ladder.plan import BotPlan
from arena.server.host import Host
from arena.server.processes.bot_process import BotProcess, Launch, Patience, State, engine_command


class Fleet:
    """The processes of all bots. Made by `open_fleet`."""

    def __init__(self, host: Host, processes: dict[str, list[BotProcess]], patience: Patience) -> None:
        self._host = host
        self._processes = processes
        self._patience = patience
        self._playing: set[str] = set()
        self._event = anyio.Event()

    def take(self, bot: str) -> str | None:
        """The name of a process of the bot that is connected and free, now taken; None if there is none."""
        for process in self._processes[bot]:
            if process.state is State.UP and process.name not in self._playing:
                self._playing.add(process.name)
                process.begins()
                return process.name
        return None

    def release(self, name: str) -> None:
        """Give back a process that was taken and not used."""
        self._playing.discard(name)

    def give_back(self, bot: str, name: str, *, answered: bool | None, gave_up: str = "") -> None:
        """The match is over. `answered`: whether it made a move; None where that says nothing of it."""
        self._playing.discard(name)
        process = next(each for each in self._processes[bot] if each.name == name)
        if gave_up:
            process.gave_up(gave_up)
        if answered is True:
            process.answered()
        elif answered is False:
            process.stayed_silent()
        self.stir()

    def asks(self, bot: str) -> int:
        """How many threads the bot says that it searches with; 0 where none of its processes has said."""
        return max(self._host.lobby.asks(process.name) for process in self._processes[bot])

    def process_of(self, name: str) -> int | None:
        """The process of a name that was taken, with all that it started below it; None if it has none."""
        return next((each.process for each in self._everyone() if each.name == name), None)

    def lost(self, bot: str) -> bool:
        """Whether the bot will never play again."""
        return all(process.state is State.LOST for process in self._processes[bot])

    async def changed(self) -> None:
        """Wait until a bot has become free, come up, or been lost."""
        await self._event.wait()

    def stir(self) -> None:
        """Wake whoever waits in `changed`."""
        self._event.set()
        self._event = anyio.Event()

    def check(self) -> None:
        """Raises BotRefused when a bot was started wrongly: then a ladder makes no sense."""
        for bot, twins in self._processes.items():
            for process in twins:
                if process.refusal is not None:
                    raise BotRefused(f"bot {bot}: {process.refusal}")

    async def settle(self) -> None:
        """Wait until every bot has connected or failed, but not for ever. Raises BotRefused."""
        with anyio.move_on_after(self._patience.settle):
            self.check()
            while any(process.state is State.STARTING for process in self._everyone()):
                await self._event.wait()
                self.check()

    def _everyone(self) -> Iterator[BotProcess]:
        return (process for twins in self._processes.values() for process in twins)


@asynccontextmanager
async def open_fleet(
    host: Host,
    bots: Sequence[BotPlan],
    *,
    twins: Callable[[BotPlan], int] = lambda _bot: 1,
    folder: Path | None = None,
    patience: Patience | None = None,
    games: Sequence[str] = (),
    notice: Callable[[str], None],
) -> AsyncIterator[Fleet]:
    """Start the processes of each bot, as many as `twins` says; on leaving, however that comes, all of them are ended.

    games: the games of somebody's own that the bots are to know, as `arena bot --game` takes them
    notice: told of every crash, hang and loss, and of the first resignations, in a line that names the
    bot, with its last output below
    """
    patience = patience or Patience()
    processes: dict[str, list[BotProcess]] = {}
    fleet = Fleet(host, processes, patience)
    for bot in bots:
        names = [bot.name, *(f"{bot.name}#{number}" for number in range(2, twins(bot) + 1))]
        processes[bot.name] = [
            BotProcess(
                Launch(name, command(bot, host.url, name, games), folder), host, patience, notice, fleet.stir
            )
            for name in names
        ]
    async with anyio.create_task_group() as tasks:
        for process in (each for group in processes.values() for each in group):
            tasks.start_soon(process.run)
        try:
            yield fleet
        finally:
            tasks.cancel_scope.cancel()


def command(bot: BotPlan, url: str, name: str, games: Sequence[str] = ()) -> tuple[str, ...]:
    """What starts the bot. Its token is in the environment, where other users do not see it."""
    return bot.command if bot.engine is None else engine_command(bot.engine, url, name, games)
