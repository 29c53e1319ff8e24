"""CPU time to pair each round of a large Swiss event, with 200 bots.

Each event plays nine rounds with random results. The exit code is 1 if the pairing of a round takes a second or more.

Example: python -m benchmarks.pairing
"""

from __future__ import annotations

import random
import statistics
import sys
import time

from arena.rating.formats import SwissFormat
from benchmarks.kit.measure import format_short
from benchmarks.kit.results import print_faults

BOTS, ROUNDS, EVENTS = 200, 9, 20
"""Number of bots and of rounds in each event, and number of events."""
MAX_PAIRING_SECONDS = 1.0
"""Promised upper bound of the CPU time to pair a round, in seconds."""


def measure_pairing_seconds(rng: random.Random) -> list[float]:
    """Play a Swiss event with random results. Return the CPU time of the pairing of each round, in seconds."""
    event = SwissFormat([f"bot {number:03}" for number in range(BOTS)], ROUNDS, start_count=1)
    seconds = []
    for _ in range(ROUNDS):
        start_time = time.process_time()
        pairs = event.make_next_pairs(is_queue_empty=True)
        seconds.append(time.process_time() - start_time)
        for pair in pairs:
            points = rng.choice((0.0, 0.5, 1.0, 1.5, 2.0))
            event.record_pair(pair, points, 2 - points)
    return seconds


def main() -> int:
    """Play all events, and print the median and the longest time of a round's pairing.

    Return the exit code: 1 if the pairing of a round took MAX_PAIRING_SECONDS or more.
    """
    rounds = [seconds for seed in range(EVENTS) for seconds in measure_pairing_seconds(random.Random(seed))]
    print(
        f"{EVENTS} events of {BOTS} bots, {ROUNDS} rounds each: pairing a round takes "
        f"{format_short(1000 * statistics.median(rounds))} ms of CPU in the median, {format_short(1000 * max(rounds))} ms at most"
    )
    return print_faults(
        [f"a round took {seconds:.2f} s" for seconds in rounds if seconds >= MAX_PAIRING_SECONDS]
    )


if __name__ == "__main__":
    sys.exit(main())
