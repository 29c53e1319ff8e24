"""What `arena bot` says: results on its output, all else beside them with the time, and both in a log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TextIO

from arena.console import Failure, err, out


class Teller:
    """Tells the owner of a bot what goes on; a line comes out at once, for a bot is watched as it plays."""

    def __init__(self, log: TextIO | None) -> None:
        self._log = log

    def say(self, line: str) -> None:
        """Tell a result. It has no time before it, so that programs can read it."""
        self._keep(line)
        out.print(line, markup=False, highlight=False, soft_wrap=True)
        out.file.flush()

    def note(self, text: str) -> None:
        """Tell something beside the results, in one line or a traceback."""
        self._keep(text)
        now = datetime.now().astimezone()
        err.print(f"{now:%H:%M:%S} {text}", markup=False, highlight=False, soft_wrap=True)

    def _keep(self, text: str) -> None:
        if self._log is not None:
            now = datetime.now().astimezone()
            self._log.write(f"{now:%Y-%m-%dT%H:%M:%S%z} {text}\n")
            self._log.flush()


class _Wire(logging.Handler):
    """Tells what the client logs: every message, where that is wanted."""

    def __init__(self, teller: Teller) -> None:
        super().__init__()
        self._teller = teller

    def emit(self, record: logging.LogRecord) -> None:
        self._teller.note(record.getMessage())


@contextmanager
def open_teller(log: Path | None) -> Iterator[Teller]:
    """A teller that also appends all that it says to a file, where there is one. Raises Failure."""
    try:
        file = None if log is None else log.open("a", encoding="utf-8")
    except OSError as error:
        raise Failure(f"--log: cannot write {log}: {error.strerror}") from None
    teller = Teller(file)
    wire = _Wire(teller)
    logger = logging.getLogger("arena.client")
    logger.addHandler(wire)
    logger.propagate = False
    try:
        yield teller
    finally:
        logger.removeHandler(wire)
        if file is not None:
            file.close()
