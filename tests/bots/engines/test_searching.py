import time
from threading import Event, Timer
from typing import Any

import pytest

from arena.bots.api.bot import Bot, Clock, Match, request_move
from arena.bots.api.engine_spec import OPTIONS_BY_ENGINE, parse_spec
from arena.bots.compiled.searcher import Searcher
from arena.bots.engines.searching import SearchingBot, make_python_searcher
from arena.bots.search.deepening import PythonSearcher
from arena.games.core import AnyGame, Player
from arena.games.riskless import Riskless, RisklessPosition
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import load_map
from tests.bots.engines.conftest import MakeBot

NAMES = ["minimax", "alphabeta", "jamboree"]
TICTACTOE = make_game_on_map("tictactoe")
M2 = make_game_on_map("riskless", "m2")
RISKLESS = Riskless(load_map("m2"))


def choose(bot: Bot, position: Any, seconds: float = 5.0, stop: Event | None = None) -> Any:
    clock = Clock(mine=seconds, per_move=True, arrived=time.monotonic())
    return request_move(bot, position, clock, stop or Event())


@pytest.mark.parametrize("name", NAMES)
def test_a_win_is_taken_and_a_loss_is_stopped(name: str, make_bot: MakeBot) -> None:
    bot = make_bot(name, TICTACTOE)
    assert choose(bot, TICTACTOE.position_from_text("XX.OO....")) == 2
    bot = make_bot(name, TICTACTOE, Player.MINNIE)
    assert choose(bot, TICTACTOE.position_from_text("XX..O....")) == 2
    assert bot.thinking is not None
    assert bot.thinking.line[0] == 2


@pytest.mark.parametrize("name", NAMES)
def test_the_depth_limit_is_kept_and_reported(name: str, make_bot: MakeBot) -> None:
    bot = make_bot(f"{name}:depth=2", M2)
    choose(bot, M2.start(), 30.0)
    assert bot.thinking is not None
    assert bot.thinking.depth == 2
    # Positions of both depths, each with its root: minimax visits all of them, the others fewer.
    first = M2.moves(M2.start())
    second = sum(len(M2.moves(M2.play(M2.start(), move))) for move in first)
    everything = 2 * (1 + len(first)) + second
    assert bot.thinking.nodes is not None
    assert bot.thinking.nodes == everything if name == "minimax" else bot.thinking.nodes <= everything


def python_searcher(spec: str) -> PythonSearcher:
    """Return the engine's searcher in Python."""
    return make_python_searcher(parse_spec(spec, OPTIONS_BY_ENGINE), Match(M2, Player.MAXIE, threads=2))


def test_all_three_find_the_same_move_and_value_at_a_depth() -> None:
    searchers = [python_searcher(f"{name}:evaluator=plain") for name in NAMES]
    position = M2.start()
    for _ in range(6):
        last = [list(each.deepen(position, max_depth=3))[-1] for each in searchers]
        assert len({(report.depth, report.value, report.move) for report in last}) == 1, last
        position = M2.play(position, last[0].move)
    for searcher in searchers:
        searcher.close()


@pytest.mark.parametrize("name", NAMES)
def test_with_no_time_at_all_there_is_still_a_legal_move(name: str, make_bot: MakeBot) -> None:
    bot = make_bot(name, M2)
    assert choose(bot, M2.start(), 0.0) in M2.moves(M2.start())


@pytest.mark.parametrize("name", NAMES)
def test_a_stop_ends_the_search(name: str, make_bot: MakeBot) -> None:
    """The time limit of the move is an hour, so that only the stop ends the search."""
    stop = Event()
    timer = Timer(0.05, stop.set)
    timer.start()
    assert choose(make_bot(name, M2), M2.start(), 3600.0, stop) in M2.moves(M2.start())
    timer.join()


@pytest.mark.parametrize(("spec", "threads"), [("jamboree", 2), ("jamboree:threads=3", 3)])
def test_jamboree_takes_the_threads_of_the_match_or_its_own(
    spec: str, threads: int, make_bot: MakeBot
) -> None:
    searcher = python_searcher(spec)
    assert searcher._pool is not None
    assert searcher._pool.thread_count == threads
    searcher.close()
    bot = make_bot(spec, M2)
    assert isinstance(bot, SearchingBot)
    assert isinstance(bot._searcher, Searcher)
    assert len(bot._searcher._memories) == threads


def winner(make_bot: MakeBot, game: AnyGame, maxie: str, minnie: str) -> Any:
    players = {seat: make_bot(spec, game, seat) for seat, spec in zip(Player, (maxie, minnie), strict=True)}
    position = game.start()
    while (over := game.outcome(position)) is None:
        move = choose(players[game.player(position)], position, 20.0)
        position = game.play(position, move)
    return over.winner


@pytest.mark.parametrize("name", ["alphabeta", "jamboree"])
def test_tictactoe_is_never_lost_and_drawn_against_itself(name: str, make_bot: MakeBot) -> None:
    assert winner(make_bot, TICTACTOE, name, name) is None
    assert winner(make_bot, TICTACTOE, name, "random:seed=1") is not Player.MINNIE
    assert winner(make_bot, TICTACTOE, "random:seed=1", name) is not Player.MAXIE


@pytest.mark.parametrize("name", NAMES)
def test_a_node_limit_makes_matches_reproducible(name: str, make_bot: MakeBot) -> None:
    """With a node limit, the time on the clock does not change the moves, values and nodes."""
    spec = f"{name}:nodes=400" + (",threads=1" if name == "jamboree" else "")
    matches = []
    for seconds in (20.0, 500.0):
        bots = {seat: make_bot(spec, M2, seat) for seat in Player}
        position, analyses = M2.start(), []
        for _ in range(8):
            bot = bots[M2.player(position)]
            move = choose(bot, position, seconds)
            assert bot.thinking is not None
            analyses.append((move, bot.thinking.value, bot.thinking.nodes))
            position = M2.play(position, move)
        matches.append(analyses)
    assert matches[0] == matches[1]


def test_nodes_end_a_search_in_python() -> None:
    searcher = python_searcher("minimax")
    last = list(searcher.deepen(M2.start(), max_nodes=500))[-1]
    assert last.nodes <= 500 < list(searcher.deepen(M2.start(), max_depth=last.depth + 1))[-1].nodes


def m2_position(ply: int, *, ahead: bool) -> RisklessPosition:
    """Return the start of m2 at the ply `ply`, with eight times the armies for Maxie if `ahead`, otherwise for Minnie."""
    armies = tuple(8 * n if (n > 0) is ahead else n for n in RISKLESS.start().armies)
    return RisklessPosition(armies, Player.MAXIE, ply)


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_third_repetition_is_avoided_when_ahead_and_sought_when_behind(
    name: str, make_bot: MakeBot, *, ahead: bool
) -> None:
    bot = make_bot(f"{name}:depth=2", M2)
    # After the bot has moved twice from the same position, the position after its move has also occurred twice.
    first, second, third = (choose(bot, m2_position(ply, ahead=ahead), 30.0) for ply in (0, 3, 6))
    assert first == second or ahead
    assert (third in (first, second)) is not ahead
    assert bot.thinking is not None
    assert bot.thinking.value is not None
    assert bot.thinking.value > 0 if ahead else bot.thinking.value == 0
    assert bot.thinking.line[0] == third


def test_moves_that_were_taken_back_do_not_repeat_a_position(make_bot: MakeBot) -> None:
    bot = make_bot("alphabeta:depth=2", M2)
    assert len({choose(bot, m2_position(4, ahead=True), 30.0) for _ in range(4)}) == 1
