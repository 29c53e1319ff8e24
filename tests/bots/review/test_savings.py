from __future__ import annotations

import pytest

from arena.bots.api.engine_spec import BadSpec
from arena.bots.review.analysis import parse_reference_spec, run_reference_search
from arena.bots.review.savings import Saving, measure_node_savings
from arena.games.tictactoe import TicTacToe
from arena.maps.game_on_map import make_game_on_map

PATH4 = make_game_on_map("riskless", "path4")


def saving(text: str, depth: int) -> Saving:
    (only,) = measure_node_savings(PATH4, PATH4.start(), depth, parse_reference_spec(text))
    return only


def test_a_search_of_the_first_moves_is_compared_with_one_of_all_moves() -> None:
    comparison = saving("lazy-ordered:take=1", 7)
    _, all_of_them = run_reference_search(
        PATH4, PATH4.start(), 7, parse_reference_spec("lazy-ordered"), tracing=False
    )
    assert (comparison.whole_nodes, comparison.whole_leaves) == (all_of_them.nodes, all_of_them.leaves)
    assert comparison.nodes < all_of_them.nodes
    assert comparison.describe_savings().startswith(
        f"The first 1 moves of each node: {comparison.nodes} nodes"
    )


def test_a_dynamic_search_is_compared_with_the_same_plies_everywhere() -> None:
    cost, comparison = measure_node_savings(PATH4, PATH4.start(), 5, parse_reference_spec("lazy:dynamic=3"))
    flat, deep = (
        run_reference_search(PATH4, PATH4.start(), depth, parse_reference_spec("lazy"), tracing=False)[1]
        for depth in (5, 8)
    )
    assert flat.nodes < comparison.nodes < deep.nodes == comparison.whole_nodes
    assert f"8 plies everywhere: {deep.nodes} nodes" in comparison.describe_savings()
    assert (cost.nodes, cost.whole_nodes) == (comparison.nodes, flat.nodes)
    assert cost.describe_savings().endswith(f"That is {comparison.nodes / flat.nodes:.1f} × the nodes")


def test_a_search_without_these_options_has_no_savings() -> None:
    for name in ("lazy", "alphabeta", "lazy-ordered:keep=yes"):
        assert not list(measure_node_savings(PATH4, PATH4.start(), 3, parse_reference_spec(name)))


def test_a_comparison_with_too_many_nodes_is_abandoned() -> None:
    world = make_game_on_map("riskless", "world")
    _, comparison = measure_node_savings(
        world, world.start(), 1, parse_reference_spec("lazy:dynamic=20"), max_nodes=1200
    )
    assert (comparison.whole_nodes, comparison.whole_leaves, comparison.whole_value) == (None, None, None)
    assert comparison.describe_savings().endswith("21 plies everywhere: more than 1,200 nodes")
    assert comparison.nodes < 1200


def test_games_without_a_definition_of_dynamic_positions_refuse_the_option() -> None:
    game = TicTacToe()
    with pytest.raises(
        BadSpec,
        match=r"^lazy: the option dynamic works only with riskless, because tictactoe has no dynamic positions: try ",
    ):
        list(measure_node_savings(game, game.start(), 2, parse_reference_spec("lazy:dynamic=1")))
