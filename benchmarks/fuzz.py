"""A fuzzer over the codec and over live sockets: no crash, no leak, and no match beside it disturbed.

    python -m benchmarks.fuzz --frames 1000000

One in `--live-share` of the frames also goes over a socket to a real host, where two honest bots play beside.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys

from benchmarks.kit.faults import report
from benchmarks.kit.measure import Section
from benchmarks.kit.results import claim, measured_on, write_server
from testkit.fuzz import Outcome, fuzz


def main() -> int:
    """Run it and print what came of it; 1 for any fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--live-share", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)  # a line for every frame that was refused says nothing
    command = f"python -m benchmarks.fuzz --frames {given.frames} --seed {given.seed}"
    with measured_on(command) as note:
        outcome = asyncio.run(fuzz(given.frames, live_share=given.live_share, seed=given.seed))
    text = f"{section(outcome).markdown()}\n\n{note()}"
    print(text)
    if given.frames >= 1_000_000:
        write_server("fuzz", text)
    return report(outcome.faults)


def section(outcome: Outcome) -> Section:
    """What is written to the results."""
    refused = ", ".join(f"{code} {count:,}" for code, count in outcome.refused.most_common())
    ends = ", ".join(f"{reason} {count:,}" for reason, count in outcome.beside.most_common())
    rows = [
        ["frames, each decoded as a client's and as a server's", f"{outcome.frames:,}"],
        ["of them also sent over sockets to a server", f"{outcome.live:,}"],
        ["were messages", f"{outcome.decoded:,}"],
        ["were refused", refused],
        ["matches that honest bots played beside", f"{outcome.beside.total():,} ({ends})"],
        ["peak memory after a tenth of the frames, and after all", _memory(outcome)],
        ["faults", str(len(outcome.faults))],
    ]
    return Section(
        "Random and mutated frames",
        "Random bytes, random msgpack, and known frames that are cut, flipped, spliced and nested. A crash, a match beside "
        "that is lost, a session that is kept, or memory that grows is a fault.",
        ["", ""],
        rows,
        claims=[claim("frames of a fuzzer without a fault", "1,000,000", _found(outcome))],
    )


def _memory(outcome: Outcome) -> str:
    return f"{outcome.warm_kib / 1024:.0f} MiB, {outcome.peak_kib / 1024:.0f} MiB"


def _found(outcome: Outcome) -> str:
    return f"{len(outcome.faults)} faults in {outcome.frames:,}"


if __name__ == "__main__":
    sys.exit(main())
