"""Networks with random weights, for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from arena.bots.evaluators.network import NETWORK_ARRAY_SHAPES, EvaluatorNetwork


def make_random_network(seed: int) -> EvaluatorNetwork:
    """Return a network with normally distributed weights. Each array has a random scale from 0.01 to 100."""
    rng = np.random.default_rng(seed)
    return EvaluatorNetwork(
        **{
            name: rng.normal(size=shape) * 10 ** rng.uniform(-2, 2)
            for name, shape in NETWORK_ARRAY_SHAPES.items()
        }
    )


def save_network(network: EvaluatorNetwork, path: Path) -> Path:
    """Write a network to `path`, in the format of a trained network, and return `path`."""
    np.savez(path, hidden=network.hidden.astype(np.float32), output=network.output.astype(np.float32))
    return path
