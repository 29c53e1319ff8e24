"""One bot as a process: started under a supervisor, listened to, restarted when it crashes or hangs.

STARTING -> UP -> (its end) -> STARTING ... -> LOST, when it failed too often in a row
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

from arena.server.processes import supervisor
from arena.server.processes.child import STOP_SECONDS, Child

TOLD_FAILURES = 3
"""Resignations and crashes of a bot with which its output is shown; of later ones only the result is told."""


@dataclass(frozen=True)
class Patience:
    """How long to wait for a bot, in seconds, and how often to start it again."""

    start: float = 60
    """How long the process may take to connect; one that takes longer hangs."""
    settle: float = 20
    """How long the first matches wait for bots that take long to connect."""
    restarts: int = 3
    """How many restarts in a row it may answer nothing; after them it is lost."""
    silent_matches: int = 2
    """After so many matches in a row lost by its time and without a move it hangs."""
    backoff: float = 0.25
    """The pause before the first restart in a row; it doubles for each further one."""
    backoff_limit: float = 5
    """The longest pause before a restart."""
    stop: float = STOP_SECONDS
    """How long a bot that is asked to end may take before it is killed."""


class Reception(Protocol):
    """Where a bot connects."""

    @property
    def url(self) -> str:
        """The address that it is given, as `ws://HOST:PORT`."""
        ...

    def issue_token(self, name: str) -> str:
        """A token with which a bot of this name, and no other, may connect."""
        ...

    async def wait_connected(self, name: str, seconds: float) -> bool:
        """Whether the bot is connected: True as soon as it is, False when `seconds` went by."""
        ...

    async def died(self, name: str, how: str) -> None:
        """The bot's process has ended unasked; `how` says with which code or signal."""
        ...


class State(Enum):
    """Where a bot's process stands."""

    STARTING = "starting"
    UP = "up"
    LOST = "lost"


@dataclass(frozen=True)
class Launch:
    """What to start: the worker's name, its command, and where."""

    name: str
    command: Sequence[str]
    folder: Path | None


class BotProcess:
    """The process of one bot (or of one of its twins), through all its restarts."""

    def __init__(
        self,
        launch: Launch,
        host: Reception,
        patience: Patience,
        notice: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        self.name = launch.name
        self.state = State.STARTING
        self.refusal: str | None = None
        """What it said when it ended with exit code 2 before it ever connected: it was started wrongly."""
        self.process: int | None = None
        """The id of its supervisor, which is the parent of all that it runs; None where it does not run."""
        self._launch = launch
        self._host = host
        self._patience = patience
        self._notice = notice
        self._changed = changed
        self._ever_up = False
        self._failures = 0
        self._silent = 0
        self._gave_up = 0
        self._ended = False
        """Whether its process has ended and is not started again yet: that is told with what it printed."""
        self._tail: deque[str] = deque()
        self._hung: str | None = None
        self._kill = anyio.Event()

    def begins(self) -> None:
        """Forget what it printed, because a match begins which that is not about."""
        self._tail.clear()

    def gave_up(self, how: str) -> None:
        """Tell what it printed before it gave up its last match: its author needs it, a traceback as a rule.

        how: `resigned` or `crashed`
        """
        self._gave_up += 1
        if self._tail and not self._ended and self._gave_up <= TOLD_FAILURES:
            last = self._gave_up == TOLD_FAILURES
            more = " (of later ones only the result is told)" if last else ""
            self._notice("\n    ".join([f"bot {self.name} {how}{more}; it printed", *self._tail]))

    def answered(self) -> None:
        """Take note that it made a move in its last match."""
        self._silent = 0
        self._failures = 0

    def stayed_silent(self) -> None:
        """Take note that it lost its last match by its time, without a move."""
        self._silent += 1
        if self._silent >= self._patience.silent_matches and self.state is State.UP:
            self._give_up_on(f"it did not answer in {self._silent} matches in a row")

    def _give_up_on(self, why: str) -> None:
        self._hung = why
        self._enter(State.STARTING)
        self._kill.set()

    def _enter(self, state: State) -> None:
        self.state = state
        self._changed()

    async def run(self) -> None:
        """Keep the bot running until it is lost, or until cancelled: then nothing of it is left."""
        while True:
            self._hung, self._kill, self._silent = None, anyio.Event(), 0
            self._ended = False
            self._tail.clear()
            code = await self._live()
            if code == supervisor.CANNOT_START and not self._ever_up:
                said = self._tail[-1] if self._tail else "ended with exit code 2 and said nothing"
                self.refusal = said.removeprefix("arena: ")
                break
            self._ended = True
            await self._host.died(self.name, f"its process ended ({_exit(code)})")
            self._failures += 1
            lost = self._failures > self._patience.restarts
            self._notice(self._report_of_end(code, lost=lost))
            if lost:
                break
            self._enter(State.STARTING)
            wait = self._patience.backoff * 2 ** (self._failures - 1)
            await anyio.sleep(min(wait, self._patience.backoff_limit))
        self._enter(State.LOST)

    async def _live(self) -> int:
        """Run the process once, from its start to its end; its exit code."""
        token = self._host.issue_token(self.name)
        child = await Child.start(self._launch.command, self._host.url, self.name, token, self._launch.folder)
        self.process, self._tail = child.pid, child.tail
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child.listen)
                tasks.start_soon(self._greet, child)
                tasks.start_soon(self._kill_when_told, child)
                code = await child.wait()
                if self.state is State.UP:
                    self._enter(State.STARTING)
                with anyio.move_on_after(1):
                    # Its last words may still be in the pipe.
                    await child.wait_heard()
                tasks.cancel_scope.cancel()
            return code
        finally:
            self.process = None
            await child.stop(self._patience.stop)

    async def _greet(self, child: Child) -> None:
        if await self._host.wait_connected(self.name, self._patience.start):
            self._ever_up = True
            if child.ended is None:
                self._enter(State.UP)
        else:
            self._give_up_on(f"it did not connect within {self._patience.start:g} s")

    async def _kill_when_told(self, child: Child) -> None:
        await self._kill.wait()
        await child.kill()

    def _report_of_end(self, code: int, *, lost: bool) -> str:
        """What happened, in one line, and what the bot printed last, below it."""
        how = f"hung: {self._hung}" if self._hung else f"ended unasked ({_exit(code)})"
        then = "it is lost, and so are its matches" if lost else "it is started again"
        return "\n    ".join([f"bot {self.name} {how}; {then}", *self._tail])


def _exit(code: int) -> str:
    if code > 128:
        try:
            return f"killed by {signal.Signals(code - 128).name}"
        except ValueError:
            pass
    return f"exit code {code}"


def engine_command(engine: str, url: str, name: str, games: Sequence[str] = ()) -> tuple[str, ...]:
    """What starts `arena bot` with an engine. Its token is in the environment, where other users do not see it.

    games   the games of somebody's own that it is to know, as `--game` takes them; none: those that come with the project
    """
    own = tuple(word for game in games for word in ("--game", game))
    # -P: a file of the working folder must not stand for a module of this project.
    return (sys.executable, "-P", "-m", "arena", "bot", engine, "--url", url, "--name", name, *own)
