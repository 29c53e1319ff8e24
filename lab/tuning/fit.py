"""Learning an evaluator's weights from matches that it plays against itself (003, learning).

Every position of a match is a sample: its features, and how the match ended for Maxie: 1, 0, or, where nobody
won, a half in tic-tac-toe and her share of the armies in Riskless; the longer it still took, the nearer to a half. The
weights are those that predict the ends best, by logistic regression without a constant, since mirrored positions
have opposite features. A hundredth of an army is worth more on a small map than on a large one, so
each map has a slope of its own; with one slope for all, differences between maps would pass for
effects of features. The fit starts from the weights that played, and RIDGE holds it to them where the
matches say little. Each generation plays with the weights of the one before; the first may play with none at all,
which is all 0: then only ends within its horizon tell a search what to do, and matches end by chance, but they end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import features_of, on_its_map, units
from arena.bots.evaluators.outcomes import Category, Counts, categorize
from arena.games.core import Game, Player
from arena.games.riskless import Riskless
from arena.lab.selfplay import Budget, Played, opening, play, scattered

Numbers = npt.NDArray[np.float64]

HELD_OUT = 5
"""Every so many-th match is kept from the fit, and tells how good it is."""
RIDGE = 0.01
"""How strongly the fit holds on to the weights that played: about the bits that a match must tell to move a weight by
one standard deviation of its feature."""
ROUNDS = 30
FIRST_SLOPE = 0.001
"""What a unit of the weighted sum tells of an end, before there is any weight to measure it by."""
TABLE_MB = 2
HALF_LIFE = 40
"""Plies after which an end counts half: who can win soon is better off than who can win some day."""
LONGEST = 250
"""The most plies of a match: after so many it is clear who stands better."""


@dataclass(frozen=True)
class Fit:
    """How well weights predict: mean log losses in bits, over `samples` and over held-out ones.

    `before` holds the losses of the weights that played, at their best scale. Guessing by a coin loses 1 bit.
    """

    weights: Mapping[str, int]
    matches: int
    samples: int
    before: float
    after: float
    held_out_before: float
    held_out_after: float


@dataclass(frozen=True)
class Samples:
    """The positions of some matches: a row of features each, the end, the match's and the game's number."""

    features: Numbers
    ends: Numbers
    matches: npt.NDArray[np.int64]
    games: npt.NDArray[np.int64]


def self_play(
    games: Sequence[Game[Any, Any]],
    weights: Mapping[str, int],
    *,
    matches: int,
    nodes: int,
    seed: int,
    progress: Callable[[], None],
) -> Samples:
    """Play so many matches of each game, every move with so many nodes, from random openings."""
    rng = random.Random(seed)
    rows: list[Sequence[float]] = []
    ends: list[float] = []
    numbers: list[tuple[int, int]] = []
    number = 0
    for place, game in enumerate(games):
        found = features_of(game)
        if found is None:
            raise ValueError(f"{game.name} has no features to weigh")
        count, _ = found
        sizes = units(game)
        for played in _matches(game, weights, range(number, number + matches), nodes, rng):
            end = _end(game, played)
            for left, position in enumerate(reversed(played.positions)):
                rows.append([unit * n for unit, n in zip(sizes, count(position), strict=True)])
                ends.append(_seen_from(end, left))
                numbers.append((number, place))
            number += 1
            progress()
    which = np.array(numbers, np.int64)
    return Samples(np.array(rows, float), np.array(ends), which[:, 0], which[:, 1])


def _matches(
    game: Game[Any, Any], weights: Mapping[str, int], numbers: range, nodes: int, rng: random.Random
) -> Iterator[Played]:
    """Play the matches with these numbers, both seats by the same weights."""
    searcher = Searcher(game, on_its_map(game, weights), Settings(table_mb=TABLE_MB))
    seats = dict.fromkeys(Player, searcher)
    try:
        searcher.warm_up()
        for number in numbers:
            yield play(game, _start(game, rng, number), seats, Budget(nodes=nodes), LONGEST)
    finally:
        searcher.close()


def _seen_from(end: float, plies: int) -> float:
    """What an end counts so many plies before it."""
    return float(0.5 + (end - 0.5) * 0.5 ** (plies / HALF_LIFE))


def _start(game: Game[Any, Any], rng: random.Random, number: int) -> Any:
    """Every second match of Riskless begins with armies anywhere, all others after a few random plies."""
    if isinstance(game, Riskless):
        return scattered(game, rng) if number % 2 else opening(game, rng, rng.randint(2, 12))
    return opening(game, rng, rng.randint(0, 3))


def _end(game: Game[Any, Any], played: Played) -> float:
    """1 when Maxie won, 0 when she lost; when nobody did, a half or her share of the armies."""
    if played.winner is not None:
        return float(played.winner is Player.MAXIE)
    if not isinstance(game, Riskless):
        return 0.5
    armies: tuple[int, ...] = played.positions[-1].armies
    return sum(n for n in armies if n > 0) / sum(map(abs, armies))


def count_outcomes(
    games: Sequence[Game[Any, Any]],
    weights: Mapping[str, int],
    *,
    matches: int,
    nodes: int,
    seed: int,
    progress: Callable[[], None],
) -> dict[Category, Counts]:
    """What became of who was to move in each category of positions, in so many matches of each game by these weights."""
    rng = random.Random(seed)
    found: dict[Category, list[int]] = {}
    for game in games:
        category_of = categorize(game)
        if category_of is None:
            raise ValueError(f"{game.name} has no categories of positions")
        for played in _matches(game, weights, range(matches), nodes, rng):
            for position in played.positions:
                row = found.setdefault(category_of(position), [0, 0, 0])
                if played.winner is None:
                    row[1] += 1
                else:
                    row[0 if played.winner is game.player(position) else 2] += 1
            progress()
    return {category: (won, drawn, lost) for category, (won, drawn, lost) in found.items()}


def fit(
    samples: Samples, names: Sequence[str], weights: Mapping[str, int], without: Collection[str] = ()
) -> Fit:
    """The weights that predict the samples' ends best, and how well; those `without` stay as they are."""
    kept = np.array([float(name not in without) for name in names])
    samples = replace(samples, features=samples.features * kept)
    held = samples.matches % HELD_OUT == HELD_OUT - 1
    # a long match has many positions, and only one end: each match counts the same
    share = 1.0 / np.bincount(samples.matches)[samples.matches]
    old = np.array([float(weights[name]) for name in names])
    new = old
    for number in range(ROUNDS):
        if number or old.any():
            slopes = _slopes(samples, share, ~held, new)
        else:
            slopes = np.full(int(samples.games.max()) + 1, FIRST_SLOPE)
        scaled = samples.features * slopes[samples.games][:, None]
        new = _regress(scaled[~held], samples.ends[~held], share[~held], old, RIDGE)
    # the unit is an army: values are as large as the plain estimate's
    unit = float(np.std(100 * samples.features[:, 0]) / np.std(samples.features @ new))
    whole = {name: round(unit * value) for name, value in zip(names, new, strict=True)}
    shipped = np.array([float(whole[name]) for name in names])

    def losses(vector: Numbers) -> list[float]:
        values = samples.features @ vector * _slopes(samples, share, ~held, vector)[samples.games]
        return [_loss(values[part], samples.ends[part], share[part]) for part in (~held, held)]

    before, after = losses(old), losses(shipped)
    matches = int(samples.matches[-1]) + 1
    return Fit(whole, matches, len(samples.ends), before[0], after[0], before[1], after[1])


def _slopes(samples: Samples, share: Numbers, part: npt.NDArray[np.bool_], weights: Numbers) -> Numbers:
    """For each game, what a unit of the weighted sum tells of the end."""
    values = (samples.features @ weights)[:, None]
    found = []
    for game in range(int(samples.games.max()) + 1):
        chosen = part & (samples.games == game)
        slope = _regress(values[chosen], samples.ends[chosen], share[chosen], np.zeros(1), 1e-6)
        found.append(float(slope[0]))
    return np.array(found)


def _regress(features: Numbers, ends: Numbers, share: Numbers, prior: Numbers, ridge: float) -> Numbers:
    """Logistic regression by Newton's method, held to `prior`; features are scaled by their spread."""
    spread = np.maximum(np.sqrt(np.average(features**2, axis=0, weights=share)), 1e-9)
    scaled = features / spread
    start = prior * spread
    found = start.copy()
    total = share.sum()
    for _ in range(ROUNDS):
        predicted = 1 / (1 + np.exp(-np.clip(scaled @ found, -30, 30)))
        gradient = scaled.T @ (share * (predicted - ends)) / total + ridge * (found - start)
        weight = share * np.maximum(predicted * (1 - predicted), 1e-6)
        curvature = (scaled * weight[:, None]).T @ scaled / total + ridge * np.eye(len(found))
        step = np.linalg.solve(curvature, gradient)
        found -= step
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(found / spread, float)


def _loss(values: Numbers, ends: Numbers, share: Numbers) -> float:
    predicted = np.clip(1 / (1 + np.exp(-np.clip(values, -30, 30))), 1e-9, 1 - 1e-9)
    bits = -(ends * np.log2(predicted) + (1 - ends) * np.log2(1 - predicted))
    return float(np.average(bits, weights=share)) if len(bits) else 0.0
