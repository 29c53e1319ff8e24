"""Solution of any game whose positions can be listed, by the solver's steps and the `Game` interface alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Executor
from typing import Any, TypeVar

import numpy as np

from arena.bots.compiled.cache import inlined
from arena.games.core import Game
from arena.lab.solving.retrograde import RetrogradeAnalysis, SolverGame
from arena.solved.solved_value import SolvedValue, decode_value_code

P = TypeVar("P", bound=Hashable)


@inlined
def write_successor_numbers(rules: Any, scratch: Any, number: Any) -> Any:
    """Write the listed successors of a position to `scratch`, and return their count.

    rules[n] is the index in `rules` at which the successors of position n begin.
    """
    first = rules[number]
    count = rules[number + 1] - first
    for each in range(count):
        scratch[each] = rules[first + each]
    return count


@inlined
def write_value_code(rules: Any, scratch: Any, number: Any, codes: Any, code: Any) -> None:
    """Write the code of this position only, because no other position is symmetric to it."""
    codes[number] = code


GRAPH = SolverGame("graph", write_successor_numbers, write_value_code)


def solve_game(
    game: Game[P, Any],
    workers: Executor,
    starts: Iterable[P] | None = None,
    represent: Callable[[P], P] = lambda each: each,
) -> dict[P, SolvedValue]:
    """Return the exact value of each position that can be reached from `starts`.

    starts     positions to begin with; None for the start of the game
    represent  function that returns the same position for positions of equal value, so that they are listed once
    """
    numbers: dict[P, int] = {}
    listed: list[P] = []

    def find_number(position: P) -> int:
        position = represent(position)
        found = numbers.get(position)
        if found is None:
            found = numbers[position] = len(listed)
            listed.append(position)
        return found

    for start in [game.start()] if starts is None else starts:
        find_number(start)
    codes: list[int] = []
    successors: list[list[int]] = []
    for position in listed:  # `number` appends to this list meanwhile
        outcome = game.outcome(position)
        if outcome is None or outcome.winner is None:
            codes.append(0)
        else:
            codes.append(3 if outcome.winner is game.player(position) else 2)
        successors.append([find_number(game.successor(position, move)) for move in game.moves(position)])
    firsts = np.cumsum([len(listed) + 1, *map(len, successors)])
    rules = np.array([*firsts, *(each for near in successors for each in near)], np.int64)
    in_play = np.array([place for place, near in enumerate(successors) if near], np.int64)
    widest = max(map(len, successors))
    known = np.array(codes, np.uint16)
    analysis = RetrogradeAnalysis(GRAPH, rules, known, in_play, [(0, len(in_play))], widest)
    while analysis.run_next_iteration(workers, lambda: None):
        pass
    return {position: decode_value_code(int(known[place])) for position, place in numbers.items()}
