"""The `arena` command as a process of its own, forked from one that has loaded it already.

An interpreter that loads a server or a bot works for a third of a second before it does anything. A test that is about what a
running command does, and not about its start, need not pay for that: here one process a run loads the commands
(`multiprocessing`'s fork server), and each command is forked from it. It has its own process id, memory, folder,
environment and signals, as any other; only its command line in /proc, and its environment there, are those of the
process it was forked from.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import TimeoutExpired

from arena.cli import main

_FORKS = multiprocessing.get_context("forkserver")
# pytest is what a fork would import as its main module
_FORKS.set_forkserver_preload(["pytest", "testkit.loaded"])


def prepare() -> None:
    """Start the process that commands are forked from, which loads them: a second, in which an event loop would stand still."""
    process = _FORKS.Process(target=os.getpid, daemon=True)
    process.start()
    process.join()


class Forked:
    """A running `arena` command, with what tests use of `subprocess.Popen`."""

    def __init__(
        self,
        *words: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdout: Path | None = None,
        stderr: Path | None = None,
    ) -> None:
        """Start it. What it prints is added to these files, or thrown away."""
        environment = dict(os.environ if env is None else env)
        self.args = ("arena", *words)
        # as a daemon it ends with the tests, whatever happens
        self._process = _FORKS.Process(
            target=_run, args=(words, cwd, environment, stdout, stderr), daemon=True
        )
        self._process.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        process = self._process.pid
        if process is None:
            raise RuntimeError("it was not started")
        return process

    @property
    def returncode(self) -> int | None:
        """Its exit code, or -N if the signal N ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The same as `returncode`."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises TimeoutExpired when that takes more than `timeout` seconds."""
        self._process.join(timeout)
        code = self.returncode
        if code is None:
            raise TimeoutExpired(self.args, timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send it SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send it SIGKILL."""
        self.send_signal(signal.SIGKILL)


def _run(
    words: tuple[str, ...], folder: Path, environment: dict[str, str], out: Path | None, err: Path | None
) -> None:
    """Be the command: runs in the process that was forked, and ends it."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # Where tests run in the background of a shell, that makes them ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for output, file in ((1, out), (2, err)):
        opened = os.open(file or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.dup2(opened, output)
        os.close(opened)
    sys.argv = ["arena", *words]
    main(list(words))
