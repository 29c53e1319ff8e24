"""The games that have kernels, and the evaluators by name.

A game of somebody's own brings its kernel with it, as `Game.compiled` returns it. It is kept compiled as those of the
project are. What the project's folder of compiled kernels is named by does not know its sources, so the kernel's own
name carries a digest of the files that its functions stand in.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from arena.bots.compiled import riskless_kernel, tictactoe_kernel
from arena.bots.compiled.kernel import Compiled, Kernel, Weights
from arena.bots.compiled.limits import has_own_kernel
from arena.bots.evaluators import riskless, tictactoe
from arena.bots.evaluators.catalogue import on_its_map
from arena.bots.evaluators.weights import FOLDER, load_weights
from arena.games.core import BadGame, Game
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe

MOST_MOVES = 1 << 16
"""Moves that a game may have for a kernel: a table of ordering has a place for each."""
MOST_WORDS = 64
"""Words of a position, at the most."""


def compile_game(game: Game[Any, Any], weights: Weights) -> Compiled | None:
    """The game for the kernels; None when it has none, or is too large for them. Raises BadGame for a wrong kernel."""
    if isinstance(game, Riskless):
        return riskless_kernel.compile_game(game, weights)
    if isinstance(game, TicTacToe):
        return tictactoe_kernel.compile_game(game, weights)
    return _own_kernel(game) if has_own_kernel(game) else None


def weights_for(game: Game[Any, Any], evaluator: str) -> Weights:
    """The weights that make the kernel's estimate that of `bots.evaluators.catalogue.evaluator_for`.

    Raises BadWeights.
    """
    if not isinstance(game, Riskless | TicTacToe):
        return {}  # a kernel of somebody's own has the game's estimate in it
    names = riskless.NAMES if isinstance(game, Riskless) else tictactoe.NAMES
    if evaluator == "plain":
        # the first feature of each game is its own estimate
        return {name: 100 if i == 0 else 0 for i, name in enumerate(names)}
    path = FOLDER / f"{game.name}.toml" if evaluator == "features" else Path(evaluator)
    return on_its_map(game, load_weights(path, names))


def _own_kernel(game: Game[Any, Any]) -> Compiled | None:
    """What `game.compiled()` returns, its kernel under a name that its sources are a part of. Raises BadGame."""
    compiled = game.compiled()
    if compiled is None:
        return None
    if not isinstance(compiled, Compiled):
        raise BadGame(
            f"{game.name}: compiled() returns {compiled!r:.60}: it must be a Compiled (docs/games.md), or None"
        )
    kernel = compiled.kernel
    if not 1 <= kernel.key_words <= kernel.words <= MOST_WORDS or not 1 <= compiled.moves <= MOST_MOVES:
        raise BadGame(
            f"{game.name}: a kernel has 1 to {MOST_WORDS} words, as many of them as key or fewer, and 1 to {MOST_MOVES} moves"
        )
    return replace(compiled, kernel=_named(kernel))


@cache
def _named(kernel: Kernel) -> Kernel:
    files = {
        function.__code__.co_filename
        for function in (kernel.moves, kernel.play, kernel.status, kernel.estimate, kernel.promise)
    }
    whole = sha256()
    for file in sorted(files):
        whole.update(Path(file).read_bytes())
    return replace(kernel, name=f"own-{kernel.name}-{whole.hexdigest()[:16]}")
