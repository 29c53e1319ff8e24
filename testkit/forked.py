"""`arena` commands as separate processes, forked from a process that has already loaded the program.

Python takes a third of a second to load a server or a bot. Only tests of a command's start need this load. For all other
tests, one process per test run loads the commands (the fork server of `multiprocessing`), and each command is forked from
that process. The command has a process id, memory, working folder, environment and signals of its own. Only its command
line and environment in /proc are those of the fork server.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired

from arena.cli import main
from arena.server.web import page_process

_FORKSERVER_CONTEXT = multiprocessing.get_context("forkserver")
# A forked process would import pytest as its main module.
_FORKSERVER_CONTEXT.set_forkserver_preload(["pytest", "testkit.preload"])


def start_fork_server() -> None:
    """Start the process from which commands are forked.

    Call this function before an event loop runs, because the start takes a second, for which it would block the loop.
    """
    process = _FORKSERVER_CONTEXT.Process(target=os.getpid, daemon=True)
    process.start()
    process.join()


class ForkedCommand:
    """`arena` command in a forked process, with the part of the interface of `subprocess.Popen` that tests use."""

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdout: Path | None = None,
        stderr: Path | None = None,
    ) -> None:
        """Start `arena ARGUMENTS`.

        cwd: working folder
        env: environment; None for this process's environment
        stdout, stderr: files to which the output is appended; None to discard it
        """
        environment = dict(os.environ if env is None else env)
        self.args = ("arena", *arguments)
        # A daemon process ends with the tests, whatever happens.
        self._process = _FORKSERVER_CONTEXT.Process(
            target=_run_forked_command, args=(arguments, cwd, environment, stdout, stderr), daemon=True
        )
        self._process.start()

    @property
    def pid(self) -> int:
        """Id of the command's process, also after the command has ended."""
        process = self._process.pid
        if process is None:
            raise RuntimeError("the forked process was not started")
        return process

    @property
    def returncode(self) -> int | None:
        """Exit code, or -N if signal N ended the command; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, or -N if signal N ended the command; None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the command. Return its exit code, or -N if signal N ended the command.

        timeout: seconds after which TimeoutExpired is raised; None to wait without limit
        """
        self._process.join(timeout)
        exit_code = self.returncode
        if exit_code is None:
            raise TimeoutExpired(self.args, timeout or 0)
        return exit_code

    def send_signal(self, signal_number: int) -> None:
        """Send a signal to the command, unless it has ended."""
        if self.poll() is None:
            # the fork server learns of the end earlier
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal_number)

    def terminate(self) -> None:
        """Send SIGTERM to the command."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the command."""
        self.send_signal(signal.SIGKILL)


class ForkedPageProcess(ForkedCommand):
    """Process that generates the web pages, for a server that runs in the test's own process."""

    def __init__(self, child_socket: socket.socket) -> None:
        """Start the process with this process's working folder and environment.

        child_socket: end of the socket pair at which the process receives requests from the server
        """
        self.args = page_process.PAGE_PROCESS_COMMAND
        self._process = _FORKSERVER_CONTEXT.Process(
            target=_serve_pages, args=(child_socket, Path.cwd(), dict(os.environ)), daemon=True
        )
        self._process.start()


def _set_up_process(folder: Path, environment: dict[str, str]) -> None:
    """Set the working folder and the environment of this process, which was forked."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)


def _serve_pages(child_socket: socket.socket, folder: Path, environment: dict[str, str]) -> None:
    """Answer requests for pages in the forked process, until the server closes the socket."""
    from arena.server.web.__main__ import main as answer_pages  # noqa: PLC0415 - loaded in the parent of all forks

    _set_up_process(folder, environment)
    os.dup2(child_socket.fileno(), 0)
    child_socket.close()
    answer_pages()


def _run_forked_command(
    arguments: tuple[str, ...],
    folder: Path,
    environment: dict[str, str],
    stdout: Path | None,
    stderr: Path | None,
) -> None:
    """Run `arena ARGUMENTS` in the forked process, with its output in these files or discarded."""
    _set_up_process(folder, environment)
    # A shell that runs the tests in the background lets them ignore Ctrl-C (SIGINT), and nohup lets them ignore SIGHUP. A fork
    # inherits both.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for output, file in ((1, stdout), (2, stderr)):
        opened = os.open(file or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.dup2(opened, output)
        os.close(opened)
    sys.argv = ["arena", *arguments]
    main(list(arguments))
