"""Bots of a ladder (local tournament) as processes on this machine.

A process plays one match at a time. To play several matches in parallel, a bot has several processes, which connect as
`greedy`, `greedy#2` and so on. So parallel matches run on separate CPU cores, and a crash costs only one match.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from arena.ladder.bot_pool import BotNotStarted
from arena.ladder.plan import BotPlan
from arena.processes.bot_process import (
    BotProcess,
    BotState,
    RestartPolicy,
    make_engine_command,
)
from arena.processes.child import BotLaunchSettings
from arena.processes.tasks import open_background_tasks
from arena.server.host import ArenaServer

RECONNECT_GRACE_MS = 2_000
"""Milliseconds within which a disconnected bot must reconnect, or else lose its match.

The time is short, because on one machine a lost connection usually means a crash.
"""


class BotProcesses:
    """Processes of all bots of a ladder, as a `ladder.bot_pool.BotConnectionPool`. Created by `open_bot_processes`."""

    def __init__(
        self, host: ArenaServer, processes: dict[str, list[BotProcess]], restart_policy: RestartPolicy
    ) -> None:
        self._host = host
        self._processes = processes
        self._restart_policy = restart_policy
        self._playing_connections: set[str] = set()
        self._bots_changed = anyio.Event()

    def reserve_connection(self, bot: str) -> str | None:
        for process in self._processes[bot]:
            if process.state is BotState.UP and process.name not in self._playing_connections:
                self._playing_connections.add(process.name)
                process.discard_earlier_output()
                return process.name
        return None

    def release_connection(self, connection_name: str) -> None:
        self._playing_connections.discard(connection_name)

    def finish_match(
        self, bot: str, connection_name: str, *, made_move: bool | None, loss_cause: str = ""
    ) -> None:
        self._playing_connections.discard(connection_name)
        process = next(process for process in self._processes[bot] if process.name == connection_name)
        if loss_cause:
            process.report_output_after_loss(loss_cause)
        if made_move is True:
            process.record_match_with_moves()
        elif made_move is False:
            process.record_match_without_moves()
        self.notify_bot_change()

    def get_reported_thread_count(self, bot: str) -> int:
        return max(self._host.get_reported_thread_count(process.name) for process in self._processes[bot])

    def find_process_id(self, connection_name: str) -> int | None:
        """Return the id of the process that connects as `connection_name`; None if no such process is running."""
        return next(
            (
                process.supervisor_pid
                for process in self._list_all_processes()
                if process.name == connection_name
            ),
            None,
        )

    def has_dropped_out(self, bot: str) -> bool:
        return all(process.state is BotState.LOST for process in self._processes[bot])

    async def wait_for_bot_change(self) -> None:
        await self._bots_changed.wait()

    def notify_bot_change(self) -> None:
        """Wake all tasks that wait in `wait_for_bot_change`, after the state of a process has changed."""
        self._bots_changed.set()
        self._bots_changed = anyio.Event()

    def raise_if_bot_not_started(self) -> None:
        for bot, processes in self._processes.items():
            for process in processes:
                if process.start_error is not None:
                    raise BotNotStarted(f"bot {bot} cannot play: {process.start_error}")

    async def wait_until_connected(self) -> None:
        """Wait until each process of a bot has connected, or has ended and is not restarted.

        Wait at most `RestartPolicy.first_match_wait_seconds`.

        Raises BotNotStarted if a bot cannot be started.
        """
        with anyio.move_on_after(self._restart_policy.first_match_wait_seconds):
            self.raise_if_bot_not_started()
            while any(process.state is BotState.STARTING for process in self._list_all_processes()):
                await self._bots_changed.wait()
                self.raise_if_bot_not_started()

    def _list_all_processes(self) -> Iterator[BotProcess]:
        return (process for processes in self._processes.values() for process in processes)


@asynccontextmanager
async def open_bot_processes(
    host: ArenaServer,
    bots: Sequence[BotPlan],
    *,
    count_processes: Callable[[BotPlan], int] = lambda _bot: 1,
    folder: Path | None,
    restart_policy: RestartPolicy,
    game_specs: Sequence[str] = (),
    on_notice: Callable[[str], None],
) -> AsyncIterator[BotProcesses]:
    """Start the processes of all bots, and end them at the end of the `with` block.

    host             server to which the bots connect
    count_processes  function that returns the number of processes of a bot
    folder           working folder of the bots; None for the current folder
    restart_policy   limits for the bots' processes, such as the number of restarts
    game_specs       custom games that the bots need, as FILE.py:Class
    on_notice        function that is called with a message about a crash, a hang, a bot that drops out, or a resignation (only
                     the first few of a process). The message names the bot, and ends with the last lines of the bot's output.

    The processes may still be starting when the block begins; see `BotProcesses.wait_until_connected`.
    """
    processes: dict[str, list[BotProcess]] = {}
    bot_processes = BotProcesses(host, processes, restart_policy)
    for bot in bots:
        names = [bot.name, *(f"{bot.name}#{number}" for number in range(2, count_processes(bot) + 1))]
        processes[bot.name] = [
            BotProcess(
                BotLaunchSettings(
                    name, make_start_command(bot, host.url, name, game_specs), host.url, folder
                ),
                host,
                restart_policy,
                on_notice,
                bot_processes.notify_bot_change,
            )
            for name in names
        ]
    async with open_background_tasks() as tasks:
        for process in (process for group in processes.values() for process in group):
            tasks.start_soon(process.run)
        yield bot_processes


def make_start_command(
    bot: BotPlan, url: str, connection_name: str, game_specs: Sequence[str]
) -> tuple[str, ...]:
    """Return the command that starts the bot.

    url              address of the server
    connection_name  name under which the bot connects
    game_specs       custom games that the bot needs, as FILE.py:Class

    The bot's token is not in the command, because other users of the machine can see command lines.
    """
    return (
        bot.command
        if bot.engine_spec is None
        else make_engine_command(bot.engine_spec, url, connection_name, game_specs)
    )
