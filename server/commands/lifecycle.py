"""Wait for the signals that stop `arena serve`, and then for the matches in progress to end."""

from __future__ import annotations

import signal

import anyio

from arena.console import err
from arena.server.host import ArenaServer

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask a server to stop. Unless the server receives them, they end its process immediately."""


async def serve_until_signal(host: ArenaServer) -> None:
    """Wait for SIGINT or SIGTERM, and then up to `server.drain_seconds` for the matches in progress to end.

    A second signal ends the wait for matches. Unfinished matches continue when the server starts again.
    """
    with anyio.open_signal_receiver(*STOP_SIGNALS) as signals:
        await anext(signals)
        if not host.match_count:
            return
        drain_seconds = host.settings.server.drain_seconds
        err.print(
            f"stopping: waiting {drain_seconds:g} s for {host.match_count} matches; send the signal again to stop at once"
        )
        async with anyio.create_task_group() as tasks:

            async def exit_on_second_signal() -> None:
                await anext(signals)
                tasks.cancel_scope.cancel()

            tasks.start_soon(exit_on_second_signal)
            unfinished_count = await host.shell.drain_matches(drain_seconds)
            if unfinished_count:
                err.print(f"{unfinished_count} matches are saved, and continue when the server starts again")
            tasks.cancel_scope.cancel()
