"""A small neural network as evaluator of Riskless: one file of weights for all maps (docs/learning.md).

The network's input is the position as seen by the player to move (the mover): NETWORK_INPUT_COUNT numbers
(`encode_network_inputs`). Armies are measured in steps, of which there are ARMY_LEVEL_COUNT up to the map's cap (the most
armies on a territory). So a territory has one of TERRITORY_KIND_COUNT kinds: empty, or a number of steps of one of the
players. A player whose total armies reach the map's goal wins. The inputs are four groups, here with the index of each group's
first input:

    0                            share of the territories of each kind; a number between two steps counts partly for both
    TERRITORY_KIND_COUNT         share of the roads, in both directions, for each pair of kinds at their ends; a number
                                 between two steps is rounded up
    FIRST_INPUT_OF_OWN_ARMIES    the mover's total armies, in TOTAL_ARMIES_STEP_COUNT steps up to the goal; 1 at the step
                                 reached, or two numbers with the sum 1 between two steps
    FIRST_INPUT_OF_OTHER_ARMIES  the opponent's total armies, in the same form

Shares do not depend on a map's size, and steps do not depend on its cap and goal, so one network serves all maps. A file has
two arrays of floating-point numbers, `hidden` of shape (NETWORK_INPUT_COUNT, HIDDEN_UNIT_COUNT) and `output` of shape
(HIDDEN_UNIT_COUNT,):

    log-odds that the mover wins = max(inputs @ hidden, 0) @ output

The log-odds are converted to hundredths of an army: 1 becomes GOAL_SHARE_PER_LOG_ODDS × the goal. For a given map, all
numbers are rounded to integers (`NetworkTables`), so that the compiled search and Python agree exactly.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.evaluators.linear import BadWeights
from arena.bots.search.problem import Evaluator
from arena.bots.search.search_values import clamp_estimate
from arena.games.graph import list_edges
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.riskless_map import RisklessMap, list_roads

ARMY_LEVEL_COUNT = 12
"""Number of equal steps in which a territory's armies are measured, from 0 to the map's cap (the maximum)."""
TERRITORY_KIND_COUNT = 2 * ARMY_LEVEL_COUNT + 1
"""Number of kinds of a territory: empty, or one for each player and step of armies."""
TOTAL_ARMIES_STEP_COUNT = 24
"""Number of steps from 0 to the goal (the armies that win a match) into which a player's total armies are divided."""
FIRST_INPUT_OF_OWN_ARMIES = TERRITORY_KIND_COUNT + TERRITORY_KIND_COUNT * TERRITORY_KIND_COUNT
"""Index of the first input of the network for the total armies of the player to move."""
FIRST_INPUT_OF_OTHER_ARMIES = FIRST_INPUT_OF_OWN_ARMIES + TOTAL_ARMIES_STEP_COUNT + 1
"""Index of the first input of the network for the opponent's total armies."""
NETWORK_INPUT_COUNT = FIRST_INPUT_OF_OTHER_ARMIES + TOTAL_ARMIES_STEP_COUNT + 1
"""Number of inputs of the network."""
HIDDEN_UNIT_COUNT = 16
"""Number of hidden units of the network."""
NETWORK_ARRAY_SHAPES = {"hidden": (NETWORK_INPUT_COUNT, HIDDEN_UNIT_COUNT), "output": (HIDDEN_UNIT_COUNT,)}
"""Shape of each array in a network file, by the array's name."""
GOAL_SHARE_PER_LOG_ODDS = 1 / 16
"""Value of a position whose log-odds of winning are 1 (a chance of 73 %), as a share of the armies that win a match."""
MAX_HIDDEN_UNIT_VALUE = 30_000
"""Maximum value of a hidden unit. It is below the maximum of a signed 16-bit integer, in which the value is stored."""
OUTPUT_WEIGHT_FRACTION_BITS = 20
"""Number of fractional bits of the integers in `NetworkTables.output_weights`."""

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class EvaluatorNetwork:
    """Arrays of a network file, with the shapes NETWORK_ARRAY_SHAPES: the weights of the hidden units, and of the output."""

    hidden: FloatArray
    output: FloatArray


def load_network(path: Path) -> EvaluatorNetwork:
    """Return the network in the file at `path`. Raises BadWeights if the file cannot be read or an array is invalid."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {
                name: np.asarray(file[name], float) for name in file.files if name in NETWORK_ARRAY_SHAPES
            }
    except OSError as error:
        raise BadWeights(f"cannot read the network {path}: {error.strerror or error}") from None
    except (ValueError, TypeError, AttributeError, zipfile.BadZipFile, EOFError):
        raise BadWeights(f"{path}: not a file of NumPy arrays (.npz)") from None
    for name, shape in NETWORK_ARRAY_SHAPES.items():
        array = arrays.get(name)
        if array is None or array.shape != shape or not np.isfinite(array).all():
            if array is None:
                problem = "is missing"
            elif array.shape != shape:
                problem = f"has shape {array.shape}"
            else:
                problem = "contains NaN or infinity"
            raise BadWeights(
                f"{path}: the array {name} must have shape {shape} and only finite numbers, but it {problem}"
            )
    return EvaluatorNetwork(**arrays)


def encode_network_inputs(map: RisklessMap, signed_armies: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return the network's inputs for n positions on `map`, with shape (n, NETWORK_INPUT_COUNT).

    `signed_armies` contains the armies of each position, with shape (n, map.territory_count): the player to move has positive
    numbers, the opponent negative ones.
    """
    armies = np.asarray(signed_armies, np.int64).reshape(-1, map.territory_count)
    count, cap, goal = len(armies), map.territory_cap, map.armies_to_win
    levels = armies * (ARMY_LEVEL_COUNT / cap)
    kinds = _compute_territory_kinds(levels)
    sources, targets = np.array(list_edges(map.neighbours)).T
    pairs = kinds[:, sources] * TERRITORY_KIND_COUNT + kinds[:, targets]
    parts = [
        _compute_row_histograms(levels + ARMY_LEVEL_COUNT, TERRITORY_KIND_COUNT),
        _compute_row_histograms(pairs, TERRITORY_KIND_COUNT * TERRITORY_KIND_COUNT),
    ]
    for sign in (1, -1):
        total = np.maximum(sign * armies, 0).sum(1, keepdims=True)
        parts.append(
            _compute_row_histograms(
                np.minimum(total * (TOTAL_ARMIES_STEP_COUNT / goal), TOTAL_ARMIES_STEP_COUNT),
                TOTAL_ARMIES_STEP_COUNT + 1,
            )
        )
    return np.asarray(np.concatenate(parts, 1).reshape(count, NETWORK_INPUT_COUNT), np.float32)


def _compute_territory_kinds(army_levels: FloatArray) -> IntArray:
    """Return the kind of each territory: ARMY_LEVEL_COUNT if empty, more for the player to move, less for the opponent.

    army_levels  armies of each territory × ARMY_LEVEL_COUNT / cap, negative for the opponent

    A level between two steps is rounded away from 0.
    """
    return ARMY_LEVEL_COUNT + (np.sign(army_levels) * np.ceil(np.abs(army_levels) - 1e-9)).astype(np.int64)


def _compute_row_histograms(values: FloatArray | IntArray, step_count: int) -> FloatArray:
    """Return a histogram of each row: the share of its values that lie at each step, with shape (rows, `step_count`).

    values  numbers from 0 to step_count - 1, with shape (rows, values per row)

    A value between two steps counts partly for each of them.
    """
    below = np.minimum(np.floor(values).astype(np.int64), step_count - 2)
    fractions = values - below
    cells = below + step_count * np.arange(len(values))[:, None]
    size = len(values) * step_count
    counts = np.bincount(cells.ravel(), (1 - fractions).ravel(), size) + np.bincount(
        cells.ravel() + 1, fractions.ravel(), size
    )
    return np.asarray(counts.reshape(len(values), step_count) / values.shape[1])


@dataclass(frozen=True)
class NetworkTables:
    """Network converted to integers for one map, so that compiled code and Python compute exactly the same values.

    The last axis of each array, except of `territory_kinds`, runs over the hidden units.
    """

    territory_contributions: IntArray
    """Contribution of a territory to the hidden units, indexed by owner (0: player to move, 1: opponent) and armies.

    The shape is (2, cap + 1, HIDDEN_UNIT_COUNT), where cap is the map's maximum number of armies on a territory.
    """
    territory_kinds: IntArray
    """Kind of a territory as an index of `road_contributions`, by owner (0: player to move, 1: opponent) and armies.

    The shape is (2, cap + 1), where cap is the map's maximum number of armies on a territory.
    """
    road_contributions: IntArray
    """Contribution of a road to the hidden units, indexed by the kinds of the territories at its ends, in either order.

    The shape is (TERRITORY_KIND_COUNT, TERRITORY_KIND_COUNT, HIDDEN_UNIT_COUNT).
    """
    total_armies_contributions: IntArray
    """Contribution of a player's total armies to the hidden units, indexed by player (0: to move, 1: opponent) and total.

    The shape is (2, goal + 1, HIDDEN_UNIT_COUNT), where goal is the number of armies that wins a match on the map.
    """
    output_weights: IntArray
    """Weight of each hidden unit, in hundredths of an army × 2 ** OUTPUT_WEIGHT_FRACTION_BITS; shape (HIDDEN_UNIT_COUNT,)."""

    @classmethod
    def from_network(cls, network: EvaluatorNetwork, map: RisklessMap) -> NetworkTables:
        """Return lookup tables computed from `network`, which serve all positions on `map`."""
        cap, goal, hidden = map.territory_cap, map.armies_to_win, network.hidden
        levels = np.arange(cap + 1) * (ARMY_LEVEL_COUNT / cap)
        road_end_count = sum(len(near) for near in map.neighbours)
        both_signs = np.stack([levels, -levels])
        territories = (
            np.stack(
                [
                    _compute_row_histograms(signs[:, None] + ARMY_LEVEL_COUNT, TERRITORY_KIND_COUNT)
                    for signs in both_signs
                ]
            )
            @ hidden[:TERRITORY_KIND_COUNT]
        )
        roads = hidden[TERRITORY_KIND_COUNT:FIRST_INPUT_OF_OWN_ARMIES].reshape(
            TERRITORY_KIND_COUNT, TERRITORY_KIND_COUNT, HIDDEN_UNIT_COUNT
        )
        roads = (roads + roads.transpose(1, 0, 2)) / 2
        steps = _compute_row_histograms(
            np.arange(goal + 1)[:, None] * (TOTAL_ARMIES_STEP_COUNT / goal), TOTAL_ARMIES_STEP_COUNT + 1
        )
        totals = np.stack(
            [
                steps @ hidden[FIRST_INPUT_OF_OWN_ARMIES:FIRST_INPUT_OF_OTHER_ARMIES],
                steps @ hidden[FIRST_INPUT_OF_OTHER_ARMIES:],
            ]
        )
        largest = np.abs(territories).max() + np.abs(roads).max() + 2 * np.abs(totals).max()
        # The subtraction leaves room for the sum of the rounding errors of all rows.
        scale = (MAX_HIDDEN_UNIT_VALUE - road_end_count - map.territory_count) / max(float(largest), 1e-9)
        value = 100 * goal * GOAL_SHARE_PER_LOG_ODDS / scale * 2**OUTPUT_WEIGHT_FRACTION_BITS
        return cls(
            np.rint(territories * (scale / map.territory_count)).astype(np.int64),
            _compute_territory_kinds(both_signs),
            np.rint(roads * (2 * scale / road_end_count)).astype(np.int64),
            np.rint(totals * scale).astype(np.int64),
            np.rint(np.clip(network.output * value, -(2**40), 2**40)).astype(np.int64),
        )


def make_network_evaluator(game: Riskless, network: EvaluatorNetwork) -> Evaluator[RisklessPosition]:
    """Return the evaluator that values positions on the game's map by `network`."""
    tables = NetworkTables.from_network(network, game.map)
    sources, targets = np.array(list_roads(game.map), np.int64).T

    def evaluate(position: RisklessPosition) -> int:
        sign = game.player(position).sign
        signed = sign * np.array(position.armies, np.int64)
        foe, armies = (signed < 0).astype(np.int64), np.abs(signed)
        kinds = tables.territory_kinds[foe, armies]
        hidden = tables.territory_contributions[foe, armies].sum(0) + tables.road_contributions[
            kinds[sources], kinds[targets]
        ].sum(0)
        hidden += (
            tables.total_armies_contributions[0, armies[signed > 0].sum()]
            + tables.total_armies_contributions[1, armies[signed < 0].sum()]
        )
        return sign * clamp_estimate(
            int(np.maximum(hidden, 0) @ tables.output_weights) >> OUTPUT_WEIGHT_FRACTION_BITS
        )

    return evaluate
