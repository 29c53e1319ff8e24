"""Bots of an event as processes on this machine: free, starting, or lost.

A bot process plays one match at a time. If more matches run in parallel than there are
bots for, each bot gets twins: `greedy`, `greedy#2`. So matches run in parallel on separate cores,
and a crash costs only one match.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from arena.ladder.bots import BotRefused
from arena.ladder.plan import BotPlan
from arena.server.host import Host
from arena.server.processes.bot_process import BotProcess, BotProgram, BotState, RestartPolicy, engine_command


class BotProcesses:
    """Processes of all bots. Made by `open_bot_processes`."""

    def __init__(self, host: Host, processes: dict[str, list[BotProcess]], patience: RestartPolicy) -> None:
        self._host = host
        self._processes = processes
        self._patience = patience
        self._playing: set[str] = set()
        self._event = anyio.Event()

    def reserve(self, bot: str) -> str | None:
        """Reserve a connected and free process of the bot and return its name; None if there is none."""
        for process in self._processes[bot]:
            if process.state is BotState.UP and process.name not in self._playing:
                self._playing.add(process.name)
                process.match_started()
                return process.name
        return None

    def release(self, name: str) -> None:
        """Release a reserved process that was not used."""
        self._playing.discard(name)

    def finish_match(self, bot: str, name: str, *, answered: bool | None, gave_up: str = "") -> None:
        """Release the process after a match. `answered` is True if it made a move, None if it never had a turn."""
        self._playing.discard(name)
        process = next(each for each in self._processes[bot] if each.name == name)
        if gave_up:
            process.bot_resigned(gave_up)
        if answered is True:
            process.move_made()
        elif answered is False:
            process.no_move_made()
        self.notify_changed()

    def announced_threads(self, bot: str) -> int:
        """Return the number of search threads that the bot announced; 0 if none of its processes did."""
        return max(self._host.threads_of(process.name) for process in self._processes[bot])

    def process_of(self, name: str) -> int | None:
        """Return the process id for a reserved name; None if it has none."""
        return next((each.process for each in self._all_processes() if each.name == name), None)

    def is_lost(self, bot: str) -> bool:
        """Return True if the bot will never play again."""
        return all(process.state is BotState.LOST for process in self._processes[bot])

    async def wait_changed(self) -> None:
        """Wait until a bot becomes free, connects, or is lost."""
        await self._event.wait()

    def notify_changed(self) -> None:
        """Wake all tasks that wait in `wait_changed`."""
        self._event.set()
        self._event = anyio.Event()

    def check(self) -> None:
        """Raise BotRefused if a bot could not be started, so that the event ends."""
        for bot, twins in self._processes.items():
            for process in twins:
                if process.refusal is not None:
                    raise BotRefused(f"bot {bot}: {process.refusal}")

    async def settle(self) -> None:
        """Wait until every bot has connected or failed, for a limited time. Raises BotRefused."""
        with anyio.move_on_after(self._patience.settle):
            self.check()
            while any(process.state is BotState.STARTING for process in self._all_processes()):
                await self._event.wait()
                self.check()

    def _all_processes(self) -> Iterator[BotProcess]:
        return (process for twins in self._processes.values() for process in twins)


@asynccontextmanager
async def open_bot_processes(
    host: Host,
    bots: Sequence[BotPlan],
    *,
    twins: Callable[[BotPlan], int] = lambda _bot: 1,
    folder: Path | None = None,
    patience: RestartPolicy | None = None,
    games: Sequence[str] = (),
    notice: Callable[[str], None],
) -> AsyncIterator[BotProcesses]:
    """Start `twins` processes of each bot, and end all of them when the block is left for any reason.

    games   custom games that the bots need, as `arena bot --game` takes them
    notice  called for every crash, hang and loss, and for the first resignations, with a line that names the bot
            and the bot's last output below it
    """
    patience = patience or RestartPolicy()
    processes: dict[str, list[BotProcess]] = {}
    fleet = BotProcesses(host, processes, patience)
    for bot in bots:
        names = [bot.name, *(f"{bot.name}#{number}" for number in range(2, twins(bot) + 1))]
        processes[bot.name] = [
            BotProcess(
                BotProgram(name, command(bot, host.url, name, games), host.url, folder),
                host,
                patience,
                notice,
                fleet.notify_changed,
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
    """Return the command that starts the bot. The token is in the environment, so that other users cannot see it."""
    return bot.command if bot.engine is None else engine_command(bot.engine, url, name, games)
