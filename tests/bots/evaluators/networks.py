"""Networks of random weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from arena.bots.evaluators.network import SHAPES, Network


def some_network(seed: int) -> Network:
    """Return weights of any sign, small or large as a whole."""
    dice = np.random.default_rng(seed)
    return Network(
        **{name: dice.normal(size=shape) * 10 ** dice.uniform(-2, 2) for name, shape in SHAPES.items()}
    )


def file_of(network: Network, path: Path) -> Path:
    """Write a network to a file as training does."""
    np.savez(path, hidden=network.hidden.astype(np.float32), output=network.output.astype(np.float32))
    return path
