"""`arena` commands as separate processes, forked from a process that has already loaded the program.

Python takes a third of a second to load a server or a bot, which matters only to tests of the start of a command. For
all other tests, one process per test run loads the commands (the fork server of `multiprocessing`), and each command is
forked from it. The command has its own process id, memory, folder, environment and signals. Only its command line and
environment in /proc are those of the fork server.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import TimeoutExpired

from arena.cli import main
from arena.server.web import page_process

_FORKS = multiprocessing.get_context("forkserver")
# pytest is what a fork would import as its main module
_FORKS.set_forkserver_preload(["pytest", "testkit.loaded"])


def start_fork_server() -> None:
    """Start the process from which commands are forked. It takes a second, which would block an event loop."""
    process = _FORKS.Process(target=os.getpid, daemon=True)
    process.start()
    process.join()


class ForkedCommand:
    """Running `arena` command, with the part of `subprocess.Popen` that tests use."""

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdout: Path | None = None,
        stderr: Path | None = None,
    ) -> None:
        """Start the command. Its output is appended to these files, or discarded."""
        environment = dict(os.environ if env is None else env)
        self.args = ("arena", *arguments)
        # as a daemon it ends with the tests, whatever happens
        self._process = _FORKS.Process(
            target=_run_forked, args=(arguments, cwd, environment, stdout, stderr), daemon=True
        )
        self._process.start()

    @property
    def pid(self) -> int:
        """Process id."""
        process = self._process.pid
        if process is None:
            raise RuntimeError("the forked process was not started")
        return process

    @property
    def returncode(self) -> int | None:
        """Exit code, or -N if signal N ended the command; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return `returncode`."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the command, and return its exit code. Raises TimeoutExpired after `timeout` seconds."""
        self._process.join(timeout)
        code = self.returncode
        if code is None:
            raise TimeoutExpired(self.args, timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal to the command, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM to the command."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the command."""
        self.send_signal(signal.SIGKILL)


class ForkedPageProcess(ForkedCommand):
    """Page process for a server that runs in this process."""

    def __init__(self, child_socket: socket.socket) -> None:
        """Start the page process on `child_socket`, its end of a socket, with this process's folder and environment."""
        self.args = page_process.COMMAND
        self._process = _FORKS.Process(
            target=_answer_pages, args=(child_socket, Path.cwd(), dict(os.environ)), daemon=True
        )
        self._process.start()


def _enter(folder: Path, environment: dict[str, str]) -> None:
    """Set the folder and the environment of the forked process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)


def _answer_pages(child_socket: socket.socket, folder: Path, environment: dict[str, str]) -> None:
    """Run the page process in the forked process."""
    from arena.server.web.__main__ import main as answer_pages  # noqa: PLC0415 - loaded in the parent of all forks

    _enter(folder, environment)
    os.dup2(child_socket.fileno(), 0)
    child_socket.close()
    answer_pages()


def _run_forked(
    arguments: tuple[str, ...],
    folder: Path,
    environment: dict[str, str],
    stdout: Path | None,
    stderr: Path | None,
) -> None:
    """Run the command in the forked process, and exit."""
    _enter(folder, environment)
    # Where tests run in the background of a shell, that makes them ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for output, file in ((1, stdout), (2, stderr)):
        opened = os.open(file or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.dup2(opened, output)
        os.close(opened)
    sys.argv = ["arena", *arguments]
    main(list(arguments))
