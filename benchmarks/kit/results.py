"""RESULTS.md, SERVER.md and CLUSTER.md as sections that can be replaced one by one, under a table of what was promised and found."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

_MARK = re.compile(r"^<!-- part (\w+) -->\n", re.MULTILINE)
_CLAIM = re.compile(r"^\*Promised:\* (.+?): (.+?)\. \*Found:\* (.+)\.$", re.MULTILINE)

SERVER = Path(__file__).parents[1] / "SERVER.md"
SERVER_PARTS = (
    "speed",
    "growth",
    "runner",
    "size",
    "spectators",
    "attackers",
    "hostile",
    "finished",
)
SERVER_HEAD = """# The server, measured

Each section is written by its own command: `make bench-server` and those that the sections name. The engine's
benchmarks are in [RESULTS.md](RESULTS.md).
"""
CLUSTER = Path(__file__).parents[1] / "CLUSTER.md"
CLUSTER_PARTS = ("cost", "deaths")
CLUSTER_HEAD = """# One arena on many servers, measured

Each section is written by the command that it names. What one server does is in [SERVER.md](SERVER.md).
"""
HEAD = """# Benchmarks of the compiled engine

Written by `make bench`. A section tells on which machine it was measured; one that does not, on 2 × Intel(R) Xeon(R)
Processor, Linux 6.18.44-fc-v669, Python 3.11.7, numba 0.68.1, llvmlite 0.50.0, numpy 2.4.6.

Figures are medians of ratios taken in one run, with the least and the greatest in brackets. The server's benchmarks
are in [SERVER.md](SERVER.md).
"""


def claim(what: str, least: str, found: str) -> str:
    """A line of a section that the table at the top repeats."""
    return f"*Promised:* {what}: {least}. *Found:* {found}."


def read_sections(path: Path) -> dict[str, str]:
    """The sections of a file that `whole_text` made, by the names of their parts; none if there is no file."""
    if not path.exists():
        return {}
    _, *rest = _MARK.split(path.read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}


def whole_text(sections: Mapping[str, str], order: Sequence[str], head: str) -> str:
    """The file: head, table of promises if there are any, and the sections in order."""
    rows = [
        f"| {what} | {least} | {found} |"
        for name in order
        for what, least, found in _CLAIM.findall(sections.get(name, ""))
    ]
    table = ["\n".join(["| | promised | found |", "| --- | --- | --- |", *rows])] if rows else []
    parts = [f"<!-- part {name} -->\n{sections[name]}" for name in order if name in sections]
    return "\n\n".join([head.strip(), *table, *parts]) + "\n"


@contextmanager
def measured_on(command: str) -> Iterator[Callable[[], str]]:
    """Notes the time and the load before the block; what it gives tells them, once the block is over."""
    load, began = os.getloadavg()[0], time.perf_counter()
    seconds = 0.0

    def note() -> str:
        return (
            f"Measured on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC in {seconds:.0f} s by `{command}`; "
            f"load average before it: {load:.1f}."
        )

    yield note
    seconds = time.perf_counter() - began


def write_server(part: str, text: str, file: Path = SERVER) -> None:
    """Put a part of the server's benchmarks in the place of the one before."""
    _write(part, text, file, SERVER_PARTS, SERVER_HEAD)


def write_cluster(part: str, text: str, file: Path = CLUSTER) -> None:
    """Put a part of the benchmarks of several servers in the place of the one before."""
    _write(part, text, file, CLUSTER_PARTS, CLUSTER_HEAD)


def _write(part: str, text: str, file: Path, parts: Sequence[str], head: str) -> None:
    sections = read_sections(file) | {part: text.strip()}
    file.write_text(whole_text(sections, parts, head), encoding="utf-8")
