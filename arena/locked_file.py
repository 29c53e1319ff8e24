"""Files that one process at a time may use. Each lock ends with its process, even if the process is killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl


def open_locked_file(path: Path) -> int:
    """Open and lock a file, creating it if needed, and return its descriptor. Closing the descriptor ends the lock.

    The process that holds the lock may remove the file. On Windows the file is opened without a lock.

    Raises BlockingIOError if another process uses the file, and another OSError if the file cannot be opened.
    """
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        except FileNotFoundError:
            pass  # an ending process removed the file after it was opened here
        except OSError:
            os.close(file)
            raise
        os.close(file)
