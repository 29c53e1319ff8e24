"""The engines `alphabeta` and `jamboree` play with the compiled search, and without it."""

import subprocess
import sys

import pytest

from arena.bots.api.bot import Match
from arena.bots.api.engine_spec import OPTIONS_BY_ENGINE, parse_spec
from arena.bots.compiled.searcher import Searcher
from arena.bots.engines.searching import make_searcher
from arena.bots.search.deepening import PythonSearcher
from arena.games.core import AnyGame, Player
from arena.maps.game_on_map import make_game_on_map

PROGRAM = """
import sys
sys.modules["numba"] = None
from arena.bots.engines.searching import make_searcher
from arena.bots.api.bot import Match
from arena.bots.api.engine_spec import OPTIONS_BY_ENGINE, parse_spec
from arena.games.core import Player
from arena.maps.game_on_map import make_game_on_map
game = make_game_on_map()
searcher = make_searcher(parse_spec("alphabeta", OPTIONS_BY_ENGINE), Match(game, Player.MAXIE))
print(type(searcher).__name__, [report.depth for report in searcher.deepen(game.start(), max_depth=2)])
"""


def closed_searcher(spec: str, game: AnyGame) -> object:
    searcher = make_searcher(parse_spec(spec, OPTIONS_BY_ENGINE), Match(game, Player.MAXIE, threads=2))
    searcher.close()
    return searcher


@pytest.mark.parametrize(
    "spec", ["alphabeta", "jamboree", "jamboree:form=course,prune=0.2", "alphabeta:exact=yes"]
)
@pytest.mark.parametrize(
    "game", [make_game_on_map(), make_game_on_map("tictactoe")], ids=["riskless", "tictactoe"]
)
def test_both_games_are_searched_compiled(spec: str, game: AnyGame) -> None:
    assert isinstance(closed_searcher(spec, game), Searcher)


def test_minimax_is_the_reference() -> None:
    assert isinstance(closed_searcher("minimax", make_game_on_map()), PythonSearcher)


def test_a_map_that_is_too_large_is_searched_in_python_with_a_message(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert isinstance(closed_searcher("alphabeta", make_game_on_map("riskless", "grid:9x8")), PythonSearcher)
    errors = capsys.readouterr().err
    assert (
        errors
        == "alphabeta searches in Python: its compiled search does not support riskless with these rules and this size\n"
    )


def test_without_the_extra_the_reference_searches_with_a_message() -> None:
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert result.stdout == "PythonSearcher [0, 1, 2]\n"
    assert result.stderr.count("\n") == 1
    assert "alphabeta searches in Python: its compiled search needs the extra `engine`" in result.stderr
