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
from pathlib import Path
from typing import Protocol

import anyio

from arena.clock import MONOTONIC, TimeSource
from arena.server.processes import supervisor
from arena.server.processes.child import STOP_SECONDS, Child

MAX_SHOWN_FAILURES = 3
"""Number of resignations and crashes of a bot for which its output is shown.

For later ones, only the result is shown.
"""


@dataclass(frozen=True)
class RestartPolicy:
    """Limits for a bot's process: times in seconds, and numbers of restarts and of silent matches."""

    start: float = 60
    """Time for the process to connect, in seconds. If it takes longer, it counts as hung."""
    settle: float = 20
    """Maximum time for which the first matches wait until all bots are up, in seconds."""
    restarts: int = 3
    """Maximum number of consecutive restarts without a move, after which the bot is lost."""
    silent_matches: int = 2
    """Number of consecutive matches lost on time without a move, after which the bot counts as hung."""
    backoff: float = 0.25
    """Pause before the first of several restarts in a row, in seconds. It doubles with each further one."""
    backoff_limit: float = 5
    """Maximum pause before a restart, in seconds."""
    stop: float = STOP_SECONDS
    """Time for a bot to stop before it is killed, in seconds."""


class BotServer(Protocol):
    """Interface of the server to which bots connect."""

    def issue_token(self, name: str) -> str:
        """Return a token with which only a bot of this name can connect."""
        ...

    async def wait_until_connected(self, name: str, seconds: float) -> bool:
        """Wait for the bot to connect. Return False after `seconds`."""
        ...

    async def report_bot_exit(self, name: str, exit_text: str) -> None:
        """Handle the unexpected end of the bot's process. `exit_text` names its exit code or signal."""
        ...


class BotState(Enum):
    """State of a bot's process."""

    STARTING = "starting"
    UP = "up"
    LOST = "lost"


@dataclass(frozen=True)
class BotProgram:
    """Program to start as a bot, with the server's URL."""

    name: str
    command: Sequence[str]
    url: str
    """Address of the server, as `ws://HOST:PORT`."""
    folder: Path | None = None
    """Working folder; None for this process's folder."""


class BotProcess:
    """Process of one bot, through all its restarts."""

    def __init__(
        self,
        program: BotProgram,
        host: BotServer,
        policy: RestartPolicy,
        on_failure: Callable[[str], None],
        on_change: Callable[[], None],
        clock: TimeSource = MONOTONIC,
    ) -> None:
        self.name = program.name
        self.state = BotState.STARTING
        self.refusal: str | None = None
        """Error message of a process that ended with exit code 2 before it ever connected; None if there was none."""
        self.process: int | None = None
        """Process id of the supervisor, the parent of all the bot's processes; None if it is not running."""
        self._program = program
        self._host = host
        self._policy = policy
        self._on_failure = on_failure
        self._on_change = on_change
        self._clock = clock
        self._was_connected = False
        self._failures = 0
        self._silent_matches = 0
        self._reported_resignations = 0
        self._has_ended = False
        """True from the end of the process to its restart.

        The report of the end contains the bot's output, so a report of its resignation need not.
        """
        self._output_tail: deque[str] = deque()
        self._hang_report: str | None = None
        self._kill_requested = anyio.Event()

    @property
    def is_starting_first(self) -> bool:
        """True until the first process of the bot has connected or ended."""
        return self.state is BotState.STARTING and self._failures == 0

    def record_match_start(self) -> None:
        """Discard the output so far, because a new match begins."""
        self._output_tail.clear()

    def report_resignation(self, verb: str) -> None:
        """Report the bot's output before it gave up its last match: usually a traceback, for its author.

        verb  `resigned` or `crashed`
        """
        self._reported_resignations += 1
        if self._output_tail and not self._has_ended and self._reported_resignations <= MAX_SHOWN_FAILURES:
            last = self._reported_resignations == MAX_SHOWN_FAILURES
            more = " (for later ones, only the result is shown)" if last else ""
            self._on_failure("\n    ".join([f"bot {self.name} {verb}{more}; it printed", *self._output_tail]))

    def record_active_match(self) -> None:
        """Record that the bot made at least one move in its last match."""
        self._silent_matches = 0
        self._failures = 0

    def record_silent_match(self) -> None:
        """Record that the bot lost its last match on time without a move."""
        self._silent_matches += 1
        if self._silent_matches >= self._policy.silent_matches and self.state is BotState.UP:
            self._give_up_on(f"it did not answer in {self._silent_matches} matches in a row")

    def _give_up_on(self, why: str) -> None:
        self._hang_report = why
        self._set_state(BotState.STARTING)
        self._kill_requested.set()

    def _set_state(self, state: BotState) -> None:
        self.state = state
        self._on_change()

    async def run(self) -> None:
        """Keep the bot running until it is lost or the task is cancelled. On cancellation, stop its processes."""
        while True:
            self._hang_report, self._kill_requested, self._silent_matches = None, anyio.Event(), 0
            self._has_ended = False
            self._output_tail.clear()
            code = await self._run_once()
            if code == supervisor.CANNOT_START and not self._was_connected:
                last_line = (
                    self._output_tail[-1]
                    if self._output_tail
                    else "the process ended with exit code 2 and printed nothing"
                )
                self.refusal = last_line.removeprefix("arena: ")
                break
            self._has_ended = True
            await self._host.report_bot_exit(self.name, f"its process ended ({_describe_exit(code)})")
            self._failures += 1
            is_lost = self._failures > self._policy.restarts
            self._on_failure(self._make_exit_report(code, lost=is_lost))
            if is_lost:
                break
            self._set_state(BotState.STARTING)
            wait = self._policy.backoff * 2 ** (self._failures - 1)
            await self._clock.sleep(min(wait, self._policy.backoff_limit))
        self._set_state(BotState.LOST)

    async def _run_once(self) -> int:
        """Run the process once, from start to end, and return its exit code."""
        token = self._host.issue_token(self.name)
        child = await Child.start(
            self._program.command, self._program.url, self.name, token, self._program.folder
        )
        self.process, self._output_tail = child.pid, child.output_tail
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child.read_output)
                tasks.start_soon(self._await_connection, child)
                tasks.start_soon(self._kill_on_request, child)
                code = await child.wait()
                if self.state is BotState.UP:
                    self._set_state(BotState.STARTING)
                await child.read_rest()
                tasks.cancel_scope.cancel()
            return code
        finally:
            self.process = None
            await child.stop(self._policy.stop)

    async def _await_connection(self, child: Child) -> None:
        if await self._host.wait_until_connected(self.name, self._policy.start):
            self._was_connected = True
            if child.exit_code is None:
                self._set_state(BotState.UP)
        else:
            self._give_up_on(f"it did not connect within {self._policy.start:g} s")

    async def _kill_on_request(self, child: Child) -> None:
        await self._kill_requested.wait()
        await child.kill()

    def _make_exit_report(self, code: int, *, lost: bool) -> str:
        """Return one line about the end of the process, followed by the bot's last output."""
        description = (
            f"hung: {self._hang_report}"
            if self._hang_report
            else f"ended unexpectedly ({_describe_exit(code)})"
        )
        then = "it is lost, and so are its matches" if lost else "it is started again"
        return "\n    ".join([f"bot {self.name} {description}; {then}", *self._output_tail])


def _describe_exit(code: int) -> str:
    if code > 128:
        try:
            return f"killed by {signal.Signals(code - 128).name}"
        except ValueError:
            pass
    return f"exit code {code}"


def make_engine_command(engine: str, url: str, name: str, games: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the command that starts `arena bot` with an engine.

    The token is in the environment, not in the command, which other users can see.

    games  values of `--game`: additional games; empty for the built-in ones only
    """
    game_options = tuple(word for game in games for word in ("--game", game))
    # -P: a file in the working folder must not replace a module of this project.
    return (sys.executable, "-P", "-m", "arena", "bot", engine, "--url", url, "--name", name, *game_options)
