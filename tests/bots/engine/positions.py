"""Random maps, positions of random matches, and a plain minimax to compare with."""

from __future__ import annotations

import random
from typing import Any

from games.board import RisklessMap
from games.core import Game
from games.riskless import Armies, Riskless

WIN = 1_000_000


def random_map(rng: random.Random, most: int = 9) -> RisklessMap:
    """A connected map with shuffled neighbours, and limits low enough to be met."""
    size = rng.randint(2, most)
    roads = {(v, rng.randrange(v)) for v in range(1, size)}
    roads |= {(max(pair), min(pair)) for pair in (rng.sample(range(size), 2) for _ in range(size // 2))}
    near: list[list[int]] = [[] for _ in range(size)]
    for v, w in sorted(roads):
        near[v].append(w)
        near[w].append(v)
    for each in near:
        rng.shuffle(each)
    cap = rng.choice([1, 2, 3, 7, 10, 15])
    start = [0] * size
    start[0], start[-1] = 1, -min(2, cap)
    goal = rng.randint(min(3, size * cap), size * cap)
    if goal <= 2:
        start[-1] = -1
    return RisklessMap(
        "random",
        tuple(f"t{v}" if v else "t" for v in range(size)),
        tuple(map(tuple, near)),
        cap,
        max(goal, 2),
        rng.choice([6, 12, 40, 400]),
        tuple(start),
        tuple((0.0, 0.0) for _ in range(size)),
    )


def random_position(game: Riskless, rng: random.Random) -> Armies | None:
    """A position that is not over: of a random match, or armies anywhere."""
    position = game.start()
    if rng.random() < 0.5:
        for _ in range(rng.randrange(12)):
            moves = game.moves(position)
            if not moves:
                break
            position = game.successor(position, rng.choice(moves))
    else:
        cap = game.map.territory_cap
        armies = tuple(rng.choice([0, 0, rng.randint(1, cap), -rng.randint(1, cap)]) for _ in game.map.start)
        player = rng.choice(["maxie", "minnie"])
        ply = rng.randrange(game.map.ply_limit)
        if any(armies):
            data = {"armies": list(armies), "player": player, "ply": ply}
            position = game.position_from_data(data)
    return None if game.outcome(position) else position


def values(game: Game[Any, Any], position: Any, depth: int, evaluate: Any) -> list[int]:
    """Minimax of each root move for Maxie, by the rules of `games` alone."""
    return [
        _value(game, game.successor(position, move), depth - 1, 1, evaluate) for move in game.moves(position)
    ]


def _value(game: Game[Any, Any], position: Any, depth: int, distance: int, evaluate: Any) -> int:
    outcome = game.outcome(position)
    if outcome is not None:
        return outcome.winner.sign * (WIN - distance) if outcome.winner else 0
    if depth == 0:
        return int(evaluate(position))
    found = [
        _value(game, game.successor(position, m), depth - 1, distance + 1, evaluate)
        for m in game.moves(position)
    ]
    return max(found) if game.player(position).sign > 0 else min(found)


def leftmost(game: Game[Any, Any], position: Any, found: list[int]) -> tuple[int, Any]:
    """The value of the root and its leftmost best move."""
    best = max(found) if game.player(position).sign > 0 else min(found)
    return best, game.moves(position)[found.index(best)]
