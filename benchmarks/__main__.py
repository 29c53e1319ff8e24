"""Measure the compiled engine and write RESULTS.md: `python -m benchmarks [NAME …]`; without names, all parts.

Each part is written as soon as it is measured, with the date and the load, and replaces its earlier section.
Elo between two engines is a program of its own: `python -m benchmarks.engine.strength --help`.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from benchmarks.kit.measure import machine
from benchmarks.kit.results import HEAD, measured_on, read_sections, whole_text

PARTS = ("devices", "depth", "threads", "delay", "start", "truth")
FINISHED = "finished"
"""Section of experiments whose programs were removed; no command writes it."""
RESULTS = Path(__file__).with_name("RESULTS.md")


def main() -> None:
    """Measure each part in turn."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}")
    given = parser.parse_args()
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    for name in given.parts or PARTS:
        with measured_on(f"python -m benchmarks {name}") as note:
            section = importlib.import_module(f"benchmarks.engine.{name}").run()
        text = f"{section.markdown()}\n\n{note()} {machine()}."
        print(text, "\n", flush=True)
        sections = read_sections(RESULTS) | {name: text}
        RESULTS.write_text(whole_text(sections, (*PARTS, FINISHED), HEAD), encoding="utf-8")


if __name__ == "__main__":
    main()
