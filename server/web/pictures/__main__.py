"""`python -m arena.server.web.pictures`: reads a job from stdin, and writes its picture to stdout."""

from __future__ import annotations

import os
import signal
import sys

from arena.server.web.pictures import jobs
from arena.server.web.pictures.drawing import NoPicture, draw

LONGEST_SECONDS = 60
"""When this ends whatever happens, also where the server is not there any more to end it."""
NICENESS = 10
"""How much it lets others go first: matches and their players do not wait for a picture."""


def main() -> int:
    """Draw one picture. The exit code."""
    # Ctrl-C is for the server, which then ends this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "alarm"):
        signal.alarm(LONGEST_SECONDS)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    try:
        sys.stdout.buffer.write(draw(jobs.decode(sys.stdin.buffer.read())))
    except NoPicture as none:
        sys.stderr.write(f"{none}\n")
        return jobs.CANNOT_DRAW
    return 0


if __name__ == "__main__":
    sys.exit(main())
