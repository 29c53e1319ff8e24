"""Run the benchmarks and write RESULTS.md: `python -m benchmarks [NAME …] [--pairs N]`; without names, all.

Each part's section is written as soon as it is measured, with the date and the machine's load, in the place of
the one before; so a part can be measured again by itself.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from benchmarks.kit.measure import machine
from benchmarks.kit.results import HEAD, measured_on, read_sections, whole_text

PARTS = (
    "native",
    "peers",
    "others",
    "devices",
    "depth",
    "threads",
    "scheduler",
    "delay",
    "start",
    "weights",
    "strength",
    "selective",
    "truth",
    "probing",
)
PLAYED = ("others", "weights", "strength", "selective", "probing")
RESULTS = Path(__file__).with_name("RESULTS.md")


def main() -> None:
    """Each part in turn."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}")
    parser.add_argument(
        "--pairs",
        type=int,
        default=0,
        help="pairs of each contest of others, weights, strength, selective and probing",
    )
    given = parser.parse_args()
    again = f" --pairs {given.pairs}" if given.pairs else ""
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    for name in given.parts or PARTS:
        with measured_on(f"python -m benchmarks {name}{again if name in PLAYED else ''}") as note:
            run = importlib.import_module(f"benchmarks.engine.{name}").run
            section = run(pairs=given.pairs) if name in PLAYED else run()
        text = f"{section.markdown()}\n\n{note()}"
        print(text, "\n", flush=True)
        sections = read_sections(RESULTS) | {name: text}
        RESULTS.write_text(whole_text(sections, PARTS, HEAD.format(machine=machine())), encoding="utf-8")


if __name__ == "__main__":
    main()
