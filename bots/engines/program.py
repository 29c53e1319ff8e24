"""External program that chooses a bot's moves in one match, and exchanges JSON Lines with this process (docs/stdio.md).

Every request ends with an answer or a `ProgramFault`, even if the program exits, hangs, writes invalid answers or
endless output, or stops reading.
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

MAX_OUTPUT_LINE_BYTES = 64 * 1024
"""Maximum length of a line from the program, in bytes."""
MAX_QUEUED_OUTPUT_LINES = 64
"""Maximum number of lines that are read from the program before they are needed.

A program that writes more lines is blocked until some of the read lines are used.
"""
MAX_EXCERPT_CHARACTERS = 120
"""Maximum number of characters that an error message shows of a program's invalid line."""
CANCELLATION_POLL_SECONDS = 0.02
"""Seconds between two checks whether the program's answer is still needed."""
OUTPUT_DRAIN_TIMEOUT_SECONDS = 0.5
"""Time limit for reading the remaining output of a program that has exited, in seconds."""
EXIT_CODE_TIMEOUT_SECONDS = 3.0
"""Seconds to wait for the exit code of a program that has closed its standard output."""


class ProgramFault(Exception):
    """Raised when the program does not answer as docs/stdio.md requires; the message is one line for the program's author."""


class RequestCancelled(ProgramFault):
    """Raised when a request is cancelled before the program has answered it, for example because the match is over."""


class Program:
    """A running program. `on_stderr_line` is called with each line of the program's standard error, in a separate thread."""

    def __init__(self, command: Sequence[str], on_stderr_line: Callable[[str], None]) -> None:
        """Start the program. Raises ProgramFault if the program cannot be started."""
        self._on_stderr_line = on_stderr_line
        self._last_stderr_line: deque[str] = deque(maxlen=1)
        self._has_requested = False
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                process_group=0,  # not a new session, which Linux would schedule separately and worse
            )
        except OSError as error:
            raise ProgramFault(f"the program cannot be started: {command[0]}: {error.strerror}") from None
        # Daemon threads that outlive their match must not leave the program running when this process ends.
        atexit.register(self._kill_process)
        self._is_closed = threading.Event()
        self._outgoing_lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._incoming_lines: Queue[bytes | None] = Queue(MAX_QUEUED_OUTPUT_LINES)
        self._threads = [
            threading.Thread(target=work, name=f"program {work.__name__}", daemon=True)
            for work in (self._write_stdin, self._read_stdout, self._read_stderr)
        ]
        for thread in self._threads:
            thread.start()

    def send(self, message: Mapping[str, object]) -> None:
        """Send `message` as a line of JSON, and do not wait for an answer."""
        self._outgoing_lines.put(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def request_answer(
        self, message: Mapping[str, object], example_answer: str, is_stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        """Send `message` as a line of JSON, and return the answer, a decoded JSON object.

        example_answer  valid answer, to show in error messages
        is_stopped      returns True if the answer is no longer needed

        The program's first line answers the first request, even if the program wrote the line before it read the
        request. Any later line that precedes its request is a fault.

        Raises RequestCancelled if `is_stopped` returns True before the answer arrives, and ProgramFault if there is no valid
        answer.
        """
        if self._has_requested:
            self._reject_unexpected_output()
        self._has_requested = True
        start_time = time.monotonic()
        self.send(message)
        while True:
            try:
                line = self._incoming_lines.get(timeout=CANCELLATION_POLL_SECONDS)
            except Empty:
                if is_stopped():
                    seconds = time.monotonic() - start_time
                    raise RequestCancelled(f"the program had not answered after {seconds:.2f} s") from None
                continue
            if line is None:
                raise ProgramFault(self._describe_exit())
            return _parse_answer(line, example_answer)

    def close(self, timeout_seconds: float) -> None:
        """Close the program's standard input, and kill the program if it has not exited after `timeout_seconds` seconds."""
        self._outgoing_lines.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_seconds)
        self._kill_process()
        self._process.wait()
        atexit.unregister(self._kill_process)
        # Empty the queue: a reader thread that waits for space in it would never notice the end of the output.
        self._is_closed.set()
        with contextlib.suppress(Empty):
            while True:
                self._incoming_lines.get_nowait()
        for thread in self._threads:
            thread.join(OUTPUT_DRAIN_TIMEOUT_SECONDS)

    def _reject_unexpected_output(self) -> None:
        try:
            line = self._incoming_lines.get_nowait()
        except Empty:
            return
        if line is None:
            raise ProgramFault(self._describe_exit())
        raise ProgramFault(
            f"the program wrote an unexpected line: {make_printable_excerpt(line)}; it must write one line for each `start` and `turn`"
        )

    def _describe_exit(self) -> str:
        try:
            exit_code = self._process.wait(EXIT_CODE_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            reason = "the program closed its standard output"
        else:
            self._threads[2].join(OUTPUT_DRAIN_TIMEOUT_SECONDS)
            exit_description = (
                f"exit code {exit_code}" if exit_code >= 0 else f"killed by {signal.Signals(-exit_code).name}"
            )
            reason = f"the program ended ({exit_description})"
        return (
            f"{reason}; last on its standard error: {self._last_stderr_line[-1]}"
            if self._last_stderr_line
            else reason
        )

    def _kill_process(self) -> None:
        # Kill the whole group, including a shell's children. The group may no longer exist.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _write_stdin(self) -> None:
        pipe = _require_pipe(self._process.stdin)
        with contextlib.suppress(BrokenPipeError):
            while (line := self._outgoing_lines.get()) is not None:
                pipe.write(line)
        with contextlib.suppress(BrokenPipeError):
            pipe.close()

    def _read_stdout(self) -> None:
        with os.fdopen(_require_pipe(self._process.stdout).fileno(), "rb", closefd=False) as pipe:
            while line := pipe.readline(MAX_OUTPUT_LINE_BYTES + 1):
                if line.strip() and not self._is_closed.is_set():
                    self._incoming_lines.put(line)
        _require_pipe(self._process.stdout).close()
        if not self._is_closed.is_set():
            self._incoming_lines.put(None)

    def _read_stderr(self) -> None:
        with os.fdopen(_require_pipe(self._process.stderr).fileno(), "rb", closefd=False) as pipe:
            while line := pipe.readline(MAX_OUTPUT_LINE_BYTES):
                text = _to_printable(line.decode(errors="replace").rstrip())
                self._last_stderr_line.append(text[:MAX_EXCERPT_CHARACTERS])
                self._on_stderr_line(text)
        _require_pipe(self._process.stderr).close()


def _require_pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise AssertionError("the program was started without pipes for its input and output")
    return pipe


def _parse_answer(answer_line: bytes, example_answer: str) -> dict[str, Any]:
    if len(answer_line) > MAX_OUTPUT_LINE_BYTES:
        raise ProgramFault(
            f"the program wrote a line of more than {MAX_OUTPUT_LINE_BYTES} bytes: {make_printable_excerpt(answer_line)}"
        )
    try:
        answer = json.loads(answer_line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ProgramFault(
            f"the program wrote {make_printable_excerpt(answer_line)}, which is not an answer; a valid one is {example_answer}"
        )
    return answer


def make_printable_excerpt(output_line: bytes) -> str:
    """Return the beginning of a program's line in printable characters, for an error message."""
    text = _to_printable(output_line[: 4 * MAX_EXCERPT_CHARACTERS].decode(errors="replace").strip())
    return f"{text[:MAX_EXCERPT_CHARACTERS]}…" if len(text) > MAX_EXCERPT_CHARACTERS else text


def _to_printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else "?" for char in text)
