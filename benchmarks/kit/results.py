"""Files of results (RESULTS.md, SERVER.md, CLUSTER.md and SIMULATION.md), and output of a benchmark's failures.

Each file has a table of promises with measured figures, and sections that can be replaced one by one.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

MAX_SHOWN_FAULTS = 20
_TABLE = "| | promised | found |"
_MARK = re.compile(r"^<!-- part (\w+) -->\n", re.MULTILINE)
_CLAIM = re.compile(r"^\*Promised:\* (.+?): (.+?)\. (\*Found:\*|\*\*Missed:\*\*) (.+)\.$", re.MULTILINE)


def format_claim(subject: str, promise: str, figure: str, *, kept: bool) -> str:
    """Return a line for a section: a promise with its measured figure. The table at the top of the file repeats it.

    subject: quantity that is promised; promise: promised bound; figure: measured value; kept: True if it is within the bound
    """
    return f"*Promised:* {subject}: {promise}. {'*Found:*' if kept else '**Missed:**'} {figure}."


@dataclass(frozen=True)
class ResultsPage:
    """Markdown file of results: a head, a table of promises, and sections in a given order."""

    path: Path
    parts: Sequence[str]
    """Names of the sections in the order of the file."""

    def read_sections(self) -> dict[str, str]:
        """Return the sections of the file by name; an empty dict if there is no file."""
        _, *rest = _MARK.split(self._read_text())
        return {name: text.strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}

    def render(self, sections: Mapping[str, str]) -> str:
        """Return the whole text: the present head, the table of promises if there are any, and the given sections."""
        head = _MARK.split(self._read_text())[0].partition(_TABLE)[0].strip()
        rows = [
            f"| {subject} | {bound} | {'**missed:** ' * (verdict == '**Missed:**')}{figure} |"
            for name in self.parts
            for subject, bound, verdict, figure in _CLAIM.findall(sections.get(name, ""))
        ]
        table = ["\n".join([_TABLE, "| --- | --- | --- |", *rows])] if rows else []
        parts = [f"<!-- part {name} -->\n{sections[name]}" for name in self.parts if name in sections]
        return "\n\n".join([head, *table, *parts]) + "\n"

    def replace_section(self, part: str, text: str) -> None:
        """Replace the section called `part` in the file by `text`, or add it, and update the table of promises."""
        text = self.render(self.read_sections() | {part: text.strip()})
        self.path.write_text(text, encoding="utf-8")

    def _read_text(self) -> str:
        return self.path.read_text(encoding="utf-8") if self.path.exists() else ""


_FOLDER = Path(__file__).parents[1]
SERVER = ResultsPage(_FOLDER / "SERVER.md", ("speed", "growth", "size", "spectators", "hostile", "finished"))
CLUSTER = ResultsPage(_FOLDER / "CLUSTER.md", ("cost", "failures"))
SIMULATION = ResultsPage(_FOLDER / "SIMULATION.md", ("seeds", "planted", "cost"))


@contextmanager
def describe_measurement(command: str) -> Iterator[Callable[[], str]]:
    """Measure the duration of the block, and the machine's load before it. `command`: command that repeats this.

    Yield a function that returns a sentence about date, duration, command and load. Call it after the block.
    """
    load, start_time = os.getloadavg()[0], time.perf_counter()
    seconds = 0.0

    def describe_conditions() -> str:
        return (
            f"Measured on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC in {seconds:.0f} s by `{command}`; "
            f"load average before the run: {load:.1f}."
        )

    yield describe_conditions
    seconds = time.perf_counter() - start_time


def print_faults(faults: Sequence[str]) -> int:
    """Print the first MAX_SHOWN_FAULTS failures, and the number of all. Return the exit code: 1 if there are any."""
    for fault in faults[:MAX_SHOWN_FAULTS]:
        print("FAULT", fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0
