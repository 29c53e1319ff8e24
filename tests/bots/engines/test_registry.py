from pathlib import Path
from threading import Event
from time import monotonic

import pytest

from arena.bots.api.bot import Clock, request_move
from arena.bots.api.engine_spec import OPTIONS_BY_ENGINE, BadSpec
from arena.bots.engines.registry import find_incompatibility_reason, make_engine, require_valid_spec
from arena.games.core import AnyGame, Player
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.engines import EngineInfo
from tests.bots.engines.conftest import MakeBot

FREE = {"depth": "100", "evaluator": "features"}
GAMES = [
    make_game_on_map("tictactoe"),
    make_game_on_map("riskless", "path4"),
    make_game_on_map("riskless", "world"),
]


@pytest.mark.parametrize("game", GAMES, ids=["tictactoe", "path4", "world"])
@pytest.mark.parametrize("name", OPTIONS_BY_ENGINE)
def test_every_engine_plays_legally_in_both_seats(name: str, game: AnyGame, make_bot: MakeBot) -> None:
    position = game.start()
    if find_incompatibility_reason(name, game) is not None:
        assert name == "perfect", "it alone needs a table"
        return
    for seat in Player:
        bot = make_bot(name, game, seat)
        clock = Clock(mine=0.05, per_move=True, arrived=monotonic())
        move = request_move(bot, position, clock, Event())
        position = game.play(position, move)


def test_the_name_is_short_and_the_spec_is_kept(tmp_path: Path) -> None:
    engine = make_engine("alphabeta:depth=3")
    assert (engine.name, engine.spec) == ("alphabeta", "alphabeta:depth=3")
    file = tmp_path / "my_bot.py"
    file.write_text(
        "from arena.bots.api.bot import Bot\nclass A(Bot):\n    def choose(self, position, clock): ...\n"
    )
    engine = make_engine(f"{file}:A")
    assert (engine.name, engine.spec) == ("my_bot", f"{file}:A")


@pytest.mark.parametrize(
    ("spec", "cores", "info"),
    [
        ("random:seed=3", 16, EngineInfo("random", {"seed": "3"}, 1)),
        ("alphabeta", 16, EngineInfo("alphabeta", {"depth": "100", "evaluator": "features"}, 1)),
        ("jamboree:depth=4", 6, EngineInfo("jamboree", {"depth": "4", "evaluator": "features"}, 6)),
        ("jamboree:exact=yes,threads=3", 6, EngineInfo("jamboree", {**FREE, "exact": "yes"}, 3)),
        ("jamboree:form=course", 64, EngineInfo("jamboree", {**FREE, "form": "course", "prune": "0.5"}, 8)),
    ],
)
def test_an_engine_announces_its_options_and_threads(spec: str, cores: int, info: EngineInfo) -> None:
    """Options that only some forms of an engine know are reported only if the user set them."""
    assert make_engine(spec).describe(cores) == info


def test_only_the_name_of_a_file_is_shown(tmp_path: Path) -> None:
    file = tmp_path / f"{'long' * 30}.py"
    file.write_text(
        "from arena.bots.api.bot import Bot\nclass A(Bot):\n    def choose(self, position, clock): ...\n"
    )
    assert make_engine(str(file)).describe(16) == EngineInfo("long" * 16)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "stockfish",
            "no engine is called 'stockfish': choose from random, greedy, minimax, alphabeta, jamboree",
        ),
        ("randm", "no engine is called 'randm': did you mean \"random\"?"),
        ("randm", "(or give a file NAME.py)"),
        (
            "greedy:evaluator=nice",
            "greedy: evaluator must be plain, features, outcomes or a file NAME.toml or NAME.npz, not 'nice'",
        ),
        ("greedy:evaluator=none.toml", "greedy: weights file none.toml not found"),
        ("alphabeta:evaluator=none.npz", "alphabeta: weights file none.npz not found"),
        ("./bot", "no engine is called './bot'"),
        ("./bot.py", "./bot.py does not exist"),
    ],
)
def test_a_wrong_spec_is_reported_in_one_line(spec: str, message: str) -> None:
    with pytest.raises(BadSpec) as error:
        make_engine(spec)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("spec", ["exec:python bot.py", "image:registry.example/bot.py", "greedy"])
def test_the_command_of_a_program_is_not_taken_for_a_bots_file(spec: str, tmp_path: Path) -> None:
    require_valid_spec(spec, tmp_path)
    with pytest.raises(BadSpec, match=r"bot\.py does not exist"):
        require_valid_spec("bot.py", tmp_path)
