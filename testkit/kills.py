"""An event of `arena ladder` that is killed with -9 and started again."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POLL_SECONDS = 0.005
START_SECONDS = 60


@dataclass(frozen=True)
class Event:
    """What `arena ladder` plays, with its store, its record and its table in a folder.

    words: the arguments of the command that say what is played
    """

    folder: Path
    words: tuple[str, ...]

    def command(self, name: str, *more: str) -> list[str]:
        """What plays the event and keeps it under a name; the same words go on with it."""
        files = {
            "--db": f"sqlite:///{self.folder / name}.db",
            "--record": f"{name}.jsonl",
            "--json": f"{name}.json",
        }
        kept = [word for pair in files.items() for word in pair]
        return [sys.executable, "-P", "-m", "arena", "ladder", *self.words, *kept, *more]

    def finished(self, name: str) -> set[str]:
        """The ids of the matches that are in the store with their records."""
        database = self.folder / f"{name}.db"
        if not database.exists():
            return set()
        with closing(sqlite3.connect(database)) as store:
            try:
                rows = store.execute("select match from matches where finished is not null").fetchall()
            except sqlite3.OperationalError:  # it is just being made
                return set()
        return {match for (match,) in rows}

    def play(self, name: str) -> dict[str, Any]:
        """Play to the end: what `--json` tells. Raises RuntimeError with what the command complained of."""
        done = subprocess.run(
            self.command(name), capture_output=True, text=True, check=False, cwd=self.folder
        )
        if done.returncode:
            raise RuntimeError(f"the ladder failed: {done.stderr[-2000:]}")
        told: dict[str, Any] = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        return told

    def kill(self, name: str, after: float, *, starting: bool = False) -> None:
        """Go on with the event and kill it.

        after: seconds from when one more match is finished to the kill, or from the start of the process
        starting: whether it is the start that counts, so that the event may not have gone on yet
        """
        before = len(self.finished(name))
        with subprocess.Popen(
            self.command(name), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            until = time.monotonic() + START_SECONDS
            while not starting and len(self.finished(name)) == before:
                if process.poll() is not None or time.monotonic() > until:
                    break
                time.sleep(POLL_SECONDS)
            time.sleep(after)
            process.kill()
