from __future__ import annotations

import random
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from testkit.tools import skip_without

skip_without("numba")

import numpy as np  # noqa: E402

from arena.bots.api.engine_spec import BadSpec  # noqa: E402
from arena.bots.evaluators.catalogue import evaluator_for  # noqa: E402
from arena.bots.evaluators.linear import BadWeights  # noqa: E402
from arena.bots.evaluators.network import (  # noqa: E402
    ARMY_LEVEL_COUNT,
    FIRST_INPUT_OF_OTHER_ARMIES,
    FIRST_INPUT_OF_OWN_ARMIES,
    NETWORK_ARRAY_SHAPES,
    NETWORK_INPUT_COUNT,
    TERRITORY_KIND_COUNT,
    TOTAL_ARMIES_STEP_COUNT,
    encode_network_inputs,
    load_network,
    make_network_evaluator,
)
from arena.games.riskless import Riskless  # noqa: E402
from arena.games.tictactoe import TicTacToe  # noqa: E402
from arena.maps.loader import load_map  # noqa: E402
from tests.bots.compiled.positions import make_random_map, make_random_position  # noqa: E402
from tests.bots.evaluators.networks import make_random_network, save_network  # noqa: E402

CAPS = (1, 2, 7, 10, 15, 40, 255)


def add_share(inputs: list[float], first: int, steps: int, value: float, share: float) -> None:
    """Add `share` to the inputs of the two steps next to `value`, split between them. `first` is the input of step 0."""
    for step in range(steps):
        inputs[first + step] += share * max(0.0, 1 - abs(value - step))


def compute_inputs(game: Riskless, seen: list[int]) -> list[float]:
    """Return the network's inputs, computed one by one as the module's docstring defines them.

    seen  armies of each territory, positive for the player to move
    """
    found, map = [0.0] * NETWORK_INPUT_COUNT, game.map
    levels = [ARMY_LEVEL_COUNT * n / map.territory_cap for n in seen]
    kinds = [ARMY_LEVEL_COUNT + (1 if n > 0 else -1) * ceil(round(abs(n), 6)) for n in levels]
    ends = [(v, w) for v, near in enumerate(map.neighbours) for w in near]
    for level in levels:
        add_share(found, 0, TERRITORY_KIND_COUNT, ARMY_LEVEL_COUNT + level, 1 / map.territory_count)
    for v, w in ends:
        found[TERRITORY_KIND_COUNT + TERRITORY_KIND_COUNT * kinds[v] + kinds[w]] += 1 / len(ends)
    for first, sign in ((FIRST_INPUT_OF_OWN_ARMIES, 1), (FIRST_INPUT_OF_OTHER_ARMIES, -1)):
        total = sum(sign * n for n in seen if sign * n > 0)
        add_share(
            found,
            first,
            TOTAL_ARMIES_STEP_COUNT + 1,
            TOTAL_ARMIES_STEP_COUNT * min(1, total / map.armies_to_win),
            1,
        )
    return found


def test_inputs_and_estimates_are_as_defined() -> None:
    rng = random.Random(1)
    for seed in range(200):
        game = Riskless(make_random_map(rng, 12, CAPS))
        position = make_random_position(game, rng)
        seen = [position.player.sign * n for n in position.armies]
        inputs = encode_network_inputs(game.map, [seen, seen])
        assert inputs.shape == (2, NETWORK_INPUT_COUNT)
        assert inputs.dtype == np.float32
        np.testing.assert_allclose(inputs, [compute_inputs(game, seen)] * 2, atol=1e-6)
        network = make_random_network(seed)
        odds = float(np.maximum(inputs[0] @ network.hidden, 0) @ network.output)
        # the rounding to integers changes the estimate by up to a few thousandths of its largest possible value
        most = np.abs(network.hidden).max() * np.abs(network.output).sum()
        estimate = position.player.sign * make_network_evaluator(game, network)(position)
        wanted = max(-900_000.0, min(900_000.0, 100 * odds * game.map.armies_to_win / 16))
        assert abs(estimate - wanted) <= 0.02 * most * 100 * game.map.armies_to_win / 16 + 1


def test_a_file_is_an_evaluator(tmp_path: Path) -> None:
    network = make_random_network(1)
    name = str(save_network(network, tmp_path / "net.npz"))
    game = Riskless(load_map("m2"))
    kept = load_network(Path(name))
    np.testing.assert_allclose(kept.hidden, network.hidden, rtol=1e-6)
    assert evaluator_for(game, name)(game.start()) == make_network_evaluator(game, kept)(game.start())
    with pytest.raises(BadSpec, match="network evaluators support only riskless, not tictactoe"):
        evaluator_for(TicTacToe(), name)


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({}, r"array hidden must have shape \(700, 16\) and only finite numbers, but it is missing"),
        (
            {"hidden": (700, 16)},
            r"array output must have shape \(16,\) and only finite numbers, but it is missing",
        ),
        ({"hidden": (3, 4), "output": (16,)}, r"but it has shape \(3, 4\)"),
        (None, "not a file of NumPy arrays"),
        ("nowhere", "cannot read the network .*: No such file"),
    ],
    ids=["empty", "half", "shape", "text", "nowhere"],
)
def test_bad_files(tmp_path: Path, arrays: dict[str, tuple[int, ...]] | str | None, why: str) -> None:
    path = tmp_path / "net.npz"
    if arrays is None:
        path.write_text("weights", encoding="utf-8")
    elif isinstance(arrays, dict):
        zeros: dict[str, Any] = {name: np.zeros(shape) for name, shape in arrays.items()}
        np.savez(path, **zeros)
    with pytest.raises(BadWeights, match=why):
        load_network(path)


def test_numbers_must_be_finite(tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    arrays: dict[str, Any] = {name: np.full(shape, np.nan) for name, shape in NETWORK_ARRAY_SHAPES.items()}
    np.savez(path, **arrays)
    with pytest.raises(BadWeights, match=r"array hidden must .*, but it contains NaN or infinity"):
        load_network(path)
