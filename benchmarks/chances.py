"""How a bot's value becomes a chance of winning on the page: the curve is fitted to matches that were played.

The chance that Maxie wins, a draw counted as half, is 1 / (1 + exp(-k v / G)): v is the value in armies, G the armies that win
on the map. k is the one number that is fitted, by the greatest likelihood over all values that the players said; its error
comes from matches drawn again with replacement, for the values of one match hang together.

Example: arena match alphabeta alphabeta --map italy --rounds 30 --tc 0.01/move --openings 6 --record italy.jsonl
         python -m benchmarks.chances italy.jsonl
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import stdev

from arena.protocol.record import Record, from_line

WON = 990_000
"""From here on a value says who wins, and is no estimate."""
STEPS = 50
"""Of Newton's method, at the most; five or six are enough."""
AGAIN = 40
"""How often matches are drawn again."""
BANDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Said:
    """The values of one match, as parts of the armies that win, and what Maxie scored: 1, ½ or 0."""

    shares: tuple[float, ...]
    score: float


def main() -> None:
    """Print k with its error, and what was said against what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, help="records of matches of Riskless, one JSON a line")
    files = parser.parse_args().files
    matches = [
        found
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if (found := said(from_line(line)))
    ]
    k = fit(matches)
    print(f"{len(matches)} matches, {sum(len(each.shares) for each in matches)} values")
    print(f"k = {k:.1f} ± {1.96 * error(matches):.1f} (95 %)")
    print(f"log loss {loss(matches, k):.3f} a value; {log(2):.3f} without any knowledge")
    print("told      came    values")
    for low, high, told, came, count in bands(matches, k):
        print(f"{low:.0%}-{high:.0%}: {told:6.1%}  {came:6.1%}  {count}")


def said(record: Record) -> Said | None:
    """What the players said of a match on a map with a goal; None where that is nothing, or nobody decided it by playing."""
    goal = record.setup.get("armies_to_win")
    if not isinstance(goal, int) or record.result.reason.value in (
        "server_fault",
        "timeout",
        "disconnect",
        "no_show",
    ):
        return None
    values = [
        move.thinking.value for move in record.moves if move.thinking and move.thinking.value is not None
    ]
    shares = tuple(value / 100 / goal for value in values if abs(value) < WON)
    score = {"maxie": 1.0, "minnie": 0.0, None: 0.5}[record.result.winner]
    return Said(shares, score) if shares else None


def chance(share: float, k: float) -> float:
    """The chance of a value that is such a part of the armies that win."""
    return 1 / (1 + exp(-max(-500.0, min(500.0, k * share))))


def fit(matches: Sequence[Said]) -> float:
    """The k of the greatest likelihood, by Newton's method. O(values) a step. Raises ValueError where there is none."""
    k = 0.0
    for _ in range(STEPS):
        slope = curve = 0.0
        for match in matches:
            for share in match.shares:
                told = chance(share, k)
                slope += share * (match.score - told)
                curve += share * share * told * (1 - told)
        if curve <= 0:
            break
        k += slope / curve
        if abs(slope / curve) < 1e-9 * max(1.0, abs(k)):
            return k
    raise ValueError("no curve fits: who wins must differ, and not follow from the values without a fault")


def error(matches: Sequence[Said], seed: int = 1) -> float:
    """The standard error of k, by matches drawn again."""
    chooser = random.Random(seed)
    return stdev(fit(chooser.choices(matches, k=len(matches))) for _ in range(AGAIN))


def loss(matches: Iterable[Said], k: float) -> float:
    """The mean of what each value costs by the logarithmic rule, in nats."""
    total = count = 0.0
    for match in matches:
        for share in match.shares:
            told = min(1 - 1e-12, max(1e-12, chance(share, k)))
            total -= match.score * log(told) + (1 - match.score) * log(1 - told)
            count += 1
    return total / count


def bands(matches: Sequence[Said], k: float) -> list[tuple[float, float, float, float, int]]:
    """For each tenth from 0 to 1: its ends, the mean chance told in it, the mean score, and how many values."""
    found = []
    told = [(chance(share, k), match.score) for match in matches for share in match.shares]
    for low, high in itertools.pairwise(BANDS):
        inside = [each for each in told if low <= each[0] < high or high == 1 == each[0]]
        if inside:
            mean = [sum(part) / len(inside) for part in zip(*inside, strict=True)]
            found.append((low, high, mean[0], mean[1], len(inside)))
    return found


if __name__ == "__main__":
    main()
