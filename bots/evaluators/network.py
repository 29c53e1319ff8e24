"""A small neural network as evaluator of Riskless: one file of weights for all maps (docs/learning.md).

The network's input is the position as seen by the player to move: INPUTS numbers (`encode_inputs`). A territory has one
of KINDS kinds: the opponent's armies in LEVELS steps of the cap, empty, or the mover's armies in as many steps.

    0 .. KINDS                  share of the territories of each kind; a count between two steps is split between them
    KINDS .. OWN                share of the roads, in both directions, for each pair of kinds at their ends, each kind
                                rounded up to a step
    OWN .. OTHER .. INPUTS      the mover's and the opponent's total, in STEPS of the goal, split in the same way

Shares do not depend on a map's size, and steps do not depend on its cap and goal, so one network serves all maps.
A file has two arrays of floating-point numbers, `hidden` of shape (INPUTS, UNITS) and `output` of shape (UNITS,):

    log-odds that the mover wins = max(inputs @ hidden, 0) @ output

Odds of e to 1 are worth GOAL_SHARE of the goal, which converts the log-odds to hundredths of an army. For a given map
the rows are rounded to whole numbers (`NetworkTables`), so that the compiled search and Python agree exactly.
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
from arena.games.riskless import Armies, Riskless
from arena.games.riskless_map import RisklessMap

LEVELS = 12
"""Number of steps into which the armies of a territory are divided, up to the map's cap."""
KINDS = 2 * LEVELS + 1
"""Number of kinds of a territory, by owner and step."""
STEPS = 24
"""Number of steps into which a player's total armies are divided, up to the map's goal."""
OWN = KINDS + KINDS * KINDS
"""Index of the first input for the mover's total armies."""
OTHER = OWN + STEPS + 1
"""Index of the first input for the opponent's total armies."""
INPUTS = OTHER + STEPS + 1
"""Number of inputs of the network."""
UNITS = 16
"""Number of hidden units."""
SHAPES = {"hidden": (INPUTS, UNITS), "output": (UNITS,)}
"""Shape of each array in a network file, by its name."""
GOAL_SHARE = 1 / 16
"""Lead that makes the odds of winning e to 1, as a share of the goal."""
MAX_UNIT = 30_000
"""Maximum value of a hidden unit, which is stored as a signed 16-bit integer."""
SHIFT = 20
"""Number of fractional bits of the integers in `NetworkTables.output`."""

FloatArray = npt.NDArray[np.floating[Any]]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Network:
    """Arrays of a network file: `hidden` has the shape (INPUTS, UNITS), and `output` the shape (UNITS,)."""

    hidden: FloatArray
    output: FloatArray


def load_network(path: Path) -> Network:
    """Return the network in the file at `path`. Raises BadWeights if the file cannot be read or an array is invalid."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name], float) for name in file.files if name in SHAPES}
    except OSError as error:
        raise BadWeights(f"cannot read the network {path}: {error.strerror or error}") from None
    except (ValueError, TypeError, AttributeError, zipfile.BadZipFile, EOFError):
        raise BadWeights(f"{path}: not a file of NumPy arrays (.npz)") from None
    for name, shape in SHAPES.items():
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
    return Network(**arrays)


def encode_inputs(map: RisklessMap, signed: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return the inputs of n positions, with shape (n, INPUTS).

    `signed` contains the armies of each position, with shape (n, map.size): the player to move has positive numbers, the
    opponent negative ones.
    """
    armies = np.asarray(signed, np.int64).reshape(-1, map.size)
    count, cap, goal = len(armies), map.territory_cap, map.armies_to_win
    levels = armies * (LEVELS / cap)
    kinds = _classify_territories(levels)
    sources, targets = np.array([(v, w) for v, near in enumerate(map.neighbours) for w in near]).T
    pairs = kinds[:, sources] * KINDS + kinds[:, targets]
    parts = [_compute_step_shares(levels + LEVELS, KINDS), _compute_step_shares(pairs, KINDS * KINDS)]
    for sign in (1, -1):
        total = np.maximum(sign * armies, 0).sum(1, keepdims=True)
        parts.append(_compute_step_shares(np.minimum(total * (STEPS / goal), STEPS), STEPS + 1))
    return np.asarray(np.concatenate(parts, 1).reshape(count, INPUTS), np.float32)


def _classify_territories(levels: FloatArray) -> Rows:
    """Return the kind of each territory, from 0 to 2 × LEVELS: its armies (`levels`, in steps of the cap) plus LEVELS.

    Fractions of a step are rounded away from 0, so that only empty territories are of the kind LEVELS.
    """
    return LEVELS + (np.sign(levels) * np.ceil(np.abs(levels) - 1e-9)).astype(np.int64)


def _compute_step_shares(values: FloatArray | Rows, steps: int) -> FloatArray:
    """Return a histogram of each row: the share of its values that lie at each step, with shape (rows, `steps`).

    A value between two steps is split between them.
    """
    below = np.minimum(np.floor(values).astype(np.int64), steps - 2)
    fractions = values - below
    cells = below + steps * np.arange(len(values))[:, None]
    size = len(values) * steps
    counts = np.bincount(cells.ravel(), (1 - fractions).ravel(), size) + np.bincount(
        cells.ravel() + 1, fractions.ravel(), size
    )
    return np.asarray(counts.reshape(len(values), steps) / values.shape[1])


@dataclass(frozen=True)
class NetworkTables:
    """Network converted to integers for one map. The last axis of each array except `kinds` runs over the hidden units."""

    territories: Rows
    """Contribution of a territory to the hidden units, indexed by owner (0: mover, 1: opponent) and number of armies.

    Its shape is (2, cap + 1, UNITS).
    """
    kinds: Rows
    """Kind of a territory, indexed by owner (0: mover, 1: opponent) and number of armies. Its shape is (2, cap + 1)."""
    roads: Rows
    """Contribution of a road to the hidden units, indexed by the kinds of the territories at its ends, in either order.

    Its shape is (KINDS, KINDS, UNITS).
    """
    totals: Rows
    """Contribution of a player's total armies to the hidden units, indexed by player (0: mover, 1: opponent) and total.

    Its shape is (2, goal + 1, UNITS).
    """
    output: Rows
    """Weight of each hidden unit, in hundredths of an army with SHIFT fractional bits. Its shape is (UNITS,)."""

    @classmethod
    def of(cls, network: Network, map: RisklessMap) -> NetworkTables:
        """Return lookup tables computed from `network`, which serve all positions on `map`."""
        cap, goal, hidden = map.territory_cap, map.armies_to_win, network.hidden
        levels = np.arange(cap + 1) * (LEVELS / cap)
        road_end_count = sum(len(near) for near in map.neighbours)
        both_signs = np.stack([levels, -levels])
        territories = (
            np.stack([_compute_step_shares(signs[:, None] + LEVELS, KINDS) for signs in both_signs])
            @ hidden[:KINDS]
        )
        roads = hidden[KINDS:OWN].reshape(KINDS, KINDS, UNITS)
        roads = (roads + roads.transpose(1, 0, 2)) / 2
        steps = _compute_step_shares(np.arange(goal + 1)[:, None] * (STEPS / goal), STEPS + 1)
        totals = np.stack([steps @ hidden[OWN:OTHER], steps @ hidden[OTHER:]])
        largest = np.abs(territories).max() + np.abs(roads).max() + 2 * np.abs(totals).max()
        # Each row is rounded; the subtraction leaves room for the sum of all rounding errors.
        scale = (MAX_UNIT - road_end_count - map.size) / max(float(largest), 1e-9)
        value = 100 * goal * GOAL_SHARE / scale * 2**SHIFT
        return cls(
            np.rint(territories * (scale / map.size)).astype(np.int64),
            _classify_territories(both_signs),
            np.rint(roads * (2 * scale / road_end_count)).astype(np.int64),
            np.rint(totals * scale).astype(np.int64),
            np.rint(np.clip(network.output * value, -(2**40), 2**40)).astype(np.int64),
        )


def make_network_evaluator(game: Riskless, network: Network) -> Evaluator[Armies]:
    """Return the evaluator that applies a network to positions on the game's map."""
    tables = NetworkTables.of(network, game.map)
    roads = [(v, w) for v, near in enumerate(game.map.neighbours) for w in near if v < w]
    sources, targets = np.array(roads, np.int64).T

    def evaluate(position: Armies) -> int:
        sign = game.player(position).sign
        signed = sign * np.array(position.armies, np.int64)
        foe, armies = (signed < 0).astype(np.int64), np.abs(signed)
        kinds = tables.kinds[foe, armies]
        hidden = tables.territories[foe, armies].sum(0) + tables.roads[kinds[sources], kinds[targets]].sum(0)
        hidden += tables.totals[0, armies[signed > 0].sum()] + tables.totals[1, armies[signed < 0].sum()]
        return sign * clamp_estimate(int(np.maximum(hidden, 0) @ tables.output) >> SHIFT)

    return evaluate
