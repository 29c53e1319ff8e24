"""Lookup of a game's kernel (its compiled functions), and of an evaluator's weights by the evaluator's name.

A user-defined game returns its own kernel from `Game.compiled`. The compiled code of this kernel is cached, too. The kernel's
name in the cache includes a digest (hash) of the files that define its functions, so the kernel is compiled again if one of
these files changes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from arena.bots.compiled import riskless_kernel, tictactoe_kernel
from arena.bots.compiled.availability import has_custom_kernel
from arena.bots.compiled.kernel import CompiledGame, FeatureWeights, Kernel
from arena.bots.evaluators import riskless, tictactoe
from arena.bots.evaluators.catalogue import NETWORK_FILE_SUFFIX, load_scaled_weights
from arena.bots.evaluators.network import EvaluatorNetwork, load_network
from arena.games.core import BadGame, Game
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe

MAX_CUSTOM_KERNEL_MOVES = 1 << 16
"""Maximum number of different moves of a game with a user-defined kernel (compiled functions): a move's number has 16 bits."""
MAX_CUSTOM_KERNEL_POSITION_WORDS = 64
"""Maximum size of a position for a user-defined kernel (compiled functions of a game), in 64-bit words."""


def compile_game(game: Game[Any, Any], weights: FeatureWeights | EvaluatorNetwork) -> CompiledGame | None:
    """Return the game in the form that its kernel (compiled functions) reads; None if it has no kernel or its map is too large.

    A subclass of a built-in game needs its own kernel, because its rules may differ. Raises BadGame for an invalid
    user-defined kernel.
    """
    if type(game) is Riskless:
        return riskless_kernel.compile_game(game, weights)
    if type(game) is TicTacToe and not isinstance(weights, EvaluatorNetwork):
        return tictactoe_kernel.compile_game(game, weights)
    return _compile_custom_game(game) if has_custom_kernel(game) else None


def weights_for(game: Game[Any, Any], evaluator: str) -> FeatureWeights | EvaluatorNetwork:
    """Return the weights, or network, with which the game's compiled functions give the same estimates as an evaluator.

    evaluator  name for `bots.evaluators.catalogue.evaluator_for`, or path of a file: a network if it ends in .npz, else weights

    A user-defined game has no weights (an empty mapping), because its kernel contains its own estimate. Raises
    BadWeights if the file is missing or invalid.
    """
    if not (type(game) is Riskless or type(game) is TicTacToe):
        return {}  # a user-defined kernel contains the game's estimate
    if evaluator.endswith(NETWORK_FILE_SUFFIX):
        return load_network(Path(evaluator))
    names = riskless.FEATURE_NAMES if isinstance(game, Riskless) else tictactoe.FEATURE_NAMES
    if evaluator == "plain":
        # The first feature of each game is the game's own estimate.
        return {name: 100 if i == 0 else 0 for i, name in enumerate(names)}
    return load_scaled_weights(game, evaluator, names)


def _compile_custom_game(game: Game[Any, Any]) -> CompiledGame | None:
    """Return `game.compiled()`, with a digest of its sources in the name of the compiled functions; None if there are none.

    Raises BadGame if the kernel is invalid.
    """
    compiled = game.compiled()
    if compiled is None:
        return None
    if not isinstance(compiled, CompiledGame):
        raise BadGame(
            f"{game.name}: compiled() must return a CompiledGame (docs/games.md) or None, not {compiled!r:.60}"
        )
    kernel = compiled.kernel
    for field_name, value, maximum in (
        ("kernel.words, the length of a position,", kernel.words, MAX_CUSTOM_KERNEL_POSITION_WORDS),
        ("kernel.key_word_count, the length of a position's key,", kernel.key_word_count, kernel.words),
        ("move_count, the number of different moves,", compiled.move_count, MAX_CUSTOM_KERNEL_MOVES),
    ):
        if not 1 <= value <= maximum:
            raise BadGame(f"{game.name}: {field_name} must be 1 to {maximum}, not {value}")
    return replace(compiled, kernel=_add_sources_digest_to_name(kernel))


@cache
def _add_sources_digest_to_name(kernel: Kernel) -> Kernel:
    files = {
        function.__code__.co_filename
        for function in (kernel.moves, kernel.play, kernel.status, kernel.estimate, kernel.score_move)
    }
    digest = sha256()
    for file in sorted(files):
        digest.update(Path(file).read_bytes())
    return replace(kernel, name=f"own-{kernel.name}-{digest.hexdigest()[:16]}")
