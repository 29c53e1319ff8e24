"""bots.engines.searching: engines that search keep to their clock and never lose what is a draw."""

import time
from threading import Event, Timer
from typing import Any

import pytest

from bots.bot import Bot, Clock, Match, ask, begin
from bots.engines.registry import make_engine
from games.core import AnyGame, Player
from maps.setup import make_setup
from tests.bots.engines.test_registry import seated

NAMES = ["minimax", "alphabeta", "jamboree"]
TICTACTOE = make_setup("tictactoe")
M2 = make_setup()


def choose(bot: Bot, position: Any, seconds: float = 5.0, stop: Event | None = None) -> Any:
    clock = Clock(mine=seconds, per_move=True, arrived=time.monotonic())
    return ask(bot, position, clock, stop or Event())


@pytest.mark.parametrize("name", NAMES)
def test_a_win_is_taken_and_a_loss_is_stopped(name: str) -> None:
    bot = seated(name, TICTACTOE)
    assert choose(bot, TICTACTOE.position_from_text("XX.OO....")) == 2
    bot = seated(name, TICTACTOE, Player.MINNIE)
    assert choose(bot, TICTACTOE.position_from_text("XX..O....")) == 2
    assert bot.thinking is not None
    assert bot.thinking.line[0] == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_depth_is_kept_and_told(name: str) -> None:
    bot = seated(f"{name}:depth=2", M2)
    choose(bot, M2.start(), 30.0)
    assert bot.thinking is not None
    assert bot.thinking.depth == 2
    # Both depths together, each with its root: minimax visits all of it, the others less.
    first = M2.moves(M2.start())
    second = sum(len(M2.moves(M2.play(M2.start(), move))) for move in first)
    everything = 2 * (1 + len(first)) + second
    assert bot.thinking.nodes is not None
    assert bot.thinking.nodes == everything if name == "minimax" else bot.thinking.nodes <= everything


def test_all_three_play_the_same_move_at_a_depth() -> None:
    position = M2.start()
    for _ in range(6):
        specs = ("minimax:depth=3", "alphabeta:depth=3,exact=yes", "jamboree:depth=3,exact=yes")
        moves = {spec: choose(seated(spec, M2), position, 60.0) for spec in specs}
        assert len(set(moves.values())) == 1, moves
        position = M2.play(position, moves[specs[0]])


@pytest.mark.parametrize("name", NAMES)
def test_with_no_time_at_all_there_is_still_a_legal_move(name: str) -> None:
    bot = seated(name, M2)
    assert choose(bot, M2.start(), 0.0) in M2.moves(M2.start())


@pytest.mark.parametrize("name", NAMES)
def test_a_stop_ends_the_search(name: str) -> None:
    """The limit is far away: without the stop this test would run into its time limit."""
    stop = Event()
    timer = Timer(0.05, stop.set)
    timer.start()
    assert choose(seated(name, M2), M2.start(), 3600.0, stop) in M2.moves(M2.start())
    timer.join()


def test_jamboree_takes_the_threads_of_the_match_or_its_own() -> None:
    for spec, threads in (("jamboree:depth=1", 2), ("jamboree:depth=1,threads=3", 3)):
        bot = seated(spec, M2)
        assert bot._backend.threads == threads  # type: ignore[attr-defined]


def outcome(game: AnyGame, maxie: str, minnie: str) -> Any:
    players = {}
    for seat, spec in ((Player.MAXIE, maxie), (Player.MINNIE, minnie)):
        players[seat] = make_engine(spec).make()
        begin(players[seat], Match(game, seat))
        players[seat].prepare()
    position = game.start()
    while (over := game.outcome(position)) is None:
        move = choose(players[game.player(position)], position, 20.0)
        position = game.play(position, move)
    return over.winner


@pytest.mark.parametrize("name", ["alphabeta", "jamboree"])
def test_tictactoe_is_never_lost_and_drawn_against_itself(name: str) -> None:
    assert outcome(TICTACTOE, name, name) is None
    for seed in (1, 2):
        assert outcome(TICTACTOE, name, f"random:seed={seed}") is not Player.MINNIE
        assert outcome(TICTACTOE, f"random:seed={seed}", name) is not Player.MAXIE
