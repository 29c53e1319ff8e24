"""The bots `alphabeta` and `jamboree` with the compiled search behind them, and without it."""

import subprocess
import sys

import pytest

from arena.bots.api.bot import Match
from arena.bots.api.engine_spec import ENGINES, parse_spec
from arena.bots.compiled.backend import CompiledBackend
from arena.bots.engines.searching import PythonBackend, make_backend
from arena.games.core import AnyGame, Player
from arena.maps.game_on_map import make_game_on_map

PROGRAM = """
import sys
sys.modules["numba"] = None
from arena.bots.engines.searching import make_backend
from arena.bots.api.bot import Match
from arena.bots.api.engine_spec import ENGINES, parse_spec
from arena.games.core import Player
from arena.maps.game_on_map import make_game_on_map
game = make_game_on_map()
backend = make_backend(parse_spec("alphabeta", ENGINES), Match(game, Player.MAXIE))
print(type(backend).__name__, [report.depth for report in backend.reports(game.start(), lambda: False, 2)])
"""


def closed_backend(spec: str, game: AnyGame) -> object:
    backend = make_backend(parse_spec(spec, ENGINES), Match(game, Player.MAXIE, threads=2))
    backend.close()
    return backend


@pytest.mark.parametrize(
    "spec", ["alphabeta", "jamboree", "jamboree:form=course,prune=0.2", "alphabeta:exact=yes"]
)
@pytest.mark.parametrize(
    "game", [make_game_on_map(), make_game_on_map("tictactoe")], ids=["riskless", "tictactoe"]
)
def test_both_games_are_searched_compiled(spec: str, game: AnyGame) -> None:
    assert isinstance(closed_backend(spec, game), CompiledBackend)


def test_the_courses_form_down_to_the_leaves_finds_the_value_and_move_of_alphabeta() -> None:
    game = make_game_on_map("riskless", "m2")
    position = game.start()
    for move in game.moves(position)[:1]:
        position = game.successor(position, move)
    found = []
    for spec in ("alphabeta:exact=yes", "jamboree:exact=yes,form=course,split_depth=1,threads=3"):
        backend = make_backend(parse_spec(spec, ENGINES), Match(game, Player.MINNIE))
        *_, last = backend.reports(position, lambda: False, 6)
        backend.close()
        found.append((last.depth, last.value, last.move))
    assert found[0] == found[1]


def test_minimax_is_the_reference() -> None:
    assert isinstance(closed_backend("minimax", make_game_on_map()), PythonBackend)


def test_a_map_that_is_too_large_is_searched_in_python_and_it_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert isinstance(closed_backend("alphabeta", make_game_on_map("riskless", "grid:9x8")), PythonBackend)
    errors = capsys.readouterr().err
    assert (
        errors
        == "alphabeta searches in Python: its compiled search does not support riskless with these rules and this size\n"
    )


def test_without_the_extra_the_reference_searches_and_one_line_says_so() -> None:
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert result.stdout == "PythonBackend [0, 1, 2]\n"
    assert result.stderr.count("\n") == 1
    assert "alphabeta searches in Python: its compiled search needs the extra `engine`" in result.stderr
