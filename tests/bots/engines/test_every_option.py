"""Every option of an engine changes its play in each form that knows the option, and is refused by the others."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from arena.bots.api.bot import Bot, Clock, Ending, Match, assign_match, request_move
from arena.bots.api.engine_spec import OPTIONS_BY_ENGINE, BadSpec, parse_spec
from arena.bots.engines.implementations import choose_implementation
from arena.bots.engines.registry import make_engine
from arena.bots.review.analysis import OPTIONS_BY_ALGORITHM, parse_reference_spec, run_reference_search
from arena.games.core import AnyGame, Player
from arena.games.riskless import Riskless
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import load_map

M2 = make_game_on_map("riskless", "m2")
LARGE = make_game_on_map("riskless", "grid:9x8")
PATH = make_game_on_map("riskless", "path4")
"""Riskless on a map whose tablebase comes with the project."""

VALUES = {
    "depth": ("1", "2"),
    "dynamic": ("0", "2"),
    "evaluator": ("plain", "features"),
    "exact": ("no", "yes"),
    "form": ("tests", "course"),
    "keep": ("no", "yes"),
    "nodes": ("100", "20000"),
    "prune": ("0", "1"),
    "seed": ("1", "2"),
    "split_depth": ("1", "6"),
    "take": ("1", "3"),
    "threads": ("1", "3"),
    "truth": ("no", "root"),
}
"""Two values of each option whose effects differ."""

BASES = {
    ("random", M2): "",
    ("greedy", M2): "",
    ("minimax", M2): "depth=2",
    ("alphabeta", M2): "depth=6",
    ("jamboree", M2): "depth=6,threads=1",
    ("jamboree, form=course", M2): "depth=6,threads=1,form=course",
    ("alphabeta", LARGE): "depth=2",
    ("jamboree", LARGE): "depth=2,threads=1,form=course",
    ("minimax", PATH): "depth=1",
    ("alphabeta", PATH): "depth=1",
    ("jamboree", PATH): "depth=1,threads=1",
}
"""Options with which an engine plays fast and always the same, for each form of each engine, by engine and game."""


@cache
def positions(game: AnyGame) -> list[Any]:
    """Return some positions of a random match with Maxie to move."""
    rng = random.Random(5)
    position, found = game.start(), []
    for ply in range(12):
        if ply % 2 == 0:
            found.append(position)
        position = game.play(position, rng.choice(game.moves(position)))
    return found


def list_search_threads() -> set[threading.Thread]:
    """Return the search threads of all engines in this process, including those of other tests."""
    return {each for each in threading.enumerate() if each.name.startswith("search")}


def make_spec(name: str, base: str, option: str, value: str) -> str:
    values = dict(part.split("=") for part in base.split(",") if part)
    return f"{name.partition(',')[0]}:" + ",".join(
        f"{key}={each}" for key, each in {**values, option: value}.items()
    )


@contextmanager
def engine_in_match(spec: str, game: AnyGame) -> Iterator[Bot]:
    """Yield the bot of an engine in a match, which ends after the block."""
    bot = make_engine(spec).make_bot()
    assign_match(bot, Match(game, Player.MAXIE, threads=2))
    bot.prepare()
    yield bot
    bot.ended(Ending(None, None, "enough", 0, None))


def answers(bot: Bot, game: AnyGame) -> Iterator[object]:
    """Yield the bot's move and analysis in each of `positions(game)`."""
    for position in positions(game):
        clock = Clock(mine=60.0, per_move=True, arrived=time.monotonic())
        yield request_move(bot, position, clock, threading.Event()), bot.thinking


def count_search_threads(spec: str, game: AnyGame) -> int:
    """Return the number of threads that an engine starts for its search."""
    before = list_search_threads()
    with engine_in_match(spec, game) as bot:
        return max(len(list_search_threads() - before) for _ in answers(bot, game))


def options() -> list[tuple[str, AnyGame, str]]:
    return [
        (name, game, option)
        for name, game in BASES
        for option in OPTIONS_BY_ENGINE[name.partition(",")[0]]
        if (game is PATH) == (option == "truth")
    ]


@pytest.mark.parametrize(
    ("name", "game", "option"),
    options(),
    ids=lambda each: each.setup()["map"] if isinstance(each, Riskless) else each,
)
def test_every_option_changes_the_play_or_is_refused(name: str, game: AnyGame, option: str) -> None:
    texts = [make_spec(name, BASES[name, game], option, value) for value in VALUES[option]]
    refusals = [reason for text in texts if (reason := why_incompatible(text, game))]
    if refusals:
        assert all(name.partition(",")[0] in reason for reason in refusals)
    elif option == "threads":
        few, more = (count_search_threads(text, game) for text in texts)
        assert few < more, "more threads search"
    else:
        with engine_in_match(texts[0], game) as one, engine_in_match(texts[1], game) as two:
            assert any(a != b for a, b in zip(answers(one, game), answers(two, game), strict=True))


def test_every_option_of_an_engine_is_known_to_one_of_its_forms() -> None:
    for engine, declared in OPTIONS_BY_ENGINE.items():
        for option in declared:
            followed = 0
            for (name, game), base in BASES.items():
                if name.partition(",")[0] == engine:
                    texts = [make_spec(name, base, option, value) for value in VALUES[option]]
                    followed += not any(why_incompatible(text, game) for text in texts)
            assert followed, f"{engine}: no form knows {option}"


def why_incompatible(text: str, game: AnyGame) -> str:
    """Return why a spec is refused for a game; empty if it is accepted."""
    try:
        choose_implementation(parse_spec(text, OPTIONS_BY_ENGINE), game)
    except BadSpec as error:
        return str(error)
    return ""


class ThreadRecorder(Riskless):
    """Riskless that records the threads that search it, and blocks each until `threads` threads search at once.

    A thread is blocked in the positions after the second and later moves of the root, because Jamboree searches these
    moves in parallel.
    """

    def __init__(self, root: Any, threads: int) -> None:
        super().__init__(load_map("m2"))
        self.expected = threads
        self.threads: set[threading.Thread] = set()
        self._more = threading.Condition()
        self._held = {self.successor(root, move) for move in super().moves(root)[1:]}

    def moves(self, position: Any) -> Any:
        with self._more:
            self.threads.add(threading.current_thread())
            self._more.notify_all()
            if position in self._held and not self._more.wait_for(self._enough, timeout=500):
                raise AssertionError(f"{len(self.threads)} threads search, not {self.expected}")
        return super().moves(position)

    def _enough(self) -> bool:
        return len(self.threads) >= self.expected


def searched(text: str, threads: int = 1) -> tuple[object, int]:
    """Return the result of an algorithm, and the number of its threads, each of which waits until `threads` search.

    The root has more moves than there are threads, so that each thread has a move to search.
    """
    root = next(each for each in positions(M2) if len(M2.moves(each)) >= 6)
    game = ThreadRecorder(root, threads)
    result, monitor = run_reference_search(game, root, 3, parse_reference_spec(text), tracing=False)
    return (result, monitor.nodes, monitor.max_live_nodes), len(game.threads)


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, option) for name, options in OPTIONS_BY_ALGORITHM.items() for option in options],
)
def test_an_option_of_an_algorithm_changes_its_search(name: str, option: str) -> None:
    if option == "threads":
        everything = ",prune=0" if name == "jamboree" else ""  # all moves of a node are searched in parallel
        counts = [searched(f"{name}:threads={n}{everything}", int(n))[1] for n in VALUES[option]]
        assert counts == [1, 3]
        return
    one, two = (searched(f"{name}:{option}={value}") for value in VALUES[option])
    assert one != two
