"""Test problems of the searches: random trees with ties, and random positions of every game."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.problem import Problem
from arena.games.core import Game, PlainData, Player
from arena.games.explicit import ExplicitGame
from arena.games.hexapawn import Hexapawn
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from tests.games.strategies import riskless_maps

TREES = Path(__file__).parents[3] / "games" / "trees"


def tree(name: str) -> ExplicitGame:
    """Return the tree of the project with this name."""
    data = json.loads((TREES / f"{name}.json").read_text(encoding="utf-8"))
    return ExplicitGame.from_tree(data["tree"], Player(data["player"]))


@dataclass(frozen=True)
class Case:
    """Position of a game to search, with the depth in plies and the name of the evaluator."""

    game: Game[Any, Any]
    position: Any
    depth: int
    evaluator: str = "plain"

    @property
    def problem(self) -> Problem[Any, Any]:
        return Problem(self.game, evaluator_for(self.game, self.evaluator))

    def __repr__(self) -> str:
        nodes = self.game.nodes if isinstance(self.game, ExplicitGame) else ""
        return f"{self.game.name} {self.game.position_to_text(self.position)} depth {self.depth} {nodes}"


@cache  # a new strategy for each example would take longer than the tree
def nodes(span: int) -> st.SearchStrategy[dict[str, PlainData]]:
    """Return trees as data in which every node has a value in ±span, so that they can be searched to any depth."""
    values = st.integers(-span, span)
    leaf = st.builds(lambda value: {"value": value}, values)
    return st.recursive(
        leaf,
        lambda below: st.builds(
            lambda value, children: {"value": value, "children": children},
            values,
            st.lists(below, min_size=1, max_size=4),
        ),
        max_leaves=40,
    )


@st.composite
def explicit_cases(draw: st.DrawFn) -> Case:
    span = draw(st.sampled_from([1, 3, 50]))  # few different values make many ties
    data = draw(nodes(span))
    game = ExplicitGame.from_tree(data, draw(st.sampled_from(list(Player))))
    return Case(game, game.start(), draw(st.integers(0, game.height + 1)))


class MovesAgain(ExplicitGame):
    """Explicit tree in which a player may move several times in a row."""

    players: tuple[Player, ...]

    def player(self, position: Any) -> Player:
        player: Player = self.players[position.node]
        return player


@st.composite
def moves_again_cases(draw: st.DrawFn) -> Case:
    data = draw(nodes(3))
    game = MovesAgain.from_tree(data, Player.MAXIE)
    players = st.lists(st.sampled_from(Player), min_size=len(game.nodes), max_size=len(game.nodes))
    game.players = tuple(draw(players))
    return Case(game, game.start(), draw(st.integers(0, game.height + 1)))


def make_random_position(draw: st.DrawFn, game: Game[Any, Any], plies: int) -> Any:
    """Return an unfinished position after at most `plies` random moves."""
    position = game.start()
    for _ in range(draw(st.integers(0, plies))):
        after = game.successor(position, draw(st.sampled_from(list(game.moves(position)))))
        if game.outcome(after) is not None:
            break
        position = after
    return position


@st.composite
def riskless_cases(draw: st.DrawFn) -> Case:
    # with so few plies, a match can end soon for any reason
    game = Riskless(replace(draw(riskless_maps(5)), ply_limit=draw(st.integers(1, 12))))
    evaluator = draw(st.sampled_from(["plain", "features"]))
    return Case(game, make_random_position(draw, game, 4), draw(st.integers(0, 3)), evaluator)


@st.composite
def tictactoe_cases(draw: st.DrawFn) -> Case:
    game = TicTacToe()
    position = make_random_position(draw, game, 8)
    most = 3 if game.ply(position) < 4 else 5
    return Case(game, position, draw(st.integers(0, most)), draw(st.sampled_from(["plain", "features"])))


@st.composite
def hexapawn_cases(draw: st.DrawFn) -> Case:
    game = Hexapawn(draw(st.integers(1, 4)), draw(st.integers(3, 4)))
    return Case(game, make_random_position(draw, game, 5), draw(st.integers(0, 5)))


cases = st.one_of(
    explicit_cases(),
    explicit_cases(),
    moves_again_cases(),
    riskless_cases(),
    tictactoe_cases(),
    hexapawn_cases(),
)
"""Search problems of all kinds. Trees are drawn twice as often, because they have ties and unusual shapes."""
cases_in_play = cases.filter(lambda case: case.game.outcome(case.position) is None)
