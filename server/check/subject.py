"""The bot under test as a process: started, listened to, and ended with all that it has started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.abc

from arena.server.processes import supervisor

STOP_SECONDS = 2.0
"""How long a bot that is asked to end may take before it is killed."""
LAST_LINES = 12
"""Lines that the bot printed last that are kept."""
LINE_LENGTH = 300
"""Bytes of each of those lines that are kept."""


class Subject:
    """One run of the bot's command; it finds the server in its environment, as a ladder's bots do."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process
        self._said: deque[str] = deque(maxlen=LAST_LINES)

    @classmethod
    async def start(cls, command: Sequence[str], url: str, tasks: anyio.abc.TaskGroup) -> Subject:
        """Start the command."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        process = await anyio.open_process(
            supervisor.supervised(*command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                **os.environ,
                "PATH": path,
                "ARENA_URL": url,
                "ARENA_NAME": "checked",
                "ARENA_TOKEN": "check-token",
            },
        )
        subject = cls(process)
        tasks.start_soon(subject._listen)
        return subject

    @property
    def ended(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self._process.returncode

    @property
    def last_words(self) -> list[str]:
        """What it printed last."""
        return list(self._said)

    async def wait(self, seconds: float) -> int | None:
        """Its exit code, or None when it still runs after `seconds`."""
        with anyio.move_on_after(seconds):
            await self._process.wait()
        return self._process.returncode

    async def stop(self) -> None:
        """End it and all that it has started. Returns when it is gone."""
        with anyio.CancelScope(shield=True):
            if self._process.returncode is None:
                self._process.terminate()
                await self.wait(STOP_SECONDS)
            if self._process.stdin is not None:
                await self._process.stdin.aclose()  # the supervisor then kills the bot
            if await self.wait(STOP_SECONDS) is None:
                self._process.kill()
                await self._process.wait()

    async def _listen(self) -> None:
        output = self._process.stdout
        if output is None:
            return
        line = b""
        async for chunk in output:
            *whole, line = (line + chunk).split(b"\n")
            self._said.extend(_text(each) for each in whole if each.strip())
            line = line[:LINE_LENGTH]
        if line.strip():
            self._said.append(_text(line))


def _text(line: bytes) -> str:
    text = line[:LINE_LENGTH].decode(errors="replace").rstrip()
    return "".join(char if char.isprintable() or char == "\t" else "?" for char in text)
