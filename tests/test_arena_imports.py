"""An author's folders may be called as the project's are, wherever they stand: neither breaks the other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena_imports import NAMES
from tests.bots.command_line import ARENA

FOLDERS = ("bots", "games", "maps", "server")

BOT = """
from arena import Bot

from bots.best import best
from games.liked import LIKED
from maps.deep.inside import DEEP
import server.mine


class Mine(Bot):
    def choose(self, position, clock):
        assert LIKED == DEEP == server.mine.IS == 1
        return best(self.game.moves(position))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An author's folder, whose packages of the project's names would break whoever took them for the project's."""
    for name in FOLDERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(
            "raise SystemExit('the wrong package')\n", encoding="utf-8"
        )
        (tmp_path / name / "core.py").write_text("raise SystemExit('the wrong module')\n", encoding="utf-8")
    (tmp_path / "bots" / "best.py").write_text("def best(moves):\n    return moves[0]\n", encoding="utf-8")
    (tmp_path / "games" / "liked.py").write_text("LIKED = 1\n", encoding="utf-8")
    (tmp_path / "maps" / "deep").mkdir()
    (tmp_path / "maps" / "deep" / "inside.py").write_text("DEEP = 1\n", encoding="utf-8")
    (tmp_path / "server" / "mine.py").write_text("IS = 1\n", encoding="utf-8")
    (tmp_path / "console.py").write_text("raise SystemExit('the wrong console')\n", encoding="utf-8")
    (tmp_path / "mine.py").write_text(BOT, encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str, **environment: str) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=55,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "path",
    [pytest.param("", marks=pytest.mark.soak), "."],
    ids=["beside the bot", "in the environment's path"],
)
def test_a_whole_match_is_played(path: str, folder: Path) -> None:
    told = run(
        folder, *ARENA, "match", "mine.py", "random", "--game", "tictactoe", "--rounds", "1", "--tc", "1/move",
        PYTHONPATH=str(folder) if path else "",
    )  # fmt: skip
    assert "mine" in told
    assert "2 pairs" not in told


def test_a_script_in_that_folder_uses_the_public_face(folder: Path) -> None:
    (folder / "script.py").write_text(
        "from arena import Bot, Game, Grid, Player, deepen\nimport games.core\n"
        "from bots.best import best\nprint(best([Player.MAXIE]), games.core.Game is Game)\n",
        encoding="utf-8",
    )
    assert run(folder, sys.executable, "script.py") == "maxie True\n"


def test_the_guard_knows_every_folder_of_the_project() -> None:
    root = Path(__file__).parents[1]
    packages = {each.parent.name for each in root.glob("*/__init__.py")} - {"tests", "testkit", "benchmarks"}
    modules = {each.stem for each in root.glob("*.py")} - {"arena", "arena_imports"}
    assert packages | modules == NAMES
