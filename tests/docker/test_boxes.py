"""A box holds whatever a bot tries: bots.engines.container on a real engine, with tests/docker/hostile_bot.py inside."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import uuid
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from arena.bots.api.bot import Clock, assign_match, request_move
from arena.bots.api.engine_spec import BadSpec
from arena.bots.engines.container import make_container_engine
from arena.protocol.codes import EndReason
from arena.protocol.record import read_records
from testkit.tools import mark_requires
from tests.bots.command_line import ARENA, arena
from tests.bots.engines.programs import LONG, MATCH
from tests.bots.engines.test_submission import zipped
from tests.docker.compose import ROOT, docker, wait_for

HOSTILE = (Path(__file__).parent / "hostile_bot.py").read_text(encoding="utf-8")

pytestmark = [pytest.mark.timeout(900), mark_requires("docker")]


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Yield an image with Python, whose label tells its containers from all others."""
    name = f"arena-boxes-{uuid.uuid4().hex[:12]}"
    base = f"python:{os.environ.get('PYTHON_VERSION', '3.14')}-slim"
    build_image(name, f"FROM {base}\nLABEL box={name}\n")
    yield name
    docker("image", "rm", "--force", name)


@pytest.fixture(scope="module")
def arena_image(image: str) -> Iterator[str]:
    """Yield an image with the arena, without the compiled searches, which take minutes to build."""
    installed, name = f"{image}-installed", f"{image}-arena"
    version = f"PYTHON_VERSION={os.environ.get('PYTHON_VERSION', '3.14')}"
    docker("build", "--target", "installed", "--build-arg", version, "--tag", installed, str(ROOT))
    build_image(name, f"FROM {installed}\nENV PATH=/opt/arena/bin:$PATH\n")
    yield name
    docker("image", "rm", "--force", name, installed)


def build_image(name: str, dockerfile: str) -> None:
    subprocess.run(
        ["docker", "build", "--quiet", "--tag", name, "-"],
        input=dockerfile,
        text=True,
        check=True,
        capture_output=True,
    )


def containers(image: str) -> list[str]:
    return docker("ps", "--all", "--quiet", "--filter", f"label=box={image}").split()


def hostile(folder: Path, how: str, *told: str) -> Path:
    command = " ".join(("python3 bot.py", how, *told))
    return zipped(folder / f"{how}.zip", {"bot.toml": f"exec = '{command}'", "bot.py": HOSTILE})


def test_a_bot_finds_nothing_of_its_host(tmp_path: Path, image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_TOKEN", "secret")
    secret = f"token-{uuid.uuid4().hex}"
    (tmp_path / secret).write_text("the token")
    (tmp_path / f"{secret}.db").write_text("the store")
    (tmp_path / "logs").mkdir()
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = str(server.getsockname()[1])
        file = hostile(tmp_path, "look", secret, str(tmp_path / secret), port)
        bot = make_container_engine(f"submit:{file},image={image}", tmp_path / "logs").make_bot()
        assign_match(bot, MATCH, Event())
        try:
            bot.prepare()
            assert request_move(bot, MATCH.game.start(), Clock(LONG), Event()) == 0
        finally:
            bot.close()
    data = json.loads((tmp_path / "logs" / f"{MATCH.id}.log").read_text())
    assert not {name for name in data.pop("environment") if name.startswith(("ARENA", "DOCKER", "XDG"))}
    # Some kernels have no such files; on the others they are hidden.
    assert data.pop("memory of the machine") in {"done: b''", "FileNotFoundError", "PermissionError"}
    assert data.pop("restart") in {"OSError", "FileNotFoundError"}
    assert data.pop("MiB") <= 2 * 64, "/tmp and /dev/shm, each bounded by 64 MiB"
    assert data.pop("forks") < 64
    assert data == {
        "secret": "done: []",
        "token": "FileNotFoundError",
        "server": "ConnectionRefusedError",
        "gateway": "OSError",
        "name": "gaierror",
        "interfaces": ["lo"],
        "processes": [f"python3 bot.py look {secret} {tmp_path / secret} {port}"],
        "host name": "OSError",
        "root": "PermissionError",
        "change of root": "PermissionError",
        "device": "PermissionError",
        "root folder": "OSError",
        "own folder": "OSError",
    }


ATTACKS = {
    "bomb": {EndReason.TIMEOUT, EndReason.CRASH},
    "flood": {EndReason.CRASH},
    "noise": {EndReason.TIMEOUT},
    "memory": {EndReason.TIMEOUT, EndReason.CRASH},
    "deaf": {EndReason.TIMEOUT},
}
"""Attacks of tests/docker/hostile_bot.py, and how a match with each may end."""


def test_a_ladder_goes_on_whatever_its_boxes_do(tmp_path: Path, image: str) -> None:
    boxes = "".join(
        f'[[bots]]\nsubmit = "{hostile(tmp_path, how).name}"\nimage = "{image}"\n' for how in ATTACKS
    )
    file, record = tmp_path / "ladder.toml", tmp_path / "record.jsonl"
    file.write_text(
        'game = "tictactoe"\nformat = "gauntlet"\nrounds = 1\ntime_control = "0.5/move"\nmargin = 2000\n'
        f'[[bots]]\nengine = "greedy"\n{boxes}'
    )
    result = arena("ladder", file, "--record", record)
    assert result.code == 0, result
    endings: defaultdict[str, set[EndReason]] = defaultdict(set)
    for each in read_records(record):
        (box,) = {each.players.maxie, each.players.minnie} - {"greedy"}
        winner = each.players.maxie if each.result.winner == "maxie" else each.players.minnie
        assert winner == "greedy", each
        endings[box].add(each.result.reason)
    assert endings.keys() == ATTACKS.keys()
    assert all(found <= ATTACKS[box] for box, found in endings.items()), endings
    assert not containers(image)


def test_a_box_does_not_outlive_a_ladder_that_is_killed(tmp_path: Path, image: str) -> None:
    boxes = f'[[bots]]\nsubmit = "{hostile(tmp_path, "deaf").name}"\nimage = "{image}"\n' * 2
    (tmp_path / "ladder.toml").write_text(f'game = "tictactoe"\ntime_control = "600/move"\n{boxes}')
    ladder = subprocess.Popen([*ARENA, "ladder", "ladder.toml"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        wait_for("box", lambda: containers(image) or None)
    finally:
        ladder.kill()
        ladder.wait()
    wait_for("end of the boxes", lambda: None if containers(image) else True)


def test_an_image_with_a_volume_is_refused(image: str) -> None:
    name = f"{image}-volume"
    build_image(name, f"FROM {image}\nVOLUME /data\n")
    try:
        with pytest.raises(BadSpec, match="declares a VOLUME, which is not allowed"):
            make_container_engine(f"image:{name}")
    finally:
        docker("image", "rm", "--force", name)


def test_a_python_file_plays_in_an_image_with_the_arena(tmp_path: Path, arena_image: str) -> None:
    bot = "from arena import Bot\nclass First(Bot):\n    def choose(self, position, clock):\n"
    bot += "        return self.game.moves(position)[0]\n"
    file = zipped(tmp_path / "first.zip", {"bot.toml": 'engine = "my_bot.py"', "my_bot.py": bot})
    made = make_container_engine(f"submit:{file},image={arena_image}").make_bot()
    assign_match(made, MATCH, Event())
    try:
        made.prepare()
        assert request_move(made, MATCH.game.start(), Clock(LONG), Event()) == 0
        assert made.thinking is not None
        assert made.thinking.cpu_ms is not None
    finally:
        made.close()
