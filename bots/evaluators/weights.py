"""Weights of evaluators as TOML files: one table `[weights]`, a whole number for each feature.

This is the edge: it reads files, and hands plain mappings to the evaluators.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from arena.bots.evaluators.linear import Weights

FOLDER = Path(__file__).parent / "weights"
"""The weights that come with the project, one file a game."""

LIMIT = 1_000_000


class BadWeights(ValueError):
    """A weights file that cannot be used: says file, key and what would be right."""


def load_weights(path: Path, names: Sequence[str]) -> Weights:
    """The weights in the file, one for each of the names. Raises BadWeights."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadWeights(f"cannot read weights {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadWeights(f"{path}: not TOML: {error}") from None
    weights = data.get("weights")
    if not isinstance(weights, dict):
        raise BadWeights(f"{path}: there must be a table [weights] with {', '.join(names)}")
    for name in weights:
        if name not in names:
            raise BadWeights(f"{path}: weights.{name}: no such feature: there are {', '.join(names)}")
    for name in names:
        weight = weights.get(name)
        if isinstance(weight, bool) or not isinstance(weight, int) or abs(weight) > LIMIT:
            raise BadWeights(
                f"{path}: weights.{name} must be a whole number up to ±{LIMIT} "
                f"(hundredths of an army for each unit), not {weight!r:.40}"
            )
    return {name: weights[name] for name in names}
