"""Speed of the environment for learning bots, in steps (moves) and matches per second of CPU time, as tables in Markdown.

    python -m benchmarks.learning

All rows of the tables are matches of random moves, measured in one run and one thread. Rows for OpenSpiel and PettingZoo are
left out if the package is not installed. The row for `arena match` counts the CPU time of all its processes. docs/learning.md
shows a result.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from random import Random
from typing import Any

import arena
from arena.bots.learning.environment import Environment
from arena.games.core import Game
from benchmarks.kit.measure import MeasuredRatio, format_markdown_table
from benchmarks.kit.results import make_argument_parser

MEASURED_MAP = "italy"
MATCHES_PER_BATCH = 4096
"""Number of matches that `arena.batch` plays in parallel."""
MEASURED_CPU_SECONDS_PER_ROW = 3.0
"""CPU time for which each row of the tables is measured, in seconds."""
ARENA_MATCH_PAIR_COUNT = 100
"""Number of pairs of matches in each measurement of `arena match`."""
MATCH_RATE_MEASUREMENT_COUNT = 3
"""Number of measurements of `arena.play_match` and of `arena match`. The table shows their median."""
GAME_NAMES_BY_TITLE = {
    "tic-tac-toe": ("tictactoe", "tic_tac_toe"),
    f"Riskless on {MEASURED_MAP}": ("riskless", ""),
}
"""Games by title, each as (name in this project, name in OpenSpiel). A game that OpenSpiel lacks has an empty second name."""

PlayAndCount = Callable[[], int]
"""Function that plays for a while and returns the number of steps or matches."""


def measure_plays_per_cpu_second(play: PlayAndCount) -> float:
    """Call `play` repeatedly for MEASURED_CPU_SECONDS_PER_ROW. Return its steps or matches per CPU second.

    A first call, which may have to load or compile, is not counted.
    """
    play()
    moves, start_time = 0, time.thread_time()
    while (duration := time.thread_time() - start_time) < MEASURED_CPU_SECONDS_PER_ROW:
        moves += play()
    return moves / duration


def play_random_match_by_rules(game: Game[Any, Any], rng: Random) -> int:
    """Play a random match by the game's rules in Python. Return the match's number of moves."""
    position, steps = game.start(), 0
    while game.outcome(position) is None:
        position = game.successor(position, rng.choice(game.moves(position)))
        steps += 1
    return steps


def play_random_batch_moves(batch: Any) -> int:
    """Play a random move in each match of `batch` by the compiled rules. Return the number of moves played."""
    batch.step(batch.random)
    return MATCHES_PER_BATCH


def play_random_openspiel_match(game: Any, rng: Random) -> int:
    """Play a random match of an OpenSpiel game. Return the match's number of moves."""
    state, steps = game.new_initial_state(), 0
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
        steps += 1
    return steps


def play_random_pettingzoo_match(pettingzoo_env: Any, rng: Random, seeds: Iterator[int]) -> int:
    """Play a random match of a PettingZoo environment. Return the match's number of moves.

    seeds: seeds of the resets of the environment
    """
    pettingzoo_env.reset(seed=next(seeds))
    steps = 0
    for _ in pettingzoo_env.agent_iter():
        observation, _, terminated, truncated, _ = pettingzoo_env.last()
        legal = (
            []
            if terminated or truncated
            else [action for action, is_legal in enumerate(observation["action_mask"]) if is_legal]
        )
        pettingzoo_env.step(rng.choice(legal) if legal else None)
        steps += bool(legal)
    return steps


def make_table_rows(game_name: str, openspiel_name: str) -> Iterator[tuple[str, PlayAndCount]]:
    """Yield each row of the table of a game, as (title, function that plays the game).

    game_name: name of the game in this project
    openspiel_name: name of the game in OpenSpiel; empty if OpenSpiel has no such game
    """
    env = arena.make(game_name, map=MEASURED_MAP)
    batch = arena.batch(game_name, map=MEASURED_MAP, size=MATCHES_PER_BATCH, seed=1)
    yield f"`arena.batch`, {MATCHES_PER_BATCH:,} matches", partial(play_random_batch_moves, batch)
    yield "the rules in plain Python", partial(play_random_match_by_rules, env.game, Random(1))
    if find_spec("pyspiel"):
        spiel: Any = import_module("pyspiel")
        import_module("open_spiel.python.games.tic_tac_toe")
        games = {"this environment through `adapters.openspiel`": arena.adapters.openspiel(env)}
        if openspiel_name:
            games["OpenSpiel's C++ game, called from Python"] = spiel.load_game(openspiel_name)
            games["OpenSpiel's Python game"] = spiel.load_game(f"python_{openspiel_name}")
        for row, game in games.items():
            yield row, partial(play_random_openspiel_match, game, Random(1))
    if find_spec("pettingzoo"):
        zoos = {"this environment through `adapters.pettingzoo`": arena.adapters.pettingzoo(env)}
        if openspiel_name and find_spec("pygame"):  # its own games need the package
            zoos["PettingZoo's game"] = import_module("pettingzoo.classic.tictactoe_v3").env()
        for row, zoo in zoos.items():
            yield row, partial(play_random_pettingzoo_match, zoo, Random(1), count())


def play_local_match(env: Environment, seeds: Iterator[int]) -> int:
    """Play a match of two random bots with `arena.play_match`. Return the number of matches, which is 1."""
    arena.play_match("random", "random", env, opening=4, seed=next(seeds))
    return 1


def measure_arena_match_rate() -> float:
    """Play ARENA_MATCH_PAIR_COUNT pairs of matches with `arena match`. Return the matches per second of its CPU time."""
    match = [sys.executable, "-m", "arena", "match", "random", "random"]
    rounds = str(ARENA_MATCH_PAIR_COUNT)
    matches = ["--map", MEASURED_MAP, "--openings", "4", "--rounds", rounds, "--tc", "60+1"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:  # for its record
        subprocess.run([*match, *matches], check=True, capture_output=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 2 * ARENA_MATCH_PAIR_COUNT / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Measure the speed of all environments and of whole matches, and print both tables."""
    make_argument_parser(__doc__).parse_args()
    speeds: dict[str, dict[str, float]] = {}
    for title, (name, openspiel_name) in GAME_NAMES_BY_TITLE.items():
        for row, play in make_table_rows(name, openspiel_name):
            speeds.setdefault(row, {})[title] = measure_plays_per_cpu_second(play)
    print(f"Steps per second of CPU time, at a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    rows = [
        [row, *(f"{rates[title]:,.0f}" if title in rates else "" for title in GAME_NAMES_BY_TITLE)]
        for row, rates in speeds.items()
    ]
    print(format_markdown_table(["", *GAME_NAMES_BY_TITLE], rows))
    local = partial(play_local_match, arena.make("riskless", map=MEASURED_MAP, opening=4), count())
    pairs = [
        (measure_plays_per_cpu_second(local), measure_arena_match_rate())
        for _ in range(MATCH_RATE_MEASUREMENT_COUNT)
    ]
    local_rate, command_rate = map(MeasuredRatio, zip(*pairs, strict=True))
    matches = {
        "`play_match`": local_rate,
        "`arena match`, with its server and both bots": command_rate,
        "ratio": MeasuredRatio([play_rate / arena_rate for play_rate, arena_rate in pairs]),
    }
    print(f"\nMatches of two random bots on {MEASURED_MAP}, per second of CPU time")
    print(format_markdown_table(["", "matches"], matches.items()))


if __name__ == "__main__":
    main()
