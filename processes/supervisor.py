"""Run a command that never outlives the process that started this supervisor.

    python supervisor.py [--nice N] COMMAND [ARGUMENT ...]

The supervisor's standard input is a pipe from the process that started it. Nothing is ever written to the pipe. When it
closes, intentionally or because the starting process died (even by kill -9), the supervisor kills the command and all
processes of the command's group.

SIGTERM, SIGINT and SIGHUP are forwarded to the group. The supervisor exits with the command's exit code, with 128 plus
the signal number if a signal killed the command, or with 2 if the command cannot be started. The supervisor is a
separate program with few imports, because every bot has one.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from types import FrameType

CANNOT_START_EXIT_CODE = 2
"""Exit code of the supervisor if the supervised command cannot be started."""
DEFAULT_NICENESS = 5
"""Default increase of the command's niceness.

If all CPU cores are busy, the increase gives the server priority over the bots, so that the clocks of matches stay exact.
"""
FORWARDED_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that the supervisor forwards to the command's process group."""


def make_supervised_command(*command: str, niceness: int = DEFAULT_NICENESS) -> list[str]:
    """Return the command line that runs `command` under the supervisor, with the current Python interpreter."""
    return [sys.executable, "-I", "-S", __file__, "--nice", str(niceness), *command]


def main(command: list[str]) -> int:
    """Run `command` to its end, or kill it when standard input closes. Return the supervisor's exit code.

    The supervisor's exit code is that of the command, 128 plus the number of the signal that killed the command, or
    CANNOT_START_EXIT_CODE.

    command: words of the command line, which may begin with `--nice N`
    """
    # Ctrl-C must reach only the process that started this supervisor, which then stops its commands in an orderly way.
    # A new process group is enough for that. With separate sessions, among which Linux divides the cores first, four
    # thinking bots would sometimes delay a fifth bot, and the server with the clocks, by a tenth of a second.
    os.setpgid(0, 0)
    niceness = DEFAULT_NICENESS
    if command[:1] == ["--nice"]:
        niceness, command = int(command[1]), command[2:]
    os.nice(niceness)
    wakeup, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    # The handler is set before the command starts, so that the command's end is not missed. Unlike SIG_IGN, a handler
    # is not inherited by the command.
    signal.signal(signal.SIGCHLD, lambda _send_signal, _frame: None)
    # Signals are blocked until the command can receive them. Otherwise they would end only the supervisor, and leave the
    # command running.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED_SIGNALS)
    try:
        child = os.posix_spawnp(
            command[0],
            command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)],
            setpgroup=0,
            setsigmask=(),
        )
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]!r}: {error.strerror}\n")
        return CANNOT_START_EXIT_CODE

    def forward_signal(signal_number: int, _frame: FrameType | None) -> None:
        os.killpg(child, signal_number)

    for forwarded_signal in FORWARDED_SIGNALS:
        signal.signal(forwarded_signal, forward_signal)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED_SIGNALS)
    while True:
        # The child is not reaped before the end, so its process and group ids cannot be reused.
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            break
        readable, _, _ = select.select([0, wakeup], [], [])
        if wakeup in readable:
            os.read(wakeup, 512)
        if 0 in readable and not os.read(0, 512):
            os.killpg(child, signal.SIGKILL)
            break
    # Kill processes that the command left in its group.
    os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    exit_code = os.waitstatus_to_exitcode(status)
    return exit_code if exit_code >= 0 else 128 - exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
