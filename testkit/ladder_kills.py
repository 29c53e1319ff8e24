"""Ladders (events that `arena ladder` plays) in processes that tests kill with SIGKILL and start again."""

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

POLL_INTERVAL_SECONDS = 0.005
"""Seconds between two queries of the store (database) while this module waits for the next finished match."""
LADDER_START_TIMEOUT_SECONDS = 200
"""Maximum time for the ladder to start or to finish a match, in seconds."""


@dataclass(frozen=True)
class KillableLadder:
    """Event of `arena ladder` that can be killed and resumed, with its store, record and table as files in a folder.

    folder: folder of these files, and working folder of the command
    options: arguments of `arena ladder` that describe the event
    """

    folder: Path
    options: tuple[str, ...]

    def make_command(self, file_stem: str) -> list[str]:
        """Return the command that plays the event, or continues the event if it has begun.

        file_stem: name of the event's files without suffix; a new name begins the event anew
        """
        files = {
            "--db": f"sqlite:///{self.folder / file_stem}.db",
            "--record": f"{file_stem}.jsonl",
            "--json": f"{file_stem}.json",
        }
        file_options = [word for pair in files.items() for word in pair]
        return [sys.executable, "-P", "-m", "arena", "ladder", *self.options, *file_options]

    def load_finished_match_ids(self, file_stem: str) -> set[str]:
        """Return the ids of the finished matches in the store; none if there is no store yet.

        file_stem: name of the store's file without the suffix `.db`
        """
        database = self.folder / f"{file_stem}.db"
        if not database.exists():
            return set()
        with closing(sqlite3.connect(database)) as store:
            try:
                rows = store.execute("select match from matches where finished is not null").fetchall()
            except sqlite3.OperationalError:  # the store is just being created
                return set()
        return {match for (match,) in rows}

    def play_to_end(self, file_stem: str) -> dict[str, Any]:
        """Play the event to its end with `arena ladder`, and return the content of the JSON file that the command writes.

        file_stem: name of the files without suffix, as for `make_command`

        Raises RuntimeError with the command's error output if the command fails.
        """
        result = subprocess.run(
            self.make_command(file_stem), capture_output=True, text=True, check=False, cwd=self.folder
        )
        if result.returncode:
            raise RuntimeError(f"`arena ladder` failed: {result.stderr[-2000:]}")
        data: dict[str, Any] = json.loads((self.folder / f"{file_stem}.json").read_text(encoding="utf-8"))
        return data

    def resume_and_kill(
        self, file_stem: str, delay_seconds: float, *, is_delay_from_start: bool = False
    ) -> None:
        """Resume the event in a process, and kill that process after a while.

        file_stem: name of the files without suffix, as for `make_command`
        delay_seconds: seconds until the kill, counted from the next finished match
        is_delay_from_start: True to count from the start of the process, so that the kill may come before the event has continued
        """
        count_before = len(self.load_finished_match_ids(file_stem))
        with subprocess.Popen(
            self.make_command(file_stem),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            deadline = time.monotonic() + LADDER_START_TIMEOUT_SECONDS
            while not is_delay_from_start and len(self.load_finished_match_ids(file_stem)) == count_before:
                if process.poll() is not None or time.monotonic() > deadline:
                    break
                time.sleep(POLL_INTERVAL_SECONDS)
            time.sleep(delay_seconds)
            process.kill()
