"""Pages of results (RESULTS.md, SERVER.md, CLUSTER.md and SIMULATION.md), which benchmarks update, and output of a benchmark.

People write the text of a page and the bounds that it promises. Programs write figures, tables and verdicts, each into a
placeholder of the page.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from benchmarks.kit.measure import describe_machine

MAX_SHOWN_FAULTS = 20
"""Maximum number of failures that a benchmark prints. Further ones are only counted."""
BENCHMARKS_FOLDER = Path(__file__).parents[1]


@dataclass(frozen=True)
class ResultsPage:
    """Markdown file with placeholders for the values that a benchmark measures.

    The placeholder NAME is the text between `<!-- NAME -->` and `<!-- /NAME -->`.
    """

    path: Path

    def make_parser(self, docstring: str | None) -> argparse.ArgumentParser:
        """Return an argument parser with the option `--write` (write figures to the page).

        docstring: text with which the parser's help begins; None for none
        """
        parser = make_argument_parser(docstring)
        parser.add_argument(
            "--write", action="store_true", help=f"write the measured values to {self.path.name}"
        )
        return parser

    def parse_arguments(self, parser: argparse.ArgumentParser) -> argparse.Namespace:
        """Parse the command line.

        Exits with a usage error if `--write` is combined with an option that is not at its default: the page's bounds hold
        only for the defaults.
        """
        arguments = parser.parse_args()
        for name, value in vars(arguments).items():
            if arguments.write and name != "write" and value != parser.get_default(name):
                option = f"--{name.replace('_', '-')}"
                parser.error(
                    f"leave out {option} or --write: {self.path.name} promises bounds for its default"
                )
        return arguments

    def fill_placeholders(self, figures: Mapping[str, str]) -> str:
        """Return the text of the page with `figures`, texts by the name of their placeholder, filled in.

        Raises ValueError if the page lacks one of the placeholders.
        """
        text = self.path.read_text(encoding="utf-8")
        for name, figure in figures.items():
            begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
            head, _, rest = text.partition(begin)
            _, found, tail = rest.partition(end)
            if not found:
                raise ValueError(
                    f"{self.path}: there is no placeholder {begin}{end}; add it where the measured value belongs"
                )
            text = head + begin + figure + end + tail
        return text

    def publish(
        self,
        placeholder: str,
        figures: Mapping[str, str],
        get_conditions: Callable[[], MeasurementConditions],
        *,
        should_write: bool,
    ) -> None:
        """Print the figures of a measurement. If `should_write` is True, also write them and the conditions to the page.

        placeholder: name of the measurement; its conditions are written to the placeholder `{placeholder}.measured`
        figures: texts by the name of their placeholder
        get_conditions: function that returns the conditions of the measurement
        """
        for name, figure in figures.items():
            print(f"{name}: {figure}")
        if should_write:
            measured = {f"{placeholder}.measured": get_conditions().describe_in_words()}
            self.path.write_text(self.fill_placeholders({**figures, **measured}), encoding="utf-8")


RESULTS_PAGE, SERVER_PAGE, CLUSTER_PAGE, SIMULATION_PAGE = (
    ResultsPage(BENCHMARKS_FOLDER / name)
    for name in ("RESULTS.md", "SERVER.md", "CLUSTER.md", "SIMULATION.md")
)


def make_argument_parser(docstring: str | None) -> argparse.ArgumentParser:
    """Return an argument parser whose help begins with `docstring`, the docstring of the program's module."""
    module = sys.modules["__main__"].__spec__
    program = f"python -m {module.name.removesuffix('.__main__')}" if module else None
    formatter = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(prog=program, description=docstring, formatter_class=formatter)


def format_verdict(figure: str, *, is_bound_kept: bool) -> str:
    """Return `figure`, with the word "missed" before it if the figure misses its promised bound (`is_bound_kept` is False)."""
    return figure if is_bound_kept else f"**missed:** {figure}"


class MeasurementConditions(Struct, frozen=True):
    """Conditions of a measurement.

    date: date and time of the measurement
    machine_description: processors, operating system and versions, in one line
    """

    commit_hash: str
    """Abbreviated hash of the commit, or `unknown` outside a git checkout.

    A `+` at the end means that files other than Markdown had uncommitted changes.
    """
    date: str
    duration_seconds: float
    load_average: float
    """Load average of the machine over the minute before the measurement."""
    machine_description: str

    def describe_in_words(self, command: str = "") -> str:
        """Return the conditions in words, as the rest of a sentence that begins "The figures were measured".

        command: command that repeats the measurement; empty for the command line of this process
        """
        return (
            f"at commit {self.commit_hash.replace('+', ' with uncommitted changes')} on {self.date} in {self.duration_seconds:.0f} s by "
            f"`{command or shlex.join(['python', *sys.orig_argv[1:]])}`; "
            f"load average before the run: {self.load_average:.1f}. Machine: {self.machine_description}."
        )


def start_recording_conditions() -> Callable[[], MeasurementConditions]:
    """Start to record the conditions of a measurement: call this before the measurement.

    Return a function that returns the conditions: call that function after the measurement.
    """
    commit_hash, machine_description = _find_commit_hash(), describe_machine()
    load_average, start_time = os.getloadavg()[0], time.perf_counter()
    return lambda: MeasurementConditions(
        commit_hash=commit_hash,
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        duration_seconds=round(time.perf_counter() - start_time, 1),
        load_average=round(load_average, 1),
        machine_description=machine_description,
    )


def _find_commit_hash() -> str:
    if not (BENCHMARKS_FOLDER.parent / ".git").exists() or shutil.which("git") is None:
        return "unknown"

    def run_git(*arguments: str) -> str:
        # Root may measure a checkout of another user, which git refuses to read otherwise.
        command = ["git", "-c", "safe.directory=*", *arguments]
        return subprocess.run(
            command, cwd=BENCHMARKS_FOLDER, stdout=subprocess.PIPE, text=True, check=True
        ).stdout.strip()

    changed = run_git("status", "--porcelain", "--", ":/", ":!*.md", f":!{BENCHMARKS_FOLDER / 'results'}")
    return run_git("rev-parse", "--short=8", "HEAD") + "+" * bool(changed)


def print_faults(faults: Sequence[str]) -> int:
    """Print the number of failures, and the first MAX_SHOWN_FAULTS failures. Return the exit code: 1 if there are any
    failures.
    """
    for fault in faults[:MAX_SHOWN_FAULTS]:
        print("FAULT", fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0
