"""Every option of every engine does something in the form that knows it, wherever the engine is asked for."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from bots.api.bot import Clock, Match, ask, begin
from bots.api.match import Ending
from bots.api.options import ENGINES, BadSpec, Options, parse_spec
from bots.engines.forms import choose
from bots.engines.registry import make_engine
from bots.review.analysis import DEEPENING, REFERENCE, analyse, parse_engine, run_reference
from games.core import AnyGame, Player
from games.riskless import Riskless
from maps.loader import load_map
from maps.setup import make_setup

M2 = make_setup()
LARGE = make_setup("riskless", "grid:9x8")
PATH = load_map("path4")

VALUES = {
    "depth": ("1", "2"),
    "evaluator": ("plain", "features"),
    "exact": ("no", "yes"),
    "form": ("tests", "course"),
    "prune": ("0", "1"),
    "seed": ("1", "2"),
    "threads": ("1", "3"),
}
"""Two values of each option that anybody can tell apart."""

BASES = {
    ("random", M2): "",
    ("greedy", M2): "",
    ("minimax", M2): "depth=2",
    ("alphabeta", M2): "depth=6",
    ("jamboree", M2): "depth=6,threads=1",
    ("jamboree, form=course", M2): "depth=6,threads=1,form=course",
    ("alphabeta", LARGE): "depth=2",
    ("jamboree", LARGE): "depth=2,threads=1,form=course",
}
"""An engine in each of its forms, with what makes it quick and the same each time."""


@cache
def positions(game: AnyGame) -> list[Any]:
    """Some positions of a match by chance, in which Maxie moves."""
    rng = random.Random(5)
    position, found = game.start(), []
    for ply in range(24):
        if ply % 2 == 0:
            found.append(position)
        position = game.play(position, rng.choice(game.moves(position)))
    return found


def searching() -> set[str]:
    """The threads of this process that search for an engine."""
    return {each.name for each in threading.enumerate() if each.name.startswith("search")}


def spelled(name: str, base: str, option: str, value: str) -> str:
    told = dict(part.split("=") for part in base.split(",") if part)
    return f"{name.partition(',')[0]}:" + ",".join(
        f"{key}={each}" for key, each in {**told, option: value}.items()
    )


def played(spec: str, game: AnyGame) -> tuple[object, int]:
    """What an engine does in some positions, and how many threads it searched with."""
    bot = make_engine(spec).make()
    begin(bot, Match(game, Player.MAXIE, threads=2))
    bot.prepare()
    seen: list[object] = []
    threads = 0
    for position in positions(game):
        move = ask(
            bot, position, Clock(mine=60.0, per_move=True, arrived=time.monotonic()), threading.Event()
        )
        seen.append((move, bot.thinking))
        threads = max(threads, len(searching()))
    bot.ended(Ending(None, None, "enough", 0, None))
    return seen, threads


def options() -> list[tuple[str, AnyGame, str]]:
    return [(name, game, option) for name, game in BASES for option in ENGINES[name.partition(",")[0]]]


@pytest.mark.parametrize(
    ("name", "game", "option"),
    options(),
    ids=lambda each: each.setup()["map"] if isinstance(each, Riskless) else each,
)
def test_an_option_changes_what_is_played_or_is_refused(name: str, game: AnyGame, option: str) -> None:
    found, refused = [], []
    for value in VALUES[option]:
        text = spelled(name, BASES[name, game], option, value)
        try:
            choose(parse_spec(text, ENGINES), game)
        except BadSpec as error:
            refused.append(str(error))
        else:
            found.append(played(text, game))
    if refused:
        assert all(name.partition(",")[0] in each for each in refused)
    else:
        assert found[0] != found[1]
        if option == "threads":
            assert found[0][1] < found[1][1], "more threads search"


def test_every_option_of_an_engine_is_known_to_one_of_its_forms() -> None:
    for engine, declared in ENGINES.items():
        for option in declared:
            followed = 0
            for (name, game), base in BASES.items():
                if name.partition(",")[0] == engine:
                    texts = [spelled(name, base, option, value) for value in VALUES[option]]
                    followed += all(_accepted(text, game) for text in texts)
            assert followed, f"{engine}: no form knows {option}"


def _accepted(text: str, game: AnyGame) -> bool:
    try:
        choose(parse_spec(text, ENGINES), game)
    except BadSpec:
        return False
    return True


class Noting(Riskless):
    """Riskless that notes which threads there are to search it."""

    def __init__(self) -> None:
        super().__init__(PATH)
        self.threads: set[str] = set()

    def moves(self, position: Any) -> Any:
        self.threads |= searching()
        return super().moves(position)


def analysed(text: str, *, fixed: bool) -> tuple[object, int]:
    """What an analysis tells, and how many threads searched for it."""
    game = Noting()
    spec, reference = parse_engine(text, fixed=fixed)
    if reference:
        result, watch = run_reference(game, game.start(), 4, spec, tracing=False)
        return (result, watch.nodes), len(game.threads)
    found = analyse(game, game.start(), 4, text)
    return found.reports, len(game.threads)


def analysis_options(known: Mapping[str, Options]) -> list[tuple[str, str]]:
    return [(name, option) for name, options in known.items() for option in options]


@pytest.mark.parametrize(("name", "option"), analysis_options(REFERENCE))
def test_an_option_of_an_algorithm_changes_its_search(name: str, option: str) -> None:
    one, two = (analysed(f"{name}:{option}={value}", fixed=True) for value in VALUES[option])
    assert one != two
    if option == "threads":
        assert (one[1], two[1]) == (0, 2), "beside the thread that asks"


@pytest.mark.parametrize(("name", "option"), analysis_options(DEEPENING))
def test_an_option_changes_an_analysis_or_is_refused(name: str, option: str) -> None:
    found = []
    for value in VALUES[option]:
        try:
            found.append(analysed(f"{name}:{option}={value}", fixed=False))
        except BadSpec as error:
            assert option in ("exact", "form")
            assert "compiled" in str(error)  # noqa: PT017
    if len(found) == 2:
        assert found[0] != found[1]
        if option == "threads":
            assert found[0][1] < found[1][1]


@pytest.mark.parametrize("option", ["exact=yes", "form=course", "depth=3"])
def test_an_option_of_play_is_refused_where_an_algorithm_searches_once(option: str) -> None:
    with pytest.raises(BadSpec) as refused:
        parse_engine(f"jamboree:{option}", fixed=True)
    assert str(refused.value).startswith(
        f"jamboree: {option.partition('=')[0]} is an option of the engine as it plays"
    )
