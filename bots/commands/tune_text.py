"""What `arena tune` tells of a fit and of a climb, and the weights file that it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe

if TYPE_CHECKING:
    from arena.bots.compiled.learning.climb import Climb
    from arena.bots.compiled.learning.tune import Fit


def describe(generation: int, fit: Fit) -> str:
    """One line on a generation: the games, the losses, the weights."""
    return (
        f"generation {generation}: {fit.matches} matches, {fit.samples:,} positions; loss in bits "
        f"{fit.before:.3f} -> {fit.after:.3f}, held out {fit.held_out_before:.3f} -> "
        f"{fit.held_out_after:.3f}; {listed(fit.weights)}"
    )


def listed(weights: Mapping[str, int]) -> str:
    """Weights on one line."""
    return ", ".join(f"{name} {value}" for name, value in weights.items())


def fit_data(fit: Fit) -> dict[str, object]:
    """A generation as plain data."""
    return {
        "weights": dict(fit.weights),
        "matches": fit.matches,
        "samples": fit.samples,
        "loss": fit.after,
        "loss_before": fit.before,
        "held_out_loss": fit.held_out_after,
        "held_out_loss_before": fit.held_out_before,
    }


def climbed_stages(climbed: Climb) -> list[str]:
    """A line for each tenth of the rounds: where the weights stood."""
    parts = len(climbed.stages)
    return [
        f"climb, round {climbed.rounds * number // parts}: {listed(stage)}"
        for number, stage in enumerate(climbed.stages, 1)
    ]


def told(climbed: Climb) -> str:
    """What came of the climb, on one line."""
    return (
        f"climb: {climbed.rounds} rounds, {climbed.pairs:,} pairs; mean of the second half: "
        f"{listed(climbed.weights)}"
    )


UNITS = {
    Riskless.name: "Hundredths of an army for each unit of a feature; bots/evaluators/riskless.py says what they count, and how "
    "they are made to fit a map.",
    TicTacToe.name: "Hundredths of an open line; bots/evaluators/tictactoe.py says what the features count.",
}


def weights_text(names: Sequence[str], weights: Mapping[str, int], told: Sequence[str], game: str) -> str:
    """The weights file: the weights, and above them how they were made."""
    lines = [UNITS[game], *told]
    return "\n".join(
        [*(f"# {line}" for line in lines), "[weights]", *(f"{name} = {weights[name]}" for name in names), ""]
    )
