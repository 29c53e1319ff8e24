"""What the learned weights win against the plain army difference at equal time."""

from __future__ import annotations

from benchmarks.engine import strength
from benchmarks.engine.strength import Contest
from benchmarks.kit.measure import Section

PROMISED = "at least +50, and more than its 95 % error"
CONTESTS = tuple(
    Contest("features against plain", map, 0.003, 150, {}, {"evaluator": "plain"}, promised=PROMISED)
    for map in ("m2", "world")
)


def run(pairs: int = 0) -> Section:
    """On both maps, with so many pairs each if it is not 0."""
    title = "Learned weights against the plain army difference"
    return strength.run(pairs, CONTESTS, title, f"{strength.NOTE} `--pairs N` narrows the error.")
