"""Bad input to every command: the error in one line, the exit code, and that no file is written."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from arena.cli import main
from arena.lab.commands import maps
from arena.ladder.commands import play_plan
from arena.ladder.ladder import Ladder
from arena.processes.bot_process import RestartPolicy
from arena.server.commands import hosting
from arena.server.shell.house_processes import HouseEnginePlan
from tests.bots.command_line import fails, keep_switch_interval

MISUSE, FAILURE = 2, 1
BOT_START_TIMEOUT_SECONDS = 500
"""Seconds in which a bot must report its error: long, because a busy machine starts a bot slowly."""

FILES = {
    "broken.toml": 'name = "x\n',
    "empty.toml": "",
    "map.toml": "territory_cap = 5\n",
    "empty.jsonl": "",
    "junk.jsonl": '{"format": "arena-record/9"}\n',
    "rounds.toml": 'rounds = 0\n[[bots]]\nengine = "a"\n[[bots]]\nengine = "b"',
    "house.toml": '[house]\nengines = ["nonsense"]\n',
    "chess.toml": 'game = "chess"\n[[bots]]\nengine = "greedy"\n[[bots]]\nengine = "random"\n',
    "nobot.py": "x = 1\n",
    "raises.py": "1 / 0\n",
}

BAD = [
    (["ladder", "--game", "chess"], MISUSE, ["chess", "riskless"]),
    (["ladder", "--map", "atlantis"], MISUSE, ["atlantis", "world"]),
    (["ladder", "--tc", "soon"], MISUSE, ["soon", "10+0.1"]),
    (["ladder", "--rounds", "0"], MISUSE, ["arena: --rounds: must be at least 1"]),
    (["ladder", "--rounds", "x"], MISUSE, ["arena: --rounds: must be a whole number"]),
    (["bot", "greedy", "--wait", "1s"], MISUSE, ["arena: --wait: must be a number"]),
    (["match", "greedy", "random", "--margin", "60001"], MISUSE, ["--margin: must be at most 60000"]),
    (["ladder", "--format", "swis"], MISUSE, ["--format", "swis", "swiss"]),
    (["ladder", "--game", "tictactoe", "--map", "world"], MISUSE, ["--map: tictactoe has no maps"]),
    (["match", "greedy", "random", "--game", "tictactoe", "--map", "italy"], MISUSE, ["has no maps"]),
    (["analyse", "--game", "hexapawn:width=4", "--map", "italy"], MISUSE, ["--map: hexapawn:width=4 has no"]),
    (["play", "--game", "tictactoe", "--map", "italy"], MISUSE, ["--map: tictactoe has no maps"]),
    (
        ["event", "new", "cup", "--at", "20:00", "--game", "tictactoe", "--map", "italy"],
        MISUSE,
        ["--map: tictactoe has no maps"],
    ),
    (
        ["ladder", "--html", "no/such/x.html"],
        MISUSE,
        ["--html: cannot write no/such/x.html: folder no/such does not exist; create it first"],
    ),
    (["match", "greedy", "random", "--csv", "no/x.csv"], MISUSE, ["--csv: cannot write no/x.csv"]),
    (["analyse", "--json", "."], MISUSE, ["--json: . is a folder: name a file"]),
    (["trace", "Intro", "minimax", "--svg", "-", "--json", "-"], MISUSE, ["another option names - too"]),
    (["tune", "--out", "no/w.toml"], MISUSE, ["--out: cannot write no/w.toml"]),
    (["maps", "list", "--json", 300 * "x"], MISUSE, ["--json: cannot write xxx", "File name too long"]),
    (["ladder", "--db", f"sqlite:///{300 * 'x'}/a.db"], FAILURE, ["File name too long"]),
    (["play", 300 * "x"], MISUSE, ["xxx"]),
    (["tune", "--out", "-"], MISUSE, ["--out -: give a file"]),
    (["openings", "make", "--output", "no/o.txt"], MISUSE, ["--output: cannot write no/o.txt"]),
    (["new", "no/b.py"], MISUSE, ["cannot write no/b.py"]),
    (["play", "."], MISUSE, [". is a folder: give a Python file in it, such as bot.py"]),
    (["play", "random", "--seat", "bob"], MISUSE, ["arena: --seat: 'bob' is not one of 'maxie', 'minnie'"]),
    (["ladder", "chess.toml"], MISUSE, ["chess.toml: game: no game is called 'chess'"]),
    (["ladder", "none.toml"], MISUSE, ["none.toml"]),
    (["ladder", "broken.toml"], MISUSE, ["broken.toml", "line 1"]),
    (["ladder", "--record", "no/such/folder/x.jsonl"], MISUSE, ["folder no/such/folder does not exist"]),
    (["ladder", "--db", "mysql://x"], FAILURE, ["mysql", "sqlite"]),
    (["match", "alphabeta", "random", "--sprt", "elo0=x"], MISUSE, ["elo0"]),
    (["ladder", "rounds.toml"], MISUSE, ["rounds.toml:1: rounds: expected a whole number >= 1"]),
    (
        ["ladder", "--bot", "greedy"],
        MISUSE,
        ["a ladder needs at least two bots; give --bot once for each"],
    ),
    (["ladder", "--adjudicate", "repetition=1"], MISUSE, ["--adjudicate: repetition: Expected `int` >= 2"]),
    (["ladder", "--openings", "none.txt"], MISUSE, ["none.txt: No such file or directory"]),
    (
        ["serve", "--set", "matches.adjudicate=repeats=3"],
        MISUSE,
        ["--set matches.adjudicate: unknown rule 'repeats'; the rules are win, draw"],
    ),
    (
        ["play", "greedy", "--adjudicate", "moves=4"],
        MISUSE,
        ["--adjudicate: moves: has an effect only with win"],
    ),
    (["match", "greedy", "random", "--name-b", "greedy"], MISUSE, ["both would be called 'greedy'"]),
    (["match", "greedy", "random", "--name-a", "a#b"], MISUSE, ["--name-a: 'a#b' is not a valid name"]),
    (["match", "greedy", "random", "--tc-b", "soon"], MISUSE, ["--tc-b: 'soon' is not a time control"]),
    (["match", "greedy", "command:"], MISUSE, ["command: must be followed by a program and its arguments"]),
    (
        ["match", "greedy", "random", "--sprt", "elo0=5,elo1=0"],
        MISUSE,
        ["--sprt: elo0 must be less than elo1"],
    ),
    (["ladder", "--external", "1"], MISUSE, ["a ladder needs at least two bots"]),
    (
        ["ladder", "--external", "2", "--bot", "a", "--bot", "b"],
        MISUSE,
        ["--external cannot be combined with --bot or a file"],
    ),
    (["ladder", "--wait", "10"], MISUSE, ["is used only with --external N"]),
    (["match", "alphabeta"], MISUSE, ["arena: Missing argument 'B'; see `arena match --help`"]),
    (["store", "prune"], MISUSE, ["arena: Missing option '--keep'; see `arena store prune --help`"]),
    (["chess"], MISUSE, ["arena: No such command 'chess'. Did you mean 'check'?"]),
    (["zzz"], MISUSE, ["arena: No such command 'zzz'; see `arena --help`"]),
    (["serve", "--map", "atlantis"], MISUSE, ["atlantis"]),
    (["serve", "--port", "PORT", "--db", "sqlite:///x.db"], FAILURE, ["in use"]),
    (["serve", "--port", "0", "--db", "sqlite:////no/such/x.db"], FAILURE, ["does not exist"]),
    (["serve", "--tls-cert", "none.pem"], MISUSE, ["--tls-key"]),
    (["serve", "--tls-cert", "none.pem", "--tls-key", "none.pem"], FAILURE, ["none.pem"]),
    (["serve", "."], MISUSE, [".: a folder; name a file in it"]),
    (["serve", "--set=store.record=no/x"], MISUSE, ["--set store.record: folder no does not exist"]),
    (
        ["serve", "--db", "sqlite:///."],
        FAILURE,
        [". is a folder: name a file in it, as in sqlite:///arena.db"],
    ),
    (["serve", "--set=house.engines=,"], MISUSE, ["'' is not an engine: write a list such as `greedy"]),
    (["serve", "--set=server.proxies=everybody"], MISUSE, ["server.proxies", "everybody"]),
    (["bot", "nobot"], MISUSE, ["no engine is called 'nobot'", "(or give the file nobot.py)"]),
    (["bot", "deepblue"], MISUSE, ["deepblue", "alphabeta"]),
    (["bot", "alphabeta:threads=many"], MISUSE, ["threads"]),
    (["bot", "none.py"], MISUSE, ["none.py"]),
    (["bot", "nobot.py"], MISUSE, ["nobot.py", "Bot"]),
    (["bot", "raises.py"], MISUSE, ["raises.py", "ZeroDivisionError"]),
    (["bot", "greedy", "--url", "ws://127.0.0.1:CLOSED", "--wait", "0"], FAILURE, ["arena serve"]),
    (["bot", "greedy", "--url", "nonsense"], MISUSE, ["nonsense", "ws://"]),
    (["play", "deepblue"], MISUSE, ["deepblue"]),
    (["play", "greedy", "--map", "atlantis"], MISUSE, ["atlantis"]),
    (["play", "greedy", "--seat", "white"], MISUSE, ["white", "maxie"]),
    (["replay", "none.jsonl"], FAILURE, ["none.jsonl"]),
    (["replay", "empty.jsonl"], FAILURE, ["empty.jsonl"]),
    (["replay", "junk.jsonl"], FAILURE, ["junk.jsonl", "line 1"]),
    (["trace", "NoTree", "alphabeta"], MISUSE, ["NoTree", "HandoutBig"]),
    (["trace", "HandoutBig", "quicksort"], MISUSE, ["quicksort", "alphabeta"]),
    (["trace", "map.toml", "alphabeta"], MISUSE, ["arena: map.toml: the key armies_to_win is missing"]),
    (["analyse", "--engine", "minimax:reference"], MISUSE, ["use `arena trace … --summary`"]),
    (["analyse", "--position", "+1"], MISUSE, ["position"]),
    (["analyse", "--engine", "deepblue"], MISUSE, ["deepblue"]),
    (["maps", "show", "atlantis"], FAILURE, ["atlantis", "world"]),
    (["maps", "check", "map.toml"], FAILURE, ["map.toml"]),
    (["maps", "check", "broken.toml"], FAILURE, ["broken.toml"]),
    (["token", "create", "a\nb", "--db", "sqlite:///x.db"], MISUSE, ["printable"]),
    (["token", "revoke", "nobody", "--db", "sqlite:///x.db"], FAILURE, ["x.db", "arena serve"]),
    (["ratings", "--db", f"sqlite:///{300 * 'x'}"], FAILURE, ["does not exist"]),
    (["submit", "list", "--folder", "nofolder"], MISUSE, ["--folder: nofolder is not a folder"]),
    (["submit", "check", 300 * "x"], MISUSE, ["does not exist"]),
    (
        ["ladder", "--bot", "greedy", "--bot", "gredy", "--db", "sqlite:///x.db"],
        MISUSE,
        ["bot gredy cannot play: no engine is called 'gredy': did you mean \"greedy\"?"],
    ),
    (
        ["match", "jamboree:prune=0.5", "greedy"],
        MISUSE,
        [
            "bot jamboree:prune=0.5 cannot play: jamboree: prune works only with form=course: write form=course,prune=0.5"
        ],
    ),
    (
        ["match", "nowhere.py", "greedy"],
        MISUSE,
        [
            "bot nowhere cannot play: nowhere.py does not exist: give the path of a Python file with a subclass of Bot"
        ],
    ),
    (["ratings", "--db", "sqlite:////no/such/x.db"], FAILURE, ["no/such", "arena serve"]),
]


def test_ctrl_c_in_the_middle_of_a_command_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(maps, "list_built_in_map_names", interrupt)
    fails("arena: stopped", 130, "maps", "list")


BAD_BOTS = [
    (
        ["serve", "--set=house.engines=nonsense", "--port", "0", "--db", "sqlite:///x.db"],
        MISUSE,
        ["house.engines", "'nonsense'"],
    ),
    (
        ["serve", "house.toml", "--port", "0", "--db", "sqlite:///x.db"],
        MISUSE,
        ["house.toml:2: house.engines: no engine is called 'nonsense'"],
    ),
]
"""Arguments, exit code and parts of the message, for errors that a bot's process reports."""


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@pytest.mark.parametrize(
    ("words", "code", "parts"),
    [*BAD, *(pytest.param(*each, marks=pytest.mark.slow) for each in BAD_BOTS)],
    ids=[" ".join(each[0]) for rows in (BAD, BAD_BOTS) for each in rows],
)
def test_bad_input_is_reported_in_one_line(
    words: list[str],
    code: int,
    parts: list[str],
    taken_port: int,
    closed_port: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    # On a busy machine a bot may report its error only after the time that matches wait for bots, which adds a line.
    patient = RestartPolicy(
        connect_timeout_seconds=BOT_START_TIMEOUT_SECONDS, first_match_wait_seconds=BOT_START_TIMEOUT_SECONDS
    )
    monkeypatch.setattr(play_plan, "Ladder", partial(Ladder, restart_policy=patient))
    monkeypatch.setattr(hosting, "HouseEnginePlan", partial(HouseEnginePlan, restart_policy=patient))
    words = [word.replace("PORT", str(taken_port)).replace("CLOSED", str(closed_port)) for word in words]
    with keep_switch_interval(), pytest.raises(SystemExit) as left:
        main(words)
    output = capfd.readouterr()
    lines = output.err.splitlines()
    assert left.value.code == code, output
    assert len(lines) == 1, output
    assert "Traceback" not in output.err + output.out
    for part in parts:
        assert part in lines[0]
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == set(FILES)
