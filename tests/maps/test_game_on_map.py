import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from arena.games.catalogue import BUILT_IN_GAMES
from arena.games.core import UnknownGame
from arena.games.riskless import Riskless
from arena.ladder.plan import LadderPlan
from arena.maps.game_on_map import DEFAULT_MAP, make_game_on_map
from arena.maps.loader import MAPS_FOLDER, MapError, list_built_in_map_names, load_map
from arena.server.settings import PoolSettings


def test_riskless_is_played_on_the_map_that_was_named() -> None:
    game = make_game_on_map("riskless", "ring:8")
    assert isinstance(game, Riskless)
    assert game.map.territory_count == 8
    assert make_game_on_map().setup() == make_game_on_map("riskless", DEFAULT_MAP).setup()


@pytest.mark.parametrize("name", BUILT_IN_GAMES)
def test_every_game_has_a_setup_to_start_with(name: str) -> None:
    game = make_game_on_map(name)
    assert game.moves(game.start())


def test_an_unknown_map_is_reported() -> None:
    with pytest.raises(UnknownGame, match="no game is called 'chess': choose from"):
        make_game_on_map("chess")
    with pytest.raises(MapError, match="no such map"):
        make_game_on_map("riskless", "nowhere")


@pytest.mark.parametrize("name", ["m2", "grid:5x7"])
def test_a_game_is_made_once_however_often_its_map_is_named(name: str) -> None:
    assert make_game_on_map("riskless", name) is make_game_on_map("riskless", name)
    assert make_game_on_map("riskless", "grid:05X7") is make_game_on_map("riskless", "grid:5x7")


def test_a_map_from_a_file_is_read_again_each_time(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text((MAPS_FOLDER / "m2.toml").read_text())
    assert make_game_on_map("riskless", str(file)) is not make_game_on_map("riskless", str(file))


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("arena.bots.commands.play", "play"),
        ("arena.bots.commands.analyse", "analyse"),
        ("arena.ladder.commands.ladder", "ladder_command"),
        ("arena.ladder.commands.match", "match_command"),
    ],
)
def test_every_command_begins_on_the_same_map(module: str, command: str) -> None:
    function = getattr(import_module(module), command)
    assert inspect.signature(function).parameters["map"].default == DEFAULT_MAP


def test_a_ladder_a_pool_and_the_containers_begin_on_the_same_map() -> None:
    assert LadderPlan(()).maps == PoolSettings().maps == (DEFAULT_MAP,)
    compose = (Path(__file__).parents[2] / "docker-compose.yml").read_text()
    assert set(re.findall(r"\$\{MAP:-([^}]*)\}", compose)) == {""}, "the containers leave it to the ladder"


def test_the_default_map_is_a_quick_one() -> None:
    assert DEFAULT_MAP in list_built_in_map_names()
    assert 12 <= load_map(DEFAULT_MAP).territory_count <= 25
