"""Test of a single kernel in `make test`. The test imports numba itself, so only the worker that runs it spends two seconds on that."""

from __future__ import annotations

import random

import pytest

from arena.games.riskless import Riskless


@pytest.mark.smoke
def test_the_networks_kernel_agrees_with_the_python_rules() -> None:
    from tests.bots.compiled.positions import make_random_map, make_random_position  # noqa: PLC0415
    from tests.bots.compiled.test_riskless_network import check  # noqa: PLC0415

    rng = random.Random(2)
    for seed in range(50):
        game = Riskless(make_random_map(rng, 12, (1, 2, 7, 10, 15)))
        check(game, make_random_position(game, rng), seed)
