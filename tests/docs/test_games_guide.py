"""docs/games.md, typed word for word from an empty directory: class, check, matches, ladder, analysis, replay, server."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

import arena
from arena.games.core import Game
from tests.bots import command_line
from tests.bots.command_line import ARENA
from tests.games.own import EXAMPLES, forget_games

PAGE = (Path(__file__).parents[2] / "docs" / "games.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = [shlex.split(line)[1:] for line in re.findall(r"^arena .*$", PAGE, re.MULTILINE)]
SERVE = next(words for words in COMMANDS if words[0] == "serve")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def typed(*words: str) -> str:
    result = command_line.arena(*words)
    assert result.code == 0, result
    return result.stdout + result.stderr


def quick(words: list[str]) -> list[str]:
    """Return a command of the page with less time for each move."""
    return ["0.02/move" if word == "0.1/move" else word for word in words]


def test_the_guides_commands_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    forget_games(monkeypatch)
    assert [words[0] for words in COMMANDS] == [
        "check",
        "match",
        "ladder",
        "analyse",
        "replay",
        "serve",
        "maps",
    ]
    check, match, ladder, analyse, replay = (typed(*quick(words)) for words in COMMANDS[:5])
    assert "connect4: no fault was found in 100 random matches" in check
    assert "failed" not in check
    matches = [json.loads(line) for line in (folder / "four.jsonl").read_text(encoding="utf-8").splitlines()]
    # Beside a load a match may be lost on time, all of them even, and after few plies, or be void and played again.
    assert "(four in a row)" in match or "four_in_a_row" not in {each["result"]["reason"] for each in matches}
    assert "2 pairs" in match
    assert "minimax:depth=2" in ladder
    assert re.search(r"plays [a-g]1", analyse)
    assert f"{len(matches)} matches" in replay
    assert len(matches) >= 4
    longest = max(matches, key=lambda record: len(record["moves"]))
    plies = len(longest["moves"])
    stepped = typed(*COMMANDS[4], "--match", longest["match"][:8], "--ply", str(plies))
    assert f"ply {plies - 1}: {('maxie', 'minnie')[(plies - 1) % 2]}" in stepped
    assert "a b c d e f g" in stepped


@pytest.mark.slow
def test_other_rules_are_measured_on_a_map(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(EXAMPLES / "capitals.py", folder)
    monkeypatch.chdir(folder)
    forget_games(monkeypatch)
    quick = {"italy": "grid:3x2", "100": "2"}  # a hundred matches on a large map take half an hour
    fewer_nodes = {
        "DEFAULT_STRENGTHS_NODES_PER_MOVE": (20, 40, 80),
        "STRONG_NODES_PER_MOVE": 40,
        "WEAK_NODES_PER_MOVE": 20,
    }
    for name, nodes in fewer_nodes.items():
        monkeypatch.setattr(f"arena.lab.measure.{name}", nodes)
    shown = typed(*(quick.get(word, word) for word in COMMANDS[-1]), "--processes", "1")
    assert re.search(r"grid:3x2 +\| +50 +\| +75 ", shown), shown
    assert "capital" in shown


def test_the_server_has_it_and_refuses_a_bot_with_other_rules(folder: Path) -> None:
    server = subprocess.Popen(
        [*ARENA, *SERVE, "--port", "0"], cwd=folder, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        assert server.stderr is not None
        url = server.stderr.readline().split()[-1]
        with urlopen(f"{url.replace('ws', 'http', 1)}/api/about", timeout=500) as answer:
            assert "connect4" in json.load(answer)["games"]
        other = folder / "other"
        other.mkdir()
        changed = FILES["connect4.py"].replace("COLUMNS, ROWS = 7, 6", "COLUMNS, ROWS = 8, 6")
        (other / "connect4.py").write_text(changed, encoding="utf-8")
        words = ["bot", "greedy", "--url", url, "--game", "connect4.py:ConnectFour"]
        refused = subprocess.run(
            [*ARENA, *words], cwd=other, capture_output=True, text=True, check=False, timeout=500
        )
        assert refused.returncode == 1
        assert re.fullmatch(
            r"arena: .*connect4 has other rules there \(digest \w{16}\) than here \(digest \w{16}\).*\n",
            refused.stderr,
        ), refused.stderr
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=500)


def test_the_table_tells_of_every_method() -> None:
    told = set(re.findall(r"`([a-z_]+)(?:\([^`]*\))?`", PAGE))
    for name, value in vars(Game).items():
        if (
            not name.startswith("_")
            and (callable(value) or isinstance(value, classmethod))
            and name not in {"play", "play_even_if_over", "explain_illegal_move", "is_ply_limit_reached"}
        ):
            assert name in told, name


def test_the_face_that_the_page_uses_is_public() -> None:
    used = {
        name
        for line in re.findall(r"^from arena import (.*)$", PAGE, re.MULTILINE)
        for name in line.split(", ")
    }
    assert used
    assert used <= set(arena.__all__)
