"""Random maps, positions of random matches, and a plain minimax to compare with."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from arena.bots.search.search_values import compute_outcome_value
from arena.games.core import Game, Player
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.riskless_map import BadMap, RisklessMap


def make_random_map(
    rng: random.Random, most: int = 9, caps: tuple[int, ...] = (1, 2, 3, 7, 10, 15)
) -> RisklessMap:
    """Return a random connected map with shuffled neighbours, and limits so low that matches reach them.

    most  maximum number of territories
    caps  caps (maximum numbers of armies on a territory) of which one is drawn
    """
    while True:
        try:
            return _draw_random_map(rng, most, caps)
        except BadMap:
            continue  # at the start, a player already has the armies to win


def _draw_random_map(rng: random.Random, most: int, caps: tuple[int, ...]) -> RisklessMap:
    size = rng.randint(2, most)
    roads = {(v, rng.randrange(v)) for v in range(1, size)}
    for _ in range(size // 2):
        roads.add(tuple(sorted(rng.sample(range(size), 2), reverse=True)))  # type: ignore[arg-type]
    near: list[list[int]] = [[] for _ in range(size)]
    for v, w in sorted(roads):
        near[v].append(w)
        near[w].append(v)
    for each in near:
        rng.shuffle(each)
    cap = rng.choice(caps)
    start = [0] * size
    start[0], start[-1] = 1, -min(2, cap)
    return RisklessMap(
        name="random",
        territories=tuple(f"t{v}" for v in range(size)),
        neighbours=tuple(map(tuple, near)),
        territory_cap=cap,
        armies_to_win=rng.randint(2, size * cap) if size * cap > 2 else 2,
        ply_limit=rng.choice([6, 12, 40, 400]),
        start=tuple(start),
        places=tuple((0.0, 0.0) for _ in range(size)),
    )


def make_random_position(game: Riskless, rng: random.Random) -> RisklessPosition:
    """Return an unfinished position: one of a random match, or one with random armies on all territories."""
    while True:
        position = _play_random_moves(game, rng) if rng.random() < 0.5 else _draw_random_armies(game, rng)
        if game.outcome(position) is None:
            return position


def _play_random_moves(game: Riskless, rng: random.Random) -> RisklessPosition:
    position = game.start()
    for _ in range(rng.randrange(12)):
        moves = game.moves(position)
        if not moves:
            break
        position = game.successor(position, rng.choice(moves))
    return position


def _draw_random_armies(game: Riskless, rng: random.Random) -> RisklessPosition:
    cap = game.map.territory_cap
    armies = tuple(rng.choice([0, 0, rng.randint(1, cap), -rng.randint(1, cap)]) for _ in game.map.start)
    return RisklessPosition(armies, rng.choice(list(Player)), rng.randrange(game.map.ply_limit))


def draw_random_weights(rng: random.Random, names: tuple[str, ...]) -> dict[str, int]:
    """Return a random weight of either sign for each feature."""
    return {name: rng.randint(-300, 300) for name in names}


def minimax(
    game: Game[Any, Any], position: Any, depth: int, evaluate: Callable[[Any], int]
) -> tuple[int, Any]:
    """Return the value for Maxie and the leftmost best move, by code that is independent of `bots.search`."""
    moves = game.moves(position)
    values = [minimax_value(game, game.successor(position, move), depth - 1, evaluate, 1) for move in moves]
    best = max(values) if game.player(position) is Player.MAXIE else min(values)
    return best, moves[values.index(best)]


def minimax_value(
    game: Game[Any, Any], position: Any, depth: int, evaluate: Callable[[Any], int], distance: int = 0
) -> int:
    """Return the value for Maxie of a position `distance` plies from the root."""
    outcome = game.outcome(position)
    if outcome is not None:
        return compute_outcome_value(outcome, distance)
    if depth == 0:
        return evaluate(position)
    children = (game.successor(position, move) for move in game.moves(position))
    values = [minimax_value(game, child, depth - 1, evaluate, distance + 1) for child in children]
    return max(values) if game.player(position) is Player.MAXIE else min(values)
