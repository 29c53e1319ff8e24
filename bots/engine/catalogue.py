"""The games that have kernels."""

from __future__ import annotations

from typing import Any

from bots.engine import riskless_kernel, tictactoe_kernel
from bots.engine.kernel import Compiled, Weights
from games.core import Game
from games.riskless import Riskless
from games.tictactoe import TicTacToe


def compile_game(game: Game[Any, Any], weights: Weights) -> Compiled | None:
    """The game for the kernels; None when it has none, or is too large for them.

    `weights` are of the features of `bots.evaluators`.
    """
    if isinstance(game, Riskless):
        return riskless_kernel.compile_game(game, weights)
    if isinstance(game, TicTacToe):
        return tictactoe_kernel.compile_game(game, weights)
    return None


def plain_weights(game: Game[Any, Any]) -> Weights:
    """The weights that make the features into the game's own estimate, in hundredths."""
    features = riskless_kernel.FEATURES if isinstance(game, Riskless) else tictactoe_kernel.FEATURES
    return {name: 100 if i == 0 else 0 for i, name in enumerate(features)}
