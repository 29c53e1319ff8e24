"""`arena new`."""

from pathlib import Path

from arena.bots.api.bot import Match
from arena.bots.client.local_match import LocalMatch
from arena.bots.engines.from_file import load_bot_class
from arena.games.core import Player
from arena.maps.game_on_map import make_game_on_map
from tests.bots.command_line import arena, fails


def test_it_is_short_and_plays(tmp_path: Path) -> None:
    file = tmp_path / "my_bot.py"
    assert arena("new", file).code == 0
    assert len(file.read_text().splitlines()) < 20
    made = load_bot_class(str(file))
    assert made.__name__ == "MyBot"
    for name, map_ in (("tictactoe", ""), ("hexapawn", ""), ("riskless", "path4")):
        game = make_game_on_map(name, map_) if map_ else make_game_on_map(name)
        local = LocalMatch(made, Match(game, Player.MAXIE))
        local.play_bot_move()
        local.end_and_close_bot()
        assert len(local.moves) == 1


def test_it_takes_the_win_from_either_seat(tmp_path: Path) -> None:
    file = tmp_path / "winner.py"
    arena("new", file)
    game = make_game_on_map("tictactoe")
    for seat, moves in ((Player.MAXIE, [0, 3, 1, 4]), (Player.MINNIE, [0, 3, 1, 4, 8])):
        bot = load_bot_class(str(file))()
        bot.match = Match(game, seat)
        position = game.start()
        for move in moves:
            position = game.play(position, move)
        outcome = game.outcome(game.play(position, bot.choose(position, None)))  # type: ignore[arg-type]
        assert outcome is not None
        assert outcome.winner is seat


def test_the_class_is_named_after_the_file(tmp_path: Path) -> None:
    for file, name in (
        ("bot.py", "MyBot"),
        ("deepRed.py", "DeepRed"),
        ("1.py", "MyBot"),
        ("a-b_c.py", "ABC"),
        ("none.py", "MyBot"),
        ("my first.py", "MyFirst"),
    ):
        arena("new", tmp_path / file)
        assert load_bot_class(str(tmp_path / file)).__name__ == name


def test_the_suggested_commands_work(tmp_path: Path) -> None:
    file = tmp_path / "my first.py"
    assert f"arena match '{file}' random --rounds 1" in arena("new", file).stderr
    assert "arena match 'my first.py' random" in file.read_text()


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "my_bot.py"
    file.write_text("mine")
    fails("already exists", 1, "new", file)
    fails("arena.py would hide the package arena", 2, "new", file.with_name("arena.py"))
    assert file.read_text() == "mine"
    link = tmp_path / "link.py"
    link.symlink_to("missing.py")
    fails("already exists", 1, "new", link)
    assert not (tmp_path / "missing.py").exists()
    fails("ends in .py", 2, "new", tmp_path / "my_bot")
    fails("cannot write", 2, "new", tmp_path / "no" / "my_bot.py")
