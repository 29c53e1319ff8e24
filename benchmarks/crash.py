"""Repeatedly kill a server at random moments, and count the losses, of which there must be none.

python -m benchmarks.crash --kills 100 --matches 50
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.kit.faults import print_faults
from testkit.crash import kill_repeatedly


def main() -> int:
    """Kill the server repeatedly and print the results. Return 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--matches", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    random.seed(arguments.seed or None)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="arena-crash-") as folder:
        # Short matches begin and end all the time.
        options = ("--game", "tictactoe")
        outcome = asyncio.run(
            kill_repeatedly(arguments.kills, arguments.matches, folder=Path(folder), options=options)
        )
    print(
        f"{outcome.kills} kills in {time.monotonic() - began:.0f} s: {outcome.matches} matches, "
        f"{outcome.interrupted} of them in progress at a kill, {outcome.acknowledged} acknowledged moves"
    )
    print("ended by", ", ".join(f"{reason} {count}" for reason, count in outcome.reasons.most_common()))
    return print_faults(outcome.faults)


if __name__ == "__main__":
    sys.exit(main())
