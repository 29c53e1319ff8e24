"""Run the benchmarks and write RESULTS.md: `python -m benchmarks [NAME …]`; without names, all.

Each part's section is written as soon as it is measured, with the date and the machine's load, in the place of
the one before; so a part can be measured again by itself.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping, Sequence
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
OPTIONS: Mapping[str, Sequence[str]] = {
    "others": ("pairs",),
    "threads": ("pairs", "threads"),
    "weights": ("pairs", "processes"),
    "strength": ("pairs",),
    "selective": ("pairs", "processes"),
    "probing": ("pairs",),
}
"""What a part takes of the options."""
RESULTS = Path(__file__).with_name("RESULTS.md")


def main() -> None:
    """Each part in turn."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}")
    takers = {
        option: [name for name in PARTS if option in OPTIONS.get(name, ())]
        for option in ("pairs", "processes")
    }
    parser.add_argument("--pairs", type=int, help=f"pairs of each contest of {', '.join(takers['pairs'])}")
    parser.add_argument(
        "--processes",
        type=int,
        help=f"matches at once of {', '.join(takers['processes'])}; one for each core, unless it is given",
    )
    parser.add_argument("--threads", type=counts, help="of threads, as in 1,2,4,8,16; 1,2 unless it is given")
    given = parser.parse_args()
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    for name in given.parts or PARTS:
        options = {option: getattr(given, option) for option in OPTIONS.get(name, ())}
        options = {option: value for option, value in options.items() if value is not None}
        again = "".join(f" --{option} {written(value)}" for option, value in options.items())
        with measured_on(f"python -m benchmarks {name}{again}") as note:
            section = importlib.import_module(f"benchmarks.engine.{name}").run(**options)
        text = f"{section.markdown()}\n\n{note()}"
        print(text, "\n", flush=True)
        sections = read_sections(RESULTS) | {name: text}
        RESULTS.write_text(whole_text(sections, PARTS, HEAD.format(machine=machine())), encoding="utf-8")


def counts(text: str) -> tuple[int, ...]:
    """Numbers of threads with commas between, the least first."""
    numbers = sorted({int(word) for word in text.split(",")})
    if numbers[0] < 1:
        raise argparse.ArgumentTypeError("a search has at least 1 thread")
    return tuple(numbers)


def written(value: int | tuple[int, ...]) -> str:
    """As it was given."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


if __name__ == "__main__":
    main()
