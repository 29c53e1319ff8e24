"""Explicit trees, and the data that they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import BadData, Player, RuleEndReason
from arena.games.explicit import ExplicitGame, MissingNodeValue, NodePosition
from tests.bots.search.problems import nodes
from tests.games.nested import from_values


@given(data=nodes(5), player=st.sampled_from(list(Player)))
def test_the_players_alternate_down_to_the_leaves(data: Any, player: Player) -> None:
    game = ExplicitGame.from_tree(data, player)
    assert game.player(game.start()) is player
    for number in range(len(game.nodes)):
        place = NodePosition(number)
        moves = list(game.moves(place))
        assert bool(moves) == (game.outcome(place) is None)
        for move in moves:
            after = game.play(place, move)
            assert game.ply(after) == game.ply(place) + 1
            assert game.player(after) is game.player(place).opponent


def test_only_nodes_with_a_value_can_be_estimated() -> None:
    game = ExplicitGame.from_tree(
        {"name": "a", "children": [{"name": "b", "value": 3}, {"name": "c", "value": None}]}
    )
    assert game.estimate(NodePosition(1)) == 3
    with pytest.raises(
        MissingNodeValue, match="node a has no value for an estimate, because it is an inner node"
    ):
        game.estimate(NodePosition(0))
    with pytest.raises(
        MissingNodeValue, match="node c has no value for an estimate, because it stands for a part"
    ):
        game.estimate(NodePosition(2))


def test_leaves_end_the_game_by_their_sign() -> None:
    game = from_values([3, -3, 0])
    outcomes = [game.outcome(game.successor(game.start(), move)) for move in (0, 1, 2)]
    assert [o.winner for o in outcomes if o] == [Player.MAXIE, Player.MINNIE, None]
    assert all(o and o.reason is RuleEndReason.LEAF for o in outcomes)


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
        ExplicitGame.from_tree(data)
