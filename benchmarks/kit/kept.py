"""What a long benchmark has measured, kept in a file as it comes: it may be stopped, and goes on from there."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

LOAD = "load average"


class Unfinished(Exception):
    """The time that a benchmark had is over; what it has measured is in its file."""


class Kept:
    """Measurements by name, one JSON line each in a file; without a file they are kept for this run alone.

    path      the file; what it holds already is not measured again, so whoever changes what is measured names another
    seconds   after how many seconds nothing more is begun
    """

    def __init__(self, path: Path | None = None, seconds: float | None = None) -> None:
        self._path = path
        self._end = None if seconds is None else time.monotonic() + seconds
        self._found: dict[str, Any] = {}
        self._loads: list[float] = []
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                one = json.loads(line)
                if one["name"] == LOAD:
                    self._loads.append(one["found"])
                else:
                    self._found[one["name"]] = one["found"]
        self._loads.append(os.getloadavg()[0])
        self._keep(LOAD, self._loads[-1])

    def get(self, name: str) -> Any:
        """What was measured under this name, or None."""
        return self._found.get(name)

    def add(self, name: str, found: Any) -> None:
        """Keep what JSON can hold."""
        self._found[name] = found
        self._keep(name, found)

    def _keep(self, name: str, found: Any) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"name": name, "found": found}) + "\n")

    @property
    def told(self) -> str:
        """In how many runs it was measured, and what load the machine had before them; nothing of a single one."""
        if len(self._loads) < 2:
            return ""
        return (
            f" Measured in {len(self._loads)} runs that follow each other; load average before them "
            f"{min(self._loads):.1f} to {max(self._loads):.1f}."
        )

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._end is not None and time.monotonic() >= self._end

    def check(self) -> None:
        """Raises Unfinished when the time is over."""
        if self.over:
            raise Unfinished(
                f"the time is over: run the same command again, it goes on from what is in {self._path}"
            )


__all__ = ["Kept", "Unfinished"]
