"""Another program that chooses the moves of a bot: started for one match, spoken to in lines of JSON (docs/stdio.md).

Whatever the program does ends in an answer or in a `ProgramFault`: it may end, hang, write what is no
answer, write without end, or read nothing.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, Queue, SimpleQueue
from typing import IO, Any

LONGEST_LINE = 64 * 1024
"""Bytes of one line from the program."""
LINES_WAITING = 64
"""Lines that are read ahead; then the program waits in its pipe."""
SHOWN = 120
"""Characters of a wrong line that are shown."""
POLL_SECONDS = 0.02
"""How often it is looked whether anybody still waits for the answer."""
DRAIN_SECONDS = 0.5
"""Seconds for what a program that has ended still has in its pipes."""


class ProgramFault(Exception):
    """The program did not answer as docs/stdio.md says; one line for its author."""


class Unanswered(ProgramFault):
    """Nobody waits any more, and the program had not answered."""


class Program:
    """A running program. `heard` is called with each line of its standard error, in a thread of its own."""

    def __init__(self, command: Sequence[str], heard: Callable[[str], None]) -> None:
        """Start it. Raises ProgramFault."""
        self._heard = heard
        self._said: deque[str] = deque(maxlen=1)
        self._asked = False
        try:
            self._process = subprocess.Popen(  # noqa: S603 - it is the user's own command
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                process_group=0,  # a session of its own would be scheduled by itself on Linux, and worse
            )
        except OSError as error:
            raise ProgramFault(f"the program cannot be started: {command[0]}: {error.strerror}") from None
        # Threads that are left behind when this process ends must not leave the program behind too.
        atexit.register(self._kill)
        self._closed = threading.Event()
        self._out: SimpleQueue[bytes | None] = SimpleQueue()
        self._in: Queue[bytes | None] = Queue(LINES_WAITING)
        self._threads = [
            threading.Thread(target=work, name=f"program {work.__name__}", daemon=True)
            for work in (self._write, self._read, self._listen)
        ]
        for thread in self._threads:
            thread.start()

    def tell(self, message: Mapping[str, object]) -> None:
        """Send a line. Returns at once."""
        self._out.put(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def ask(self, message: Mapping[str, object], example: str, stopped: Callable[[], bool]) -> dict[str, Any]:
        """Send a line and wait for the answer: a JSON object. Raises ProgramFault.

        `example` is what an answer may look like, for the fault; `stopped` says that nobody waits. The first question is
        answered by the program's first line, also one that it wrote before it was asked: which of the two comes first
        depends on the machine. Later on a line that is there before the question is a fault.
        """
        if self._asked:
            self._expect_silence()
        self._asked = True
        began = time.monotonic()
        self.tell(message)
        while True:
            try:
                line = self._in.get(timeout=POLL_SECONDS)
            except Empty:
                if stopped():
                    took = time.monotonic() - began
                    raise Unanswered(f"the program had not answered after {took:.2f} s") from None
                continue
            if line is None:
                raise ProgramFault(self._obituary())
            return _parse(line, example)

    def close(self, patience: float) -> None:
        """End the program: its input ends, and after `patience` seconds it is killed."""
        self._out.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self._kill()
        self._process.wait()
        atexit.unregister(self._kill)
        # A reader that waits for room would never see the end of its pipe.
        self._closed.set()
        with contextlib.suppress(Empty):
            while True:
                self._in.get_nowait()
        for thread in self._threads:
            thread.join(DRAIN_SECONDS)

    def _expect_silence(self) -> None:
        try:
            line = self._in.get_nowait()
        except Empty:
            return
        if line is None:
            raise ProgramFault(self._obituary())
        raise ProgramFault(f"the program wrote a line that nobody asked for: {_shown(line)}")

    def _obituary(self) -> str:
        try:
            code = self._process.wait(DRAIN_SECONDS)
        except subprocess.TimeoutExpired:
            return "the program closed its standard output"
        self._threads[2].join(DRAIN_SECONDS)
        how = f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
        last = f"; last on its standard error: {self._said[-1]}" if self._said else ""
        return f"the program ended ({how}){last}"

    def _kill(self) -> None:
        # The whole group: a shell's children too. It may be gone.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _write(self) -> None:
        pipe = _there(self._process.stdin)
        with contextlib.suppress(BrokenPipeError):
            while (line := self._out.get()) is not None:
                pipe.write(line)
        with contextlib.suppress(BrokenPipeError):
            pipe.close()

    def _read(self) -> None:
        with os.fdopen(_there(self._process.stdout).fileno(), "rb", closefd=False) as pipe:
            while line := pipe.readline(LONGEST_LINE + 1):
                if line.strip() and not self._closed.is_set():
                    self._in.put(line)
        _there(self._process.stdout).close()
        if not self._closed.is_set():
            self._in.put(None)

    def _listen(self) -> None:
        with os.fdopen(_there(self._process.stderr).fileno(), "rb", closefd=False) as pipe:
            while line := pipe.readline(LONGEST_LINE):
                text = _printable(line.decode(errors="replace").rstrip())
                self._said.append(text[:SHOWN])
                self._heard(text)
        _there(self._process.stderr).close()


def _there(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise AssertionError("the process was started with pipes")
    return pipe


def _parse(line: bytes, example: str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise ProgramFault(f"the program wrote a line of more than {LONGEST_LINE} bytes: {_shown(line)}")
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ProgramFault(f"the program wrote {_shown(line)}, which is no answer; one is {example}")
    return answer


def _shown(line: bytes) -> str:
    text = _printable(line[: 4 * SHOWN].decode(errors="replace").strip())
    return f"{text[:SHOWN]}…" if len(text) > SHOWN else text


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else "?" for char in text)
