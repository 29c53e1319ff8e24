"""The wheel, installed with only the libraries that it requires: it adds one import name, and is complete and typed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.bots.command_line import LIST_LOADED

ROOT = Path(__file__).parents[1]

SHADOWS = (
    "bots",
    "check",
    "console",
    "cores",
    "games",
    "ladder",
    "maps",
    "match",
    "processes",
    "protocol",
    "rating",
    "server",
)
"""Names of project folders that a user's own modules or a published package may also have."""

BOT = """
import random
{imports}
from arena import Bot

class Mine(Bot):
    def choose(self, position, clock):
        {check}
        return random.choice(self.game.moves(position))
"""


class Environment:
    """Virtual environment with the wheel, and links to the installed libraries that the wheel needs with some extras."""

    def __init__(self, folder: Path, *extras: str) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        (self.site,) = folder.glob("lib/python*/site-packages")
        self.added = set(self.names())
        (metadata,) = self.site.glob("riskless_arena-*.dist-info")
        for library in needed(Distribution.at(metadata), set(extras)):
            self._link(library)

    def names(self) -> list[str]:
        """Return the names of everything in site-packages."""
        return [path.name for path in self.site.iterdir()]

    def _link(self, library: Distribution) -> None:
        tops = {file.parts[0] for file in library.files or ()} - {"..", "__pycache__"}
        for top in tops:
            link = self.site / top
            if not link.exists():
                link.symlink_to(Path(str(library.locate_file(top))))

    def run(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run Python in this environment, without the variables of the environment that runs the tests."""
        table = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
        return subprocess.run(
            [self.python, *words],
            cwd=cwd,
            env={**table, "PATH": f"{self.python.parent}:{os.defpath}", "COLUMNS": "200", "NO_COLOR": "1"},
            check=False,
            capture_output=True,
            text=True,
            timeout=500,
        )


def needed(root: Distribution, extras: set[str]) -> list[Distribution]:
    """Return the installed distributions that `root` needs with these extras, directly or indirectly, by their metadata."""
    packages: dict[str, Distribution] = {}
    asked: set[tuple[str, str]] = set()
    waiting = [(root, extra) for extra in {"", *extras}]
    while waiting:
        one, extra = waiting.pop()
        for line in one.requires or ():
            wanted = Requirement(line)
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
                continue
            name = canonicalize_name(wanted.name)
            library = root if name == canonicalize_name(root.name) else distribution(name)
            packages[name] = library
            fresh = {(name, each) for each in ("", *wanted.extras)} - asked
            asked |= fresh
            waiting += [(library, each) for _, each in fresh]
    return [library for library in packages.values() if library is not root]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=500)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return the environment that `pip install riskless-arena` creates."""
    folder = tmp_path_factory.mktemp("plain") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=500)
    python = folder / "bin" / "python"
    pip = ("-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    subprocess.run([sys.executable, *pip], check=True, timeout=500)
    return Environment(folder)


@pytest.fixture(scope="module")
def server(plain: Environment, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return the environment that `pip install "riskless-arena[server]"` creates: the plain one, with more libraries."""
    folder = tmp_path_factory.mktemp("server") / "env"
    shutil.copytree(plain.folder, folder, symlinks=True)
    (folder / "bin" / "arena").unlink()  # this script would start the Python of the plain environment
    return Environment(folder, "server")


def write_modules(folder: Path, names: Sequence[str] = SHADOWS, *, of: str) -> None:
    """Write a module or package of each name, whose constant OWNER is `of`."""
    for number, name in enumerate(names):
        file = folder / f"{name}.py" if number % 2 else folder / name / "__init__.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"OWNER = {of!r}\n")


def test_it_adds_one_import_name_and_its_metadata(plain: Environment) -> None:
    assert sorted(name.partition("-")[0] for name in plain.added) == ["arena", "riskless_arena"]


def test_the_wheel_has_all_files_read_at_run_time(plain: Environment) -> None:
    for file in ("py.typed", "maps/m2.toml", "page/index.html", "protocol/PROTOCOL.md"):
        assert (plain.site / "arena" / file).is_file(), file


@pytest.mark.parametrize("first", ["own", "arena"])
def test_modules_beside_a_bot_are_its_own(plain: Environment, tmp_path: Path, first: str) -> None:
    write_modules(tmp_path, of="the author")
    own = f"import {', '.join(SHADOWS)}"
    faces = "import arena.cli, arena.bots.client.client; from arena import Bot, Game, Thinking"
    order = [own, faces] if first == "own" else [faces, own]
    owners = f"print({{each.OWNER for each in ({', '.join(SHADOWS)})}}, Bot.__module__)"
    (tmp_path / "mine.py").write_text("\n".join([*order, owners]))
    result = plain.run("mine.py", cwd=tmp_path)
    assert result.stdout == "{'the author'} arena.bots.api.bot\n", result.stderr


def test_a_bot_among_modules_of_its_own_keeps_the_protocol(plain: Environment, tmp_path: Path) -> None:
    write_modules(tmp_path, of="the author")
    check = "assert games.OWNER == server.OWNER == 'the author'"
    (tmp_path / "mine.py").write_text(BOT.format(imports="import games, server", check=check))
    result = plain.run("-m", "arena", "check", "mine.py", cwd=tmp_path)
    assert result.returncode == 0, result


def test_a_match_is_played_among_other_modules_of_these_names(server: Environment, tmp_path: Path) -> None:
    """Some of these modules are installed packages, and some lie beside the bot's file."""
    published, own = SHADOWS[:5], SHADOWS[5:]
    write_modules(server.site, published, of="a publisher")
    write_modules(tmp_path, own, of="the author")
    check = "assert (console.OWNER, match.OWNER) == ('a publisher', 'the author')"
    (tmp_path / "mine.py").write_text(BOT.format(imports="import console, match", check=check))
    words = ("match", "mine.py", "random", "--game", "tictactoe", "--rounds", "1", "--record", "played")
    result = server.run("-m", "arena", *words, cwd=tmp_path)
    assert result.returncode == 0, result
    played = (tmp_path / "played").read_text()
    assert played.count('"reason":"line"') + played.count('"reason":"board_full"') == 2, (
        result.stderr + played
    )


def test_a_strict_type_checker_sees_a_bot_typed(plain: Environment, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from arena import Bot, Clock\n\n\n"
        "class Mine(Bot):\n"
        "    def choose(self, position: object, clock: Clock) -> object:\n"
        "        reveal_type(clock.mine)\n"
        "        return self.game.nothing_of_the_kind(position)\n"
    )
    checked = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull),
            *("--python-executable", plain.python, "--cache-dir", tmp_path / "cache", "mine.py"),
        ],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert 'mine.py:6: note: Revealed type is "float"' in checked.stdout.replace("builtins.", ""), checked
    assert 'has no attribute "nothing_of_the_kind"' in checked.stdout
    assert checked.stdout.count(": error: ") == 1, checked.stdout


def test_the_plain_package_has_all_that_a_bot_author_needs(plain: Environment, tmp_path: Path) -> None:
    runs = [
        *(["bot", "--help"], ["play", "--help"], ["new", "my_bot.py"], ["trace", "HandoutBig", "alphabeta"]),
        *(["maps", "list"], ["analyse", "--map", "m2", "--depth", "2"]),
    ]
    result = plain.run("-c", LIST_LOADED, json.dumps(runs), cwd=tmp_path)
    ended_well = [line for line in result.stderr.splitlines() if line.startswith("loaded: ")]
    assert len(ended_well) == len(runs), result.stderr


def test_the_plain_package_installs_no_hosts_libraries(plain: Environment, tmp_path: Path) -> None:
    results = {name.partition("-")[0].lower() for name in plain.names()}
    assert not results & {"sqlalchemy", "aiosqlite", "pil", "prometheus_client", "numpy", "uvloop"}
    assert {"websockets", "anyio", "msgpack", "msgspec", "typer", "rich"} <= results
    result = plain.run("-m", "arena", "serve", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == 'arena: "serve" needs the server extra: pip install "riskless-arena[server]"\n'


def test_the_command_and_the_module_do_the_same(plain: Environment, tmp_path: Path) -> None:
    command = subprocess.run(
        [plain.python.parent / "arena", "--version"], check=True, capture_output=True, text=True, timeout=500
    )
    assert plain.run("-m", "arena", "--version", cwd=tmp_path).stdout == command.stdout == "arena 0.1.0\n"
