"""Process of a bot: started under a supervisor, monitored, and restarted when it crashes or hangs.

STARTING -> UP -> (crash or hang) -> STARTING ... -> LOST, after too many consecutive failures
"""

from __future__ import annotations

import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import anyio

from arena.clock import MONOTONIC_CLOCK, TimeSource
from arena.processes import supervisor
from arena.processes.child import STOP_TIMEOUT_SECONDS, BotLaunchSettings, ChildProcess

MAX_REPORTED_RESIGNATIONS = 3
"""Maximum number of a bot's resignations and crashes that are reported with the bot's output. Later reports leave the output
out.
"""


@dataclass(frozen=True)
class RestartPolicy:
    """Limits that decide when a bot's process is restarted, killed or given up."""

    connect_timeout_seconds: float = 60
    """Time within which a started process must connect to the server, in seconds. A process that is too slow counts as hung."""
    first_match_wait_seconds: float = 20
    """Maximum time that the first matches wait for all bots to connect, in seconds.

    After that, the matches begin without the missing bots.
    """
    max_restarts: int = 3
    """Maximum number of restarts in a row without a move by the bot in between. If the bot then fails again, it is given up."""
    max_silent_matches: int = 2
    """Number of matches in a row, lost without a move (on time, or by not getting ready), after which a bot counts as hung."""
    backoff_seconds: float = 0.25
    """Pause before the first of several consecutive restarts, in seconds. The pause doubles with each further restart."""
    max_backoff_seconds: float = 5
    """Maximum pause before a restart, in seconds."""
    stop_timeout_seconds: float = STOP_TIMEOUT_SECONDS
    """Seconds for which a bot that was asked to stop may still run. Then it is killed."""


class BotServer(Protocol):
    """Interface that `BotProcess` needs of the server to which its bot connects."""

    def issue_token(self, name: str) -> str:
        """Return a token with which only a bot of this name can connect."""
        ...

    async def wait_until_connected(self, name: str, seconds: float) -> bool:
        """Wait until the bot is connected, and return True. Return False if it is not connected after `seconds`."""
        ...

    def forfeit_bot_matches(self, name: str, exit_text: str) -> None:
        """Let the bot called `name` lose all its matches in progress, because its process has ended unexpectedly.

        exit_text: message with the exit code or signal, such as `its process ended (exit code 1)`
        """
        ...


class BotState(Enum):
    """State of a bot's process: starting, up or lost."""

    STARTING = "starting"
    """The process has not connected yet, or waits for a restart."""
    UP = "up"
    """The process runs, and has connected at least once since its start."""
    LOST = "lost"
    """The bot is given up: its process has ended, and is not restarted."""


class BotProcess:
    """Process of one bot, through all its restarts.

    server      server to which the bot connects
    on_failure  function that is called with a report of one or more lines when the bot crashes, hangs or resigns
    on_change   function that is called after each change of `state`
    """

    def __init__(
        self,
        program: BotLaunchSettings,
        server: BotServer,
        policy: RestartPolicy,
        on_failure: Callable[[str], None],
        on_change: Callable[[], None],
        clock: TimeSource = MONOTONIC_CLOCK,
    ) -> None:
        self.name = program.name
        self.state = BotState.STARTING
        self.start_error: str | None = None
        """Last output line of a bot that ended with exit code 2 before it ever connected; None for all other bots.

        Such a bot could not start, and would fail again, so it is not restarted.
        """
        self.supervisor_pid: int | None = None
        """Process id of the supervisor, the parent of all the bot's processes; None if it is not running."""
        self._program = program
        self._server = server
        self._policy = policy
        self._on_failure = on_failure
        self._on_change = on_change
        self._clock = clock
        self._was_connected = False
        """True once any process of the bot has connected."""
        self._failures = 0
        """Number of crashes and hangs in a row, without a move by the bot in between."""
        self._silent_matches = 0
        """Number of matches in a row that the current process has lost without a move."""
        self._reported_resignations = 0
        self._has_ended = False
        """True from the end of the process to its restart.

        The end of the process is reported with the bot's output. If the bot resigns a match because its process ended,
        the output is not reported again.
        """
        self._output_tail: deque[str] = deque()
        self._hang_report: str | None = None
        """Reason why the current process counts as hung; None if it does not."""
        self._kill_requested = anyio.Event()

    @property
    def is_first_start_pending(self) -> bool:
        """True until the first process of the bot has connected to the server, or has ended."""
        return self.state is BotState.STARTING and self._failures == 0

    def discard_earlier_output(self) -> None:
        """Discard the bot's output so far, so that a report shows only output of the match that begins now."""
        self._output_tail.clear()

    def report_output_after_loss(self, loss_cause: str) -> None:
        """Report what the bot printed in the match that it has just lost by resigning or crashing: usually a traceback.

        Report nothing if there is no output, if the process has ended (which is reported with its output), or after the first
        MAX_REPORTED_RESIGNATIONS calls.

        loss_cause: `resigned` or `crashed`
        """
        self._reported_resignations += 1
        if (
            self._output_tail
            and not self._has_ended
            and self._reported_resignations <= MAX_REPORTED_RESIGNATIONS
        ):
            is_last_reported = self._reported_resignations == MAX_REPORTED_RESIGNATIONS
            suffix = " (for later ones, only the result is shown)" if is_last_reported else ""
            self._on_failure(
                "\n    ".join([f"bot {self.name} {loss_cause}{suffix}; it printed", *self._output_tail])
            )

    def record_match_with_moves(self) -> None:
        """Record that the bot made at least one move in its last match."""
        self._silent_matches = 0
        self._failures = 0

    def record_match_without_moves(self) -> None:
        """Record that the bot lost its last match without a move, on time or by not getting ready.

        After too many such matches in a row, restart the bot.
        """
        self._silent_matches += 1
        if self._silent_matches >= self._policy.max_silent_matches and self.state is BotState.UP:
            self._report_and_kill_hung_bot(f"it did not answer in {self._silent_matches} matches in a row")

    def _report_and_kill_hung_bot(self, reason: str) -> None:
        self._hang_report = reason
        self._set_state(BotState.STARTING)
        self._kill_requested.set()

    def _set_state(self, state: BotState) -> None:
        self.state = state
        self._on_change()

    async def run(self) -> None:
        """Start the bot, and restart it when it crashes or hangs, until it is lost.

        On cancellation, stop its processes.
        """
        while True:
            self._hang_report, self._kill_requested, self._silent_matches = None, anyio.Event(), 0
            self._has_ended = False
            self._output_tail.clear()
            exit_code = await self._run_process_once()
            if exit_code == supervisor.CANNOT_START_EXIT_CODE and not self._was_connected:
                last_line = (
                    self._output_tail[-1]
                    if self._output_tail
                    else "the process ended with exit code 2 and printed nothing"
                )
                self.start_error = last_line.removeprefix("arena: ")
                break
            self._has_ended = True
            self._server.forfeit_bot_matches(
                self.name, f"its process ended ({_describe_exit_code(exit_code)})"
            )
            self._failures += 1
            is_lost = self._failures > self._policy.max_restarts
            self._on_failure(self._make_exit_report(exit_code, is_lost=is_lost))
            if is_lost:
                break
            self._set_state(BotState.STARTING)
            pause_seconds = self._policy.backoff_seconds * 2 ** (self._failures - 1)
            await self._clock.sleep(min(pause_seconds, self._policy.max_backoff_seconds))
        self._set_state(BotState.LOST)

    async def _run_process_once(self) -> int:
        """Run the process once, from start to end, and return its exit code. If it hangs, kill it."""
        child = await ChildProcess.start(self._program, self._server.issue_token(self.name))
        self.supervisor_pid, self._output_tail = child.supervisor_pid, child.output_tail
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child.read_output_until_closed)
                tasks.start_soon(self._wait_until_bot_connects, child)
                tasks.start_soon(self._kill_when_hung, child)
                exit_code = await child.wait_for_exit()
                if self.state is BotState.UP:
                    self._set_state(BotState.STARTING)
                await child.wait_for_remaining_output()
                tasks.cancel_scope.cancel()
            return exit_code
        finally:
            self.supervisor_pid = None
            await child.stop_or_kill(self._policy.stop_timeout_seconds)

    async def _wait_until_bot_connects(self, child: ChildProcess) -> None:
        if await self._server.wait_until_connected(self.name, self._policy.connect_timeout_seconds):
            self._was_connected = True
            if child.exit_code is None:
                self._set_state(BotState.UP)
        else:
            self._report_and_kill_hung_bot(
                f"it did not connect within {self._policy.connect_timeout_seconds:g} s"
            )

    async def _kill_when_hung(self, child: ChildProcess) -> None:
        await self._kill_requested.wait()
        await child.kill()

    def _make_exit_report(self, exit_code: int, *, is_lost: bool) -> str:
        """Return one line about the end of the process, followed by the bot's last lines of output.

        is_lost: True if the process is not restarted
        """
        description = (
            f"hung: {self._hang_report}"
            if self._hang_report
            else f"ended unexpectedly ({_describe_exit_code(exit_code)})"
        )
        consequence = "it is lost, and so are its matches" if is_lost else "it is started again"
        return "\n    ".join([f"bot {self.name} {description}; {consequence}", *self._output_tail])


def _describe_exit_code(exit_code: int) -> str:
    if exit_code > 128:
        try:
            return f"killed by {signal.Signals(exit_code - 128).name}"
        except ValueError:
            pass
    return f"exit code {exit_code}"


def make_engine_command(
    engine_name: str, url: str, bot_name: str, game_specs: Sequence[str]
) -> tuple[str, ...]:
    """Return the command that starts `arena bot` with an engine, for the bot called `bot_name`.

    The bot's token is not in the command, because other users of the machine can see command lines. Pass it in the
    environment.

    engine_name  engine as `arena bot` accepts it
    game_specs   values of the option `--game`, one for each additional game; empty for the built-in games only
    """
    game_options = tuple(word for game_spec in game_specs for word in ("--game", game_spec))
    # -P: a file in the working folder must not replace a module of this project.
    return (
        sys.executable,
        "-P",
        "-m",
        "arena",
        "bot",
        engine_name,
        "--url",
        url,
        "--name",
        bot_name,
        *game_options,
    )
