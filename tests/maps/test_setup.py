from pathlib import Path

import pytest

from games.catalogue import GAMES
from games.core import UnknownGame
from games.riskless import Riskless
from maps.loader import SHIPPED, MapError
from maps.setup import make_setup


def test_riskless_is_played_on_the_map_that_was_named() -> None:
    game = make_setup("riskless", "ring:8")
    assert isinstance(game, Riskless)
    assert game.map.size == 8
    assert make_setup().setup() == make_setup("riskless", "m2").setup()


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_a_setup_to_start_with(name: str) -> None:
    game = make_setup(name)
    assert game.moves(game.start())


def test_what_is_not_known_is_told() -> None:
    with pytest.raises(UnknownGame, match="no game is called 'chess': there are"):
        make_setup("chess")
    with pytest.raises(MapError, match="no such map"):
        make_setup("riskless", "nowhere")


@pytest.mark.parametrize("name", ["m2", "grid:5x7"])
def test_a_game_is_made_once_however_often_its_map_is_named(name: str) -> None:
    assert make_setup("riskless", name) is make_setup("riskless", name)
    assert make_setup("riskless", "grid:05X7") is make_setup("riskless", "grid:5x7")


def test_a_map_of_ones_own_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text((SHIPPED / "m2.toml").read_text())
    assert make_setup("riskless", str(file)) is not make_setup("riskless", str(file))
