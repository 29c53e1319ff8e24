import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.bots.api.bot import Bot
from arena.bots.api.engine_spec import BadSpec
from arena.bots.engines.from_file import load_bot_class, make_engine_name
from arena.games.loading import is_file_spec

GOOD = """\
from arena.bots.api.bot import Bot

class {name}(Bot):
    def choose(self, position, clock):
        return self.game.moves(position)[0]
"""


def write_file(folder: Path, text: str, name: str = "my_bot.py") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_spec_names_a_file_or_a_class_in_it() -> None:
    assert is_file_spec("a/my_bot.py")
    assert is_file_spec("my_bot.py:MyBot")
    assert not is_file_spec("alphabeta:depth=3")
    assert not is_file_spec("minimax")
    assert make_engine_name("there/my_bot.py:MyBot") == make_engine_name("my_bot.py") == "my_bot"


def test_the_one_bot_of_a_file_is_found(tmp_path: Path) -> None:
    bot = load_bot_class(write_file(tmp_path, GOOD.format(name="Mine")))
    assert issubclass(bot, Bot)
    assert bot.__name__ == "Mine"


def test_a_file_with_several_bots_needs_a_name(tmp_path: Path) -> None:
    file = write_file(tmp_path, GOOD.format(name="One") + GOOD.format(name="Two"))
    assert load_bot_class(f"{file}:Two").__name__ == "Two"
    with pytest.raises(BadSpec, match=r"has 2 bots: choose one of One, Two, as in .*my_bot\.py:One"):
        load_bot_class(file)
    with pytest.raises(BadSpec, match="has no bot called 'Three': choose from One, Two"):
        load_bot_class(f"{file}:Three")


def test_a_shared_base_that_cannot_choose_does_not_count(tmp_path: Path) -> None:
    text = "from arena.bots.api.bot import Bot\nclass Base(Bot):\n    pass\n" + GOOD.format(
        name="Mine"
    ).replace("(Bot)", "(Base)")
    assert load_bot_class(write_file(tmp_path, text)).__name__ == "Mine"


def test_an_imported_bot_does_not_count(tmp_path: Path) -> None:
    text = "from arena.bots.engines.simple import GreedyBot\nclass Mine(GreedyBot):\n    pass\n"
    assert load_bot_class(write_file(tmp_path, text)).__name__ == "Mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "has no bot: write a subclass of Bot (`from arena import Bot`)"),
        ("from arena.bots.api.bot import Bot\nclass Mine(Bot):\n    pass\n", "Mine has no method choose"),
        ("import os\nx = 1 +\n", "line 2: SyntaxError: invalid syntax"),
        ("a = 1\nb = nothing\n", "line 2: NameError: name 'nothing' is not defined"),
        ("def f():\n    raise KeyError('k')\n\nf()\n", "line 2: KeyError: 'k'"),
        (
            "import missing_module_of_mine\n",
            "line 1: ModuleNotFoundError: No module named 'missing_module_of_mine'",
        ),
        ("import sys\nsys.exit(4)\n", "line 2: SystemExit: 4"),
        ("\0", "ource code"),
        (
            GOOD.format(name="Mine").replace(", clock", ""),
            "Mine.choose must be choose(self, position, clock), not choose(self, position)",
        ),
        (
            GOOD.format(name="Mine").replace("def choose", "async def choose"),
            "Mine.choose must be a plain method: write def, not async def",
        ),
        (
            GOOD.format(name="Mine") + "\n    def ended(self):\n        pass\n",
            "Mine.ended must be ended(self, ending), not ended(self)",
        ),
        (
            GOOD.format(name="Mine") + "\n    def __init__(self, depth):\n        pass\n",
            "Mine must be callable without arguments: missing a required argument",
        ),
    ],
)
def test_an_error_names_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    file = write_file(tmp_path, text)
    with pytest.raises(BadSpec) as error:
        load_bot_class(file)
    assert str(error.value).startswith(file)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadSpec, match=r"none\.py does not exist: give the path of a Python file"):
        load_bot_class("none.py")
    folder = tmp_path / "folder.py"
    folder.mkdir()
    with pytest.raises(BadSpec, match=r"folder\.py is not a file"):
        load_bot_class(str(folder))


def test_it_loads_from_a_folder_with_files_of_any_name(tmp_path: Path) -> None:
    """A bot's file may be named like a module of Python, and lie beside files named like modules of the project."""
    for trap in (
        "bots",
        "games",
        "maps",
        "protocol",
        "server",
        "console",
        "cores",
        "arena",
        "typing",
        "typer",
        "helper",
    ):
        (tmp_path / f"{trap}.py").write_text("raise RuntimeError('the wrong module')\n")
    (tmp_path / "helper.py").write_text("answer = 42\n")
    text = "import random, helper\nassert helper.answer == 42 and random.randint\n" + GOOD.format(name="Mine")
    write_file(tmp_path, text, "random.py")
    code = "import arena, sys; from arena.bots.engines.registry import make_engine; print(make_engine('random.py').make_bot().choose)"
    result = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert result.stderr == ""
    assert "Mine.choose" in result.stdout
