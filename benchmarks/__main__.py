"""Run the benchmarks and write RESULTS.md: `python -m benchmarks [NAME …]`; without names, all.

Each part's section is written as soon as it is measured, with the date and the machine's load, in the place of
the one before; so a part can be measured again by itself.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.kit.kept import Unfinished
from benchmarks.kit.measure import machine
from benchmarks.kit.results import HEAD, measured_on, read_sections, whole_text

PARTS = (
    "native",
    "costs",
    "peers",
    "others",
    "devices",
    "depth",
    "threads",
    "doubling",
    "scheduler",
    "delay",
    "start",
    "weights",
    "strength",
    "earlier",
    "selective",
    "truth",
    "probing",
)
OPTIONS: Mapping[str, Sequence[str]] = {
    "others": ("pairs",),
    "threads": ("threads", "raw", "seconds"),
    "doubling": ("pairs", "processes", "threads", "raw", "seconds"),
    "weights": ("pairs", "processes", "raw", "seconds"),
    "strength": ("pairs",),
    "earlier": ("checkout", "pairs", "raw", "seconds"),
    "selective": ("pairs", "processes", "raw", "seconds"),
    "probing": ("pairs",),
}
"""What a part takes of the options."""
KEEPING = ("raw", "seconds")
"""Options that say in how many pieces a part is measured, not what."""
PLACES = ("checkout",)
"""Options that name a place on this machine."""
RESULTS = Path(__file__).with_name("RESULTS.md")


def main() -> None:
    """Each part in turn."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}")
    takers = {
        option: [name for name in PARTS if option in OPTIONS.get(name, ())]
        for option in ("pairs", "processes", "raw")
    }
    parser.add_argument("--pairs", type=int, help=f"pairs of each contest of {', '.join(takers['pairs'])}")
    parser.add_argument(
        "--processes",
        type=int,
        help=f"matches at once of {', '.join(takers['processes'])}; one for each core, unless it is given",
    )
    parser.add_argument("--threads", type=counts, help="of threads, as in 1,2,4,8,16; 1,2 unless it is given")
    parser.add_argument(
        "--raw",
        type=Path,
        metavar="FILE",
        help=f"where {', '.join(takers['raw'])} keep what they have measured",
    )
    parser.add_argument(
        "--seconds", type=float, help="with --raw: begin nothing more after so long; the next run goes on"
    )
    parser.add_argument(
        "--checkout",
        type=Path,
        action="append",
        help="of an earlier state of the repository, for `earlier`, which is left out without; several times for several",
    )
    given = parser.parse_args()
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    if given.checkout is None and "earlier" in given.parts:
        parser.error("earlier needs --checkout, another state of the repository")
    for name in given.parts or [name for name in PARTS if given.checkout or name != "earlier"]:
        options = {option: getattr(given, option) for option in OPTIONS.get(name, ())}
        options = {option: value for option, value in options.items() if value is not None}
        again = "".join(
            f" --{option} {option.upper()}" * len(value)
            if option in PLACES
            else f" --{option} {written(value)}"
            for option, value in options.items()
            if option not in KEEPING
        )
        with measured_on(f"python -m benchmarks {name}{again}") as note:
            try:
                section = importlib.import_module(f"benchmarks.engine.{name}").run(**options)
            except Unfinished as error:
                sys.exit(f"{name}: {error}")
        text = f"{section.markdown()}\n\n{note()} {machine()}."
        print(text, "\n", flush=True)
        sections = read_sections(RESULTS) | {name: text}
        RESULTS.write_text(whole_text(sections, PARTS, HEAD), encoding="utf-8")


def counts(text: str) -> tuple[int, ...]:
    """Numbers of threads with commas between, the least first."""
    numbers = sorted({int(word) for word in text.split(",")})
    if numbers[0] < 1:
        raise argparse.ArgumentTypeError("a search has at least 1 thread")
    return tuple(numbers)


def written(value: object) -> str:
    """As it was given."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


if __name__ == "__main__":
    main()
