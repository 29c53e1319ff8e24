"""A bot as a ladder starts it, for tic-tac-toe, that behaves as its first argument says; a second is a file's path.

play         the first empty cell, for ever
stay         as play, but deaf to SIGTERM, and with a child that is too
crash-once   crashes at its first turn, unless the file is there already
freeze-once  stops in its first turn, unless the file is there already
crash        crashes before it has connected
never        does not connect, and is deaf to SIGTERM
babble       prints more than anybody wants to keep, then crashes
misuse       complains of how it was called
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.faulty.honest import Honest, Message


def first_time(file: str) -> bool:
    """Return True for the first caller, and mark the file for all later callers."""
    try:
        Path(file).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


class LadderBot(Honest):
    """A bot that may crash or freeze at its first turn."""

    def __init__(self, mode: str, file: str) -> None:
        super().__init__()
        self.mode = mode
        self.file = file

    def on_turn(self, message: Message) -> None:
        if self.mode == "crash-once" and first_time(self.file):
            sys.stderr.write("RuntimeError: a bug in the bot\n")
            os._exit(1)  # without a close frame
        if self.mode == "freeze-once" and first_time(self.file):
            os.kill(os.getpid(), signal.SIGSTOP)
        super().on_turn(message)

    def choose(self, turn: Message) -> int:
        return next(cell for cell in range(9) if cell not in turn["moves"])


def main(mode: str, file: str) -> None:
    if mode in {"never", "stay"}:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    match mode:
        case "stay":
            subprocess.Popen(["sleep", "120"])
        case "misuse":
            sys.stderr.write("arena: no engine is called 'x'\n")
            sys.exit(2)
        case "crash":
            sys.exit("the disk is full")
        case "never":
            time.sleep(120)
        case "babble":
            for number in range(1000):
                sys.stdout.write(f"{number} {'x' * 5000}\n")
            sys.stdout.write("y" * 100_000)
            sys.exit(3)
    LadderBot(mode, file).run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
