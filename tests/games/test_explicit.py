"""Explicit trees, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import BadData, Player, Reason
from arena.games.explicit import Explicit, Node, NodePosition, NodeWithoutValue
from tests.bots.search.problems import nodes
from tests.games.nested import from_values


@given(data=nodes(5), player=st.sampled_from(list(Player)))
def test_data_and_back(data: Any, player: Player) -> None:
    game = Explicit.from_tree(data, player)
    again = Explicit.from_setup(game.setup())
    assert again.nodes == game.nodes
    assert again.first is player
    for number in range(len(game.nodes)):
        place = NodePosition(number)
        moves = list(game.moves(place))
        assert bool(moves) == (game.outcome(place) is None)
        assert game.position_from_text(game.position_to_text(place)) == place
        assert game.position_from_data(game.position_to_data(place)) == place
        for move in moves:
            after = game.play(place, move)
            assert game.ply(after) == game.ply(place) + 1
            assert game.player(after) is game.player(place).opponent
    assert len(game.picture(game.start()).splitlines()) == len(game.nodes)


def test_estimates_only_where_there_is_a_value() -> None:
    game = Explicit.from_tree(
        {"name": "a", "children": [{"name": "b", "value": 3}, {"name": "c", "value": None}]}
    )
    assert game.estimate(NodePosition(1)) == 3
    with pytest.raises(NodeWithoutValue, match="cannot estimate node a: it is an inner node"):
        game.estimate(NodePosition(0))
    with pytest.raises(NodeWithoutValue, match="cannot estimate node c: it stands for a part"):
        game.estimate(NodePosition(2))


def test_leaves_end_the_game_by_their_sign() -> None:
    game = from_values([3, -3, 0])
    outcomes = [game.outcome(game.successor(game.start(), move)) for move in (0, 1, 2)]
    assert [o.winner for o in outcomes if o] == [Player.MAXIE, Player.MINNIE, None]
    assert all(o and o.reason is Reason.LEAF for o in outcomes)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (3, "must be an object"),
        ({}, "a leaf needs a value"),
        ({"name": "a", "value": "3"}, "the value of node a must be a whole number"),
        ({"name": "a", "value": 10**7}, "the value of node a must be a whole number"),
        ({"name": "", "value": 3}, "the name must be"),
        ({"name": "a", "children": 3}, "node a: children must be a list"),
        ({"name": "a", "children": [{"name": "b"}]}, "node b: a leaf needs a value"),
    ],
)
def test_bad_trees(data: Any, why: str) -> None:
    with pytest.raises(BadData, match=why):
        Explicit.from_tree(data)


def test_bad_nodes() -> None:
    leaf = Node("x", 1, ())
    for bad in (
        [],
        [Node("a", None, (0,))],
        [Node("a", None, (1, 1)), leaf],
        [leaf, leaf],
        [Node("a", None, (2,)), leaf],
    ):
        with pytest.raises(BadData):
            Explicit(bad)


def test_bad_setups_and_names() -> None:
    game = Explicit.from_tree({"children": [{"name": "twin", "value": 1}, {"name": "twin", "value": 2}]})
    for setup in ({}, {"tree": {"value": 1}, "player": "x"}, {"tree": {"value": 1}, "more": 1}):
        with pytest.raises(BadData):
            Explicit.from_setup(setup)
    with pytest.raises(BadData, match="several nodes"):
        game.position_from_text("twin")
    with pytest.raises(BadData, match="no node"):
        game.position_from_text("nobody")
    assert game.position_from_text("#2") == NodePosition(2)
    assert game.why_illegal(game.start(), 2) == "0 has the moves 0 to 1"
    with pytest.raises(BadData):
        game.move_from_text("-1")
