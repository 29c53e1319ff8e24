"""Child process that runs a bot's command under the supervisor, and keeps its last lines of output."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import anyio
import anyio.abc

from arena.processes.supervisor import make_supervised_command

MAX_KEPT_OUTPUT_LINES = 20
"""Number of a bot's last output lines that are kept for reports."""
MAX_OUTPUT_LINE_BYTES = 500
"""Maximum number of bytes that are kept of each output line."""
STOP_TIMEOUT_SECONDS = 2.0
"""Seconds for which a bot may still run after it was asked to stop. Then the bot is killed."""
MAX_REMAINING_OUTPUT_WAIT_SECONDS = 5.0
"""Maximum time, in seconds, to wait for the rest of an ended process's output.

The output may never end, if another process has inherited the pipe and keeps it open.
"""


@dataclass(frozen=True)
class BotLaunchSettings:
    """Program that plays as a bot: its name on the server, its command line, and the server that it connects to."""

    name: str
    command: Sequence[str]
    url: str
    """URL of the server, in the form `ws://HOST:PORT`."""
    folder: Path | None = None
    """Working folder of the command; None for the working folder of this process."""


class ChildProcess:
    """One run of a bot's command.

    The caller must run `read_output_until_closed` in a task. Otherwise the bot blocks when its output pipe is full.
    """

    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process
        self.output_tail: deque[str] = deque(maxlen=MAX_KEPT_OUTPUT_LINES)
        """Last lines that the process printed, at most MAX_KEPT_OUTPUT_LINES, the oldest first. Empty lines are left out."""
        self._output_read = anyio.Event()
        """`anyio.Event` that is set once the output has been read to its end."""

    @classmethod
    async def start(cls, program: BotLaunchSettings, token: str) -> Self:
        """Start a bot's command, with the server's URL and the bot's name and token in its environment."""
        # With this PATH, `arena` and `python` are those of this installation, even if its folder was not in PATH.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        variables = {
            "PATH": path,
            "ARENA_URL": program.url,
            "ARENA_NAME": program.name,
            "ARENA_TOKEN": token,
        }
        process = await anyio.open_process(
            # Isolated (-I) and without site (-S), the supervisor starts in milliseconds and needs no package.
            make_supervised_command(*program.command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=program.folder,
            env=os.environ | variables,
        )
        return cls(process)

    @property
    def supervisor_pid(self) -> int:
        """Process id of the supervisor, the parent of all the bot's processes."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code of the command, or 128 plus the number of the signal that killed it; None while it runs."""
        return self._process.returncode

    async def wait_for_exit(self) -> int:
        """Wait for the end of the process, and return its `exit_code`."""
        return await self._process.wait()

    async def wait_for_remaining_output(self) -> None:
        """Wait until all output of the ended process has been read, for MAX_REMAINING_OUTPUT_WAIT_SECONDS at most."""
        with anyio.move_on_after(MAX_REMAINING_OUTPUT_WAIT_SECONDS):
            await self._output_read.wait()

    async def kill(self) -> None:
        """Close the supervisor's input pipe. The supervisor then kills the bot and all its processes."""
        if self._process.stdin is not None:
            await self._process.stdin.aclose()

    async def stop_or_kill(self, timeout_seconds: float = STOP_TIMEOUT_SECONDS) -> None:
        """Ask the process to stop, kill it if it still runs after `timeout_seconds`, and wait for its end.

        Cancellation takes effect only after the process has ended.
        """
        with anyio.CancelScope(shield=True):
            if self.exit_code is None:
                self._process.terminate()
                with anyio.move_on_after(timeout_seconds):
                    await self.wait_for_exit()
            if self.exit_code is None:
                await self.kill()
                with anyio.move_on_after(timeout_seconds):
                    await self.wait_for_exit()
            if self.exit_code is None:
                self._process.kill()
            await self._process.aclose()

    async def read_output_until_closed(self) -> None:
        """Read the output until the pipe is closed, and keep only its last lines."""
        output = self._process.stdout
        if output is None:
            raise ValueError(
                "the process was started without a pipe for its output: start it with stdout=PIPE"
            )
        line = b""
        with suppress(anyio.ClosedResourceError):  # it was stopped
            async for chunk in output:
                *complete_lines, line = (line + chunk).split(b"\n")
                for complete_line in complete_lines:
                    self._append_output_line(complete_line)
                line = line[:MAX_OUTPUT_LINE_BYTES]
        self._append_output_line(line)
        self._output_read.set()

    def _append_output_line(self, output_line: bytes) -> None:
        text = output_line[:MAX_OUTPUT_LINE_BYTES].decode(errors="replace").rstrip()
        if text and not text.isprintable():  # rare
            text = "".join(char if char.isprintable() or char == "\t" else "?" for char in text)
        if text:
            self.output_tail.append(text)
