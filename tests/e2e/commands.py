"""Commands of the tests in this folder: each a process, whose output on both its outputs is one file."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import anyio
import anyio.to_thread

from testkit.forked import ForkedCommand
from tests.bots.command_line import Result

WAIT_TIMEOUT_SECONDS = 200


@dataclass(frozen=True)
class Running:
    """A command that was started, and the file of what it says."""

    process: ForkedCommand
    file: Path

    @property
    def said(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @property
    def returncode(self) -> int | None:
        return self.process.returncode

    def output(self) -> str:
        """Return all that it said, once it has ended."""
        self.process.wait(WAIT_TIMEOUT_SECONDS)
        return self.said

    def wait_for(self, pattern: str, count: int = 1) -> str:
        """Wait until the pattern has occurred so many times in the output. Return the first group of the last of them."""
        end = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while len(found := re.findall(pattern, self.said, re.MULTILINE)) < count:
            assert self.process.poll() is None, f"it ended: {self.said}"
            assert time.monotonic() < end, self.said
            time.sleep(0.02)
        return str(found[count - 1])

    def address(self) -> str:
        """Return the address for bots, which is printed after the address of an event's page."""
        return self.wait_for(r"(ws://[0-9.]+:\d+)(?=\D)")

    def stop(self) -> None:
        """Stop a server, which must end well."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(WAIT_TIMEOUT_SECONDS) == 0, self.said


@contextmanager
def running(*arguments: str, folder: Path, env: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Yield the command as a process, which does not outlive the block."""
    file = folder / f"{arguments[0]}-{time.monotonic_ns()}.said"
    file.touch()
    process = ForkedCommand(*arguments, cwd=folder, env=env, stdout=file, stderr=file)
    try:
        yield Running(process, file)
    finally:
        process.kill()
        process.wait()


def arena(*arguments: str, folder: Path, env: Mapping[str, str] | None = None) -> Result:
    """Return the command as a process of its own, to its end."""
    out, err = (folder / f"{arguments[0]}-{time.monotonic_ns()}.{which}" for which in ("out", "err"))
    code = ForkedCommand(*arguments, cwd=folder, env=env, stdout=out, stderr=err).wait(WAIT_TIMEOUT_SECONDS)
    return Result(code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


async def until_matches_are_played(url: str, count: int) -> None:
    """Wait until a server plays so many matches, by its metrics."""

    def metrics() -> bytes:
        with urlopen(url.replace("ws:", "http:") + "/metrics", timeout=WAIT_TIMEOUT_SECONDS) as answer:
            told: bytes = answer.read()
            return told

    with anyio.fail_after(WAIT_TIMEOUT_SECONDS):
        while f"arena_matches {count}.0".encode() not in await anyio.to_thread.run_sync(metrics):
            await anyio.sleep(0.05)
