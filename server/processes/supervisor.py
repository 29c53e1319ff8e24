"""Runs one command and never outlives whoever started it, nor lets the command do so.

python supervisor.py [--nice N] COMMAND [ARGUMENT ...]

The supervisor's standard input is a pipe that its starter holds and never writes to. When the pipe closes,
because the starter wants it so or because it died in whatever way (kill -9 too), the command and every
process of its group are killed. SIGTERM, SIGINT and SIGHUP are handed on to the group. The exit code is the command's, or
128 and the signal's number; 2 when it cannot be started. The supervisor is a program of its
own that imports little, because every bot has one beside it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from types import FrameType

CANNOT_START = 2
NICENESS = 5
"""Added to the niceness of the command, unless N is: the server that keeps the clocks goes first when all want the cores."""
HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""What is handed on to the command and its group."""


def supervised(*command: str, niceness: int = NICENESS) -> list[str]:
    """The command line that runs a command under the supervisor, with the interpreter of whoever starts it."""
    return [sys.executable, "-I", "-S", __file__, "--nice", str(niceness), *command]


def main(command: list[str]) -> int:
    """Run `command` to its end, or kill it when standard input closes. The exit code."""
    # Ctrl-C is for the starter, which then ends its commands in good order. The group is no session of its
    # own: Linux divides the cores between sessions first, and four thinking bots would then hold up a fifth, and the
    # server that keeps the clocks, for a tenth of a second now and then.
    os.setpgid(0, 0)
    niceness = NICENESS
    if command[:1] == ["--nice"]:
        niceness, command = int(command[1]), command[2:]
    os.nice(niceness)
    wakeup, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    # The handler is set before the command starts, whose end could be missed otherwise. The command does not
    # inherit a handler, as it would SIG_IGN.
    signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)
    # What comes before the command is there to be told waits until then: it would end the supervisor alone, and leave the
    # command behind.
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
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
        return CANNOT_START

    def hand_on(number: int, _frame: FrameType | None) -> None:
        os.killpg(child, number)

    for number in HANDED_ON:
        signal.signal(number, hand_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
    while True:
        # The child is not reaped before the end, so neither its id nor its group's can be anybody else's.
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            break
        readable, _, _ = select.select([0, wakeup], [], [])
        if wakeup in readable:
            os.read(wakeup, 512)
        if 0 in readable and not os.read(0, 512):
            os.killpg(child, signal.SIGKILL)
            break
    # What the command left running in its group goes with it.
    os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
