"""The games that have kernels, and the evaluators by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bots.compiled import riskless_kernel, tictactoe_kernel
from bots.compiled.kernel import Compiled, Weights
from bots.evaluators import riskless, tictactoe
from bots.evaluators.weights import FOLDER, load_weights
from games.core import Game
from games.riskless import Riskless
from games.tictactoe import TicTacToe


def compile_game(game: Game[Any, Any], weights: Weights) -> Compiled | None:
    """The game for the kernels; None when it has none, or is too large for them."""
    if isinstance(game, Riskless):
        return riskless_kernel.compile_game(game, weights)
    if isinstance(game, TicTacToe):
        return tictactoe_kernel.compile_game(game, weights)
    return None


def weights_for(game: Game[Any, Any], evaluator: str) -> Weights:
    """The weights that make the kernel's estimate that of `bots.evaluators.catalogue.evaluator_for`.

    Raises BadWeights.
    """
    names = riskless.NAMES if isinstance(game, Riskless) else tictactoe.NAMES
    if evaluator == "plain":
        # the first feature of each game is its own estimate
        return {name: 100 if i == 0 else 0 for i, name in enumerate(names)}
    path = FOLDER / f"{game.name}.toml" if evaluator == "features" else Path(evaluator)
    return load_weights(path, names)
