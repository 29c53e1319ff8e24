"""Wait for the signals that stop `arena serve`, and then for the matches in progress to end."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import ExitStack, closing

import anyio

from arena.console import err
from arena.server.host import Host


class StopSignals:
    """Receiver of SIGINT and SIGTERM, with which the host asks the server to stop.

    Before the first wait, and after `close`, these signals end the process immediately. Between the two, each signal is kept
    until a call waits for it.
    """

    def __init__(self) -> None:
        self.was_received = False
        """True once `wait_until_signalled` or `wait_for_next_signal` has received a signal."""
        self._exit_stack = ExitStack()
        self._signals: AsyncIterator[signal.Signals] | None = None

    async def wait_until_signalled(self) -> None:
        """Wait for a signal, unless an earlier call has already received one."""
        if not self.was_received:
            await self.wait_for_next_signal()

    async def wait_for_next_signal(self) -> None:
        """Wait for the next signal. A signal that came between two calls ends the later call at once."""
        if self._signals is None:
            receiver = anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM)
            self._signals = self._exit_stack.enter_context(receiver)
        async for _ in self._signals:
            break
        self.was_received = True

    def close(self) -> None:
        """Restore the default handling of signals: from now on, a signal ends the process at once."""
        self._exit_stack.close()


async def serve_until_signal(host: Host, stop_signals: StopSignals) -> None:
    """Wait for SIGINT or SIGTERM, and then up to `server.drain_seconds` for the matches in progress to end.

    A second signal ends the wait for matches. Unfinished matches continue when the server starts again.
    """
    await stop_signals.wait_until_signalled()
    drain_seconds = host.settings.server.drain_seconds
    with closing(stop_signals):  # from now on another signal ends the process immediately
        if not host.match_count:
            return
        err.print(
            f"stopping: waiting {drain_seconds:g} s for {host.match_count} matches; send the signal again to stop at once"
        )
        async with anyio.create_task_group() as tasks:

            async def exit_on_second_signal() -> None:
                await stop_signals.wait_for_next_signal()
                tasks.cancel_scope.cancel()

            tasks.start_soon(exit_on_second_signal)
            unfinished_count = await host.drain(drain_seconds)
            if unfinished_count:
                err.print(f"{unfinished_count} matches are saved, and continue when the server starts again")
            tasks.cancel_scope.cancel()
