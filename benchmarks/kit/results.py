"""RESULTS.md, SERVER.md, CLUSTER.md and SIMULATION.md: sections that can be replaced one by one, under a table of
promises and measured figures.
"""

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
    "size",
    "spectators",
    "hostile",
    "finished",
)
SERVER_HEAD = """# The server, measured

`make bench-server` and the commands that the sections name write this page, each its own section. A promise is the target;
below each section it is compared with the measured figure. [RESULTS.md](RESULTS.md) has the benchmarks of the engine.
"""
CLUSTER = Path(__file__).parents[1] / "CLUSTER.md"
CLUSTER_PARTS = ("cost", "deaths")
CLUSTER_HEAD = """# One arena on many servers, measured

Each section is written by the command that it names. [SERVER.md](SERVER.md) has the benchmarks of a single server.
"""
SIMULATION = Path(__file__).parents[1] / "SIMULATION.md"
SIMULATION_PARTS = ("seeds", "planted", "cost")
SIMULATION_HEAD = """# A whole arena in a simulation

Each section is written by the command that it names. Edges, cores, the store on SQLite and the product's client are real.
Time, connections, the bus, threads and the disk are simulated. The seed decides what fails, and when. After every step that
could break an invariant, `testkit/simulation/watch.py` checks all of them.

The simulation found these defects. All are fixed, each with a test:

| seed | defect |
| --- | --- |
| 1 | after a core died, a bot that had asked for a number of matches got that number once more |
| 14 | after the bus lost messages in both directions, a bot that accepted no more matches was assigned matches forever |
| 20 | a core that had hung handled the hello of a bot twice, and disconnected the bot as replaced by itself |
| 23 | while the store was briefly unreachable, the server answered that a match does not exist |
| 201 | a message from a bot whose client had ended put a traceback into the log |
| 303 | while the bus lost messages, a bot that answered each start of a match was disconnected for doing so |
| 423 | while the bus lost messages, repeated requests for one missed result filled the queue |
"""
HEAD = """# Benchmarks of the compiled engine

`make bench` measures all sections and writes this page from the raw results in `results/`. `python -m benchmarks --page` only rewrites
it. Each section states its commit, time and machine. A benchmark without a section has not been measured since its last change.

Figures are medians of ratios taken in one run, with the least and the greatest in brackets. Compared searches have the same
evaluator unless their names say otherwise. The server's benchmarks are in [SERVER.md](SERVER.md).
"""


def claim(what: str, least: str, figure: str) -> str:
    """Return a line of a section that is repeated in the table at the top."""
    return f"*Promised:* {what}: {least}. *Found:* {figure}."


def read_sections(path: Path) -> dict[str, str]:
    """Return the sections of a file written by `whole_text`, by name; an empty dict if there is no file."""
    if not path.exists():
        return {}
    _, *rest = _MARK.split(path.read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}


def whole_text(sections: Mapping[str, str], order: Sequence[str], head: str) -> str:
    """Return the whole file: head, table of promises if there are any, and the sections in order."""
    rows = [
        f"| {what} | {least} | {figure} |"
        for name in order
        for what, least, figure in _CLAIM.findall(sections.get(name, ""))
    ]
    table = ["\n".join(["| | promised | found |", "| --- | --- | --- |", *rows])] if rows else []
    parts = [f"<!-- part {name} -->\n{sections[name]}" for name in order if name in sections]
    return "\n\n".join([head.strip(), *table, *parts]) + "\n"


@contextmanager
def measured_on(command: str) -> Iterator[Callable[[], str]]:
    """Record the time and the load before the block. The yielded function describes them after the block."""
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
    """Replace a section of SERVER.md."""
    _write(part, text, file, SERVER_PARTS, SERVER_HEAD)


def write_cluster(part: str, text: str, file: Path = CLUSTER) -> None:
    """Replace a section of CLUSTER.md."""
    _write(part, text, file, CLUSTER_PARTS, CLUSTER_HEAD)


def write_simulation(part: str, text: str) -> None:
    """Replace a section of SIMULATION.md."""
    _write(part, text, SIMULATION, SIMULATION_PARTS, SIMULATION_HEAD)


def _write(part: str, text: str, file: Path, parts: Sequence[str], head: str) -> None:
    sections = read_sections(file) | {part: text.strip()}
    file.write_text(whole_text(sections, parts, head), encoding="utf-8")
