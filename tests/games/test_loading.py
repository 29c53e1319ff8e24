from __future__ import annotations

import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from threading import Barrier

import pytest

from arena.games.basics import BadGame
from arena.games.loading import is_file_spec, load_game_class_from_file, split_file_spec
from tests.games.own import nim


def test_a_file_spec_names_a_file_and_perhaps_a_class() -> None:
    assert split_file_spec("a/b.py:C") == ("a/b.py", "C")
    assert split_file_spec("a/b.py") == ("a/b.py", "")
    assert is_file_spec("C:x.py")
    assert not is_file_spec("hexapawn:width=4")


def test_the_class_in_a_file_is_the_game(tmp_path: Path) -> None:
    game = load_game_class_from_file(nim(tmp_path), "")
    assert game is load_game_class_from_file(nim(tmp_path), "Nim"), (
        "a file is run once, however its class is named"
    )
    assert game.name == "nim"
    assert game().moves(game().start()) == (1, 2, 3)


def test_parallel_threads_load_the_same_class(tmp_path: Path) -> None:
    file = nim(tmp_path, ("class Nim(Game)", "import time\n\ntime.sleep(0.05)\n\n\nclass Nim(Game)"))
    together = Barrier(2)

    def load() -> type[object]:
        together.wait(500)
        return load_game_class_from_file(file, "Nim")

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(load), pool.submit(load)
    assert first.result() is second.result()


@pytest.mark.parametrize(
    ("changes", "wanted", "why"),
    [
        ([("class Nim(Game)", "class Nim")], "", "has no game: write a subclass of Game"),
        ([], "Nimm", "has no game called 'Nimm': choose from Nim"),
        ([("    def moves", "    def no_moves")], "", "Nim must define moves"),
        ([('    name = "nim"', "")], "", "needs a name of lowercase letters"),
        ([('"nim"', '"N i m"')], "", "needs a name of lowercase letters"),
        (
            [("return Heap(self.size, 0)", "return Heap(self.sise, 0)")],
            "",
            r"Nim\.from_setup\(\{\}\)\.start\(\) failed: AttributeError",
        ),
        (
            [("class Nim(Game)", "1 / 0\nclass Nim(Game)")],
            "",
            r"line \d+: ZeroDivisionError: division by zero",
        ),
        ([("class Nim(Game)", "class Nim(Game")], "", r"line \d+: SyntaxError"),
    ],
)
def test_a_file_without_a_usable_game_is_refused_in_one_line(
    changes: list[tuple[str, str]], wanted: str, why: str, tmp_path: Path
) -> None:
    file = nim(tmp_path, *changes)
    with pytest.raises(BadGame, match=why) as told:
        load_game_class_from_file(file, wanted)
    assert str(file) in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_with_several_games_needs_a_name(tmp_path: Path) -> None:
    file = nim(tmp_path)
    file.write_text(
        f'{file.read_text(encoding="utf-8")}\n\nclass Large(Nim):\n    name = "large"\n    size = 99\n',
        encoding="utf-8",
    )
    with pytest.raises(BadGame, match=r"has 2 games: choose one of Nim, Large, as in nim\.py:Nim"):
        load_game_class_from_file(file, "")
    assert load_game_class_from_file(file, "Large").name == "large"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadGame, match="does not exist"):
        load_game_class_from_file(tmp_path / "none.py", "")


def test_the_games_of_an_installed_package_are_found(tmp_path: Path) -> None:
    """The package is a real distribution on `sys.path`, found by `importlib.metadata`."""
    own = tmp_path / "own_nim-1.0.dist-info"
    own.mkdir()
    (own / "METADATA").write_text("Metadata-Version: 2.1\nName: own-nim\nVersion: 1.0\n", encoding="utf-8")
    points = "[arena.games]\nnim = nim:Nim\nlost = nothing:Here\nother = nim:Nim\nno = nim:Heap\nBad Name = nim:Nim\n"
    (own / "entry_points.txt").write_text(points, encoding="utf-8")
    nim(tmp_path)
    code = """
from arena.games.catalogue import CATALOGUE, make_game
from arena.games.core import GameError
print(CATALOGUE.list_game_names())
print(make_game("nim", {}).start(), CATALOGUE.get_game_spec("nim"))
for name in ("lost", "other", "no"):
    try:
        make_game(name, {})
    except GameError as error:
        print(error)
"""
    lines = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
    ).stdout.splitlines()
    assert lines[0] == "['tictactoe', 'riskless', 'hexapawn', 'lost', 'nim', 'no', 'other']"
    assert lines[1] == "Heap(left=9, ply=0) nim"
    assert lines[2].startswith(
        "the game lost of own-nim (nothing:Here) cannot be loaded: ModuleNotFoundError"
    )
    assert lines[3].endswith(
        "is called 'nim', but its entry point is called 'other': give both the same name"
    )
    assert lines[4].endswith("must be a subclass of Game")
    assert metadata.version("riskless-arena")


def test_the_files_beside_a_game_come_before_those_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editable installation has the folders of the checkout, such as `games`, on `sys.path`."""
    checkout, own = tmp_path / "checkout", tmp_path / "own"
    for folder, text in ((checkout, "SIZE = 1"), (own, "SIZE = 5")):
        folder.mkdir()
        (folder / "rules_of_nim.py").write_text(text)
    monkeypatch.setattr(sys, "path", [*sys.path, str(checkout)])
    file = nim(own, ("class Nim(Game)", "from rules_of_nim import SIZE\n\n\nclass Nim(Game)"))
    try:
        assert vars(sys.modules[load_game_class_from_file(file, "").__module__])["SIZE"] == 5
    finally:
        sys.modules.pop("rules_of_nim", None)


def test_the_files_beside_a_game_replace_no_installed_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    load_game_class_from_file(nim(tmp_path), "")
    path = sys.path
    assert path.index(str(tmp_path)) > path.index(sysconfig.get_path("purelib"))
    assert path.index(str(tmp_path)) > path.index(sysconfig.get_path("stdlib"))
