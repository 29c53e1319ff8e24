"""A bot's command as a child process: under the supervisor, with the last lines that it printed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import anyio
import anyio.abc

from arena.server.processes.supervisor import supervised

TAIL_LINES = 20
"""Lines that a bot printed last that are kept."""
LINE_LENGTH = 500
"""Bytes that are kept of each of those lines."""
STOP_SECONDS = 2.0
"""How long a bot that is asked to end may take before it is killed."""


class Child:
    """One run of a bot's command. `listen` must be under way."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        """The lines that it printed last."""
        self._heard = anyio.Event()

    @classmethod
    async def start(
        cls, command: Sequence[str], url: str, name: str, token: str, folder: Path | None = None
    ) -> Self:
        """Start the command of a bot. It finds where it connects, and as whom, in its environment."""
        # `arena` and `python` are then those of this program, whether or not their folder is in the path.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        told = {"PATH": path, "ARENA_URL": url, "ARENA_NAME": name, "ARENA_TOKEN": token}
        process = await anyio.open_process(
            # Isolated (-I) and without site (-S), the supervisor starts in milliseconds and needs no package.
            supervised(*command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=os.environ | told,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The id of its supervisor, which is the parent of all that it runs."""
        return self._process.pid

    @property
    def ended(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until it ends, and return its exit code."""
        return await self._process.wait()

    async def wait_heard(self) -> None:
        """Wait until all that it printed has been read."""
        await self._heard.wait()

    async def kill(self) -> None:
        """Close the pipe that its supervisor reads, which makes that kill it and all that it started."""
        if self._process.stdin is not None:
            await self._process.stdin.aclose()

    async def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Ask it to end, and kill it after so many seconds. Returns when it is gone."""
        with anyio.CancelScope(shield=True):
            if self.ended is None:
                self._process.terminate()
                with anyio.move_on_after(seconds):
                    await self.wait()
            if self.ended is None:
                await self.kill()
                with anyio.move_on_after(seconds):
                    await self.wait()
            if self.ended is None:
                self._process.kill()
            await self._process.aclose()

    async def listen(self) -> None:
        """Keep the last lines of what it prints, however much and however long the lines."""
        output = self._process.stdout
        if output is None:
            raise ValueError("the output of a child is a pipe")
        line = b""
        with suppress(anyio.ClosedResourceError):  # it was stopped
            async for chunk in output:
                *whole, line = (line + chunk).split(b"\n")
                for each in whole:
                    self._keep(each)
                line = line[:LINE_LENGTH]
        self._keep(line)
        self._heard.set()

    def _keep(self, line: bytes) -> None:
        text = line[:LINE_LENGTH].decode(errors="replace").rstrip()
        if text and not text.isprintable():  # as hardly any line is
            text = "".join(char if char.isprintable() or char == "\t" else "?" for char in text)
        if text:
            self.tail.append(text)
