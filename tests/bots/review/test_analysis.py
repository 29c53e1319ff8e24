from __future__ import annotations

import pytest

from arena.bots.api.engine_spec import BadSpec
from arena.bots.review.analysis import (
    OPTIONS_BY_ALGORITHM,
    Analyst,
    SearchLimits,
    find_path_of_line,
    parse_analysing_engine,
    parse_reference_spec,
    run_reference_search,
)
from arena.bots.review.chance import compute_winning_chance
from arena.bots.search.search_values import WIN_VALUE
from arena.games.core import AnyGame
from arena.games.tictactoe import TicTacToe
from arena.maps.game_on_map import make_game_on_map

PATH4 = make_game_on_map("riskless", "path4")
ITALY = make_game_on_map("riskless", "italy")


def engine(game: AnyGame, text: str, limits: SearchLimits) -> Analyst:
    return Analyst(game, parse_analysing_engine(text), limits)


@pytest.mark.parametrize("depth", [1, 3, 5])
def test_every_algorithm_and_every_exact_engine_has_minimaxs_value(depth: int) -> None:
    start = PATH4.start()
    values = {}
    for name in OPTIONS_BY_ALGORITHM:
        result, _ = run_reference_search(PATH4, start, depth, parse_reference_spec(name), tracing=False)
        values[name] = result.value
    exact = "evaluator=plain,exact=yes"
    for text in ("minimax", f"alphabeta:{exact}", f"jamboree:{exact},threads=2"):
        with engine(PATH4, text, SearchLimits(max_depth=depth)) as analyst:
            values[text] = analyst.analyse_by_depth(start)[-1].value
    assert len(set(values.values())) == 1, values


def count_nodes(algorithm: str, depth: int) -> int:
    spec = parse_reference_spec(algorithm)
    return run_reference_search(PATH4, PATH4.start(), depth, spec, tracing=False)[1].nodes


def test_take_leaves_out_moves_and_dynamic_goes_deeper_only_at_some_positions() -> None:
    assert count_nodes("lazy-ordered:take=1", 7) < count_nodes("lazy-ordered", 7)
    assert count_nodes("lazy", 5) < count_nodes("lazy:dynamic=3", 5) < count_nodes("lazy", 8)


def test_games_without_a_definition_of_dynamic_positions_refuse_the_option() -> None:
    game, spec = TicTacToe(), parse_reference_spec("lazy:dynamic=1")
    with pytest.raises(
        BadSpec,
        match=r"^lazy: the option dynamic works only with riskless, because no rule says which ",
    ):
        run_reference_search(game, game.start(), 2, spec, tracing=False)


def test_an_engine_keeps_its_node_limit_and_is_reproducible() -> None:
    results = []
    for nodes in (2_000, 2_000, 40_000):
        with engine(ITALY, "alphabeta", SearchLimits(nodes)) as analyst:
            results.append(analyst.analyse_by_depth(ITALY.start()))
            assert nodes / 2 < results[-1][-1].nodes < 1.1 * nodes + 1_000
    assert results[0] == results[1]
    assert results[2][-1].depth > results[1][-1].depth


@pytest.mark.parametrize("option", ["nodes=2000", "depth=4"])
def test_a_node_limit_may_be_an_option_of_the_engine(option: str) -> None:
    name, _, number = option.partition("=")
    with engine(ITALY, f"alphabeta:{option}", SearchLimits()) as analyst:
        report = analyst.analyse_by_depth(ITALY.start())[-1]
    assert getattr(report, name) <= int(number) + (1_000 if name == "nodes" else 0)


@pytest.mark.parametrize("game", [PATH4, ITALY], ids=["path4", "italy"])
def test_lines_begin_with_different_moves_the_best_first(game: AnyGame) -> None:
    start = game.start()
    count = len(game.moves(start)) + 5
    with engine(game, "alphabeta:exact=yes", SearchLimits(max_depth=3)) as analyst:
        found = analyst.analyse_best_moves(start, count)
        best = analyst.analyse_by_depth(start)[-1]
    assert {each.move for each in found} == set(game.moves(start))
    assert len(found) == len(game.moves(start))
    assert found[0].value == best.value
    assert [each.value for each in found] == sorted((each.value for each in found), reverse=True)
    for each in found:
        after = game.successor(start, each.move)
        with engine(game, "alphabeta:exact=yes", SearchLimits(max_depth=2)) as analyst:
            assert analyst.analyse_by_depth(after)[-1].value == each.value


def test_the_path_of_a_line_leads_along_its_moves() -> None:
    position = PATH4.start()
    line = run_reference_search(PATH4, position, 4, parse_reference_spec("failsoft"), tracing=False)[0].line
    assert len(line) == 4
    for index, move in zip(find_path_of_line(PATH4, position, line), line, strict=True):
        assert PATH4.moves(position)[index] == move
        position = PATH4.successor(position, move)


@pytest.mark.parametrize("text", ["nobody", "greedy", "lazy", "minimax:reference", "alphabeta:truth=root"])
def test_only_engines_that_search_are_analysts(text: str) -> None:
    with pytest.raises(BadSpec):
        parse_analysing_engine(text)


@pytest.mark.parametrize(
    "game", [PATH4, ITALY, make_game_on_map("tictactoe")], ids=["path4", "italy", "tictactoe"]
)
def test_a_chance_rises_with_the_value_and_is_even_at_0(game: AnyGame) -> None:
    values = [-WIN_VALUE + 3, -500, -100, 0, 100, 500, WIN_VALUE - 3]
    chances = [compute_winning_chance(game, value) for value in values]
    assert chances == sorted(set(chances))
    assert chances == pytest.approx([1 - each for each in reversed(chances)])
    assert (chances[0], chances[3], chances[-1]) == (0, 0.5, 1)
