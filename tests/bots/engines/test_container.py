"""bots.engines.container, with a fake `docker` that runs the programs without containers; tests/docker uses the real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Event

import pytest

from arena.bots.api.bot import Bot, Clock, ProgramCrash, assign_match, request_move
from arena.bots.api.engine_spec import BadSpec
from arena.bots.engines.container import CONTAINER_LIMIT_OPTIONS, EXTRA_PODMAN_OPTIONS, make_container_engine
from tests.bots.command_line import fails
from tests.bots.engines.programs import HONEST, LONG, MATCH
from tests.bots.engines.test_submission import zipped

ROOT = Path(__file__).parents[3]
ENGINE = """#!{python}
import json, os, sys
from pathlib import Path

here, words = Path(__file__).parent, sys.argv[1:]
if words[0] == "info":
    info = here / "info"
    if info.exists() and not info.read_text():
        sys.exit("Cannot connect to the Docker daemon. Is the docker daemon running?")
    print(info.read_text() if info.exists() else "true true true" if "Limit" in words[1] else "cpu memory pids")
elif words[0] == "image":
    if words[-1] == "missing":
        sys.exit("\\nError response from daemon: No such image: missing:latest")
    if words[-1] == "silent":
        sys.exit("Cannot connect to the Docker daemon. Is the docker daemon running?")
    print("sha256:" + words[-1], '{{"/data": {{}}}}' if words[-1] == "voluminous" else "null")
elif words[0] == "create":
    if "sha256:refused" in words:
        sys.exit("docker: invalid reference\\n\\nRun 'docker create --help' for more information")
    (here / "created.json").write_text(json.dumps(words))
elif words[0] == "container":
    print("f" * 64, os.getpid())
elif words[0] == "start":
    created = json.loads((here / "created.json").read_text())
    options = dict(word.partition("=")[::2] for word in created if word.startswith("--"))
    os.chdir(options["--mount"].split("source=")[1].split(",")[0])
    image = next(i for i, word in enumerate(created) if word.startswith("sha256:"))
    os.execvp(options["--entrypoint"], [options["--entrypoint"], *created[image + 1 :]])
elif words[0] == "rm":
    with (here / "removed").open("a") as file:
        file.write(words[-1])
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a fake `docker` first into the PATH, and return its folder. Temporary folders are created in an empty folder."""
    folder = tmp_path / "engine"
    folder.mkdir()
    program = folder / "docker"
    program.write_text(ENGINE.format(python=sys.executable))
    program.chmod(0o755)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return folder


def submitted(tmp_path: Path, after: str = "") -> str:
    """Return the spec of a submission that plays the last legal move. `after` is code that runs when its input has ended."""
    turn = 'print(json.dumps({"move": message["legal"][-1]}), flush=True)'
    files: dict[str, str | bytes] = {
        "bot.toml": f"exec = '{sys.executable} bot.py'",
        "bot.py": HONEST.replace("TURN", turn) + after,
    }
    return f"submit:{zipped(tmp_path / 'camel.zip', files)}"


def seat_bot(spec: str) -> Bot:
    bot = make_container_engine(spec).make_bot()
    assign_match(bot, MATCH, Event())
    return bot


def move_of(bot: Bot) -> object:
    return request_move(bot, MATCH.game.start(), Clock(LONG, arrived=time.monotonic()), Event())


def assert_nothing_is_left(engine: Path, words: list[str]) -> None:
    assert f"--name={(engine / 'removed').read_text()}" in words
    assert not list((engine.parent / "temporary").iterdir())


def test_a_match_is_played_in_a_container_that_is_removed(tmp_path: Path, engine: Path) -> None:
    bot = seat_bot(submitted(tmp_path))
    bot.prepare()
    assert move_of(bot) == 8
    bot.close()
    words = json.loads((engine / "created.json").read_text())
    assert set(CONTAINER_LIMIT_OPTIONS) < set(words)
    assert {"--rm", "--pull=never", "--cpus=1", "--workdir=/bot", f"--entrypoint={sys.executable}"} <= set(
        words
    )
    assert words[-2:] == ["sha256:riskless-arena", "bot.py"]
    assert_nothing_is_left(engine, words)


def test_a_program_that_hangs_is_removed_too(tmp_path: Path, engine: Path) -> None:
    bot = seat_bot(submitted(tmp_path, "import threading; threading.Event().wait()"))
    bot.prepare()
    bot.close()
    assert_nothing_is_left(engine, json.loads((engine / "created.json").read_text()))


DYING = """
import os, signal, sys
from threading import Event
from arena.bots.api.bot import assign_match
from arena.bots.engines.container import make_container_engine
from tests.bots.engines.programs import MATCH

bot = make_container_engine(sys.argv[1]).make_bot()
assign_match(bot, MATCH, Event())
bot.prepare()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_container_does_not_outlive_the_process_of_its_bot(tmp_path: Path, engine: Path) -> None:
    os.mkfifo(engine / "removed")
    result = subprocess.run(
        [sys.executable, "-c", DYING, submitted(tmp_path)],
        check=False,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
    )
    assert result.returncode == -9
    name = (engine / "removed").read_text()
    assert f"--name={name}" in json.loads((engine / "created.json").read_text())


@pytest.mark.slow
def test_a_container_has_the_cores_of_its_bot(tmp_path: Path, engine: Path) -> None:
    before = os.sched_getaffinity(0)
    bot = seat_bot(submitted(tmp_path))
    try:
        os.sched_setaffinity(0, {max(before)})
        bot.prepare()
    finally:
        os.sched_setaffinity(0, before)
        bot.close()
    words = json.loads((engine / "created.json").read_text())
    assert (f"--cpuset-cpus={max(before)}" in words) == (os.cpu_count() != 1)


@pytest.mark.slow
def test_another_image_is_named(tmp_path: Path, engine: Path) -> None:
    bot = seat_bot(f"{submitted(tmp_path)},image=python@sha256:ab")
    bot.prepare()
    bot.close()
    assert "sha256:python@sha256:ab" in json.loads((engine / "created.json").read_text())


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("image:missing", "image missing does not exist on this machine: build it, or docker pull missing"),
        ("image:silent", "docker cannot look for the image silent: Cannot connect to the Docker daemon"),
        (
            "image:voluminous",
            "the image voluminous declares a VOLUME, which is not allowed: build it without one",
        ),
        ("image:", "'' is not a valid image: give a name, NAME@sha256:DIGEST, or an id"),
        ("image:--privileged", "'--privileged' is not a valid image"),
        ("submit:none.zip", "none.zip cannot be read: No such file or directory"),
    ],
)
@pytest.mark.usefixtures("engine")
def test_an_unusable_container_tool_is_reported_in_one_line(spec: str, why: str) -> None:
    fails(why, 2, "bot", spec)


@pytest.mark.usefixtures("engine")
def test_options_that_a_container_does_not_support(tmp_path: Path) -> None:
    fails("leave out --isolate", 2, "bot", "image:mine", "--isolate")
    fails("--logs needs a separate process", 2, "bot", "greedy", "--logs", tmp_path)


def test_a_machine_without_docker_and_podman(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadSpec, match="a container needs Docker or Podman, and neither is in the PATH"):
        make_container_engine("image:mine")


@pytest.mark.parametrize(
    ("info", "why"),
    [
        ("", "docker does not answer: Cannot connect to the Docker daemon. Is the docker daemon running?"),
        ("true false true", "docker cannot limit the memory, processes and cores of a container here"),
        ("cpuset cpu io", "podman cannot limit the memory, processes and cores of a container here"),
    ],
)
def test_a_container_engine_without_limits_is_refused(
    engine: Path, monkeypatch: pytest.MonkeyPatch, info: str, why: str
) -> None:
    (engine / "info").write_text(info)
    if "podman" in why:
        (engine / "docker").rename(engine / "podman")
    monkeypatch.setenv("PATH", str(engine))
    with pytest.raises(BadSpec, match=why):
        make_container_engine("image:mine")


@pytest.mark.parametrize("docker", ["missing", "stopped"])
def test_podman_is_used_if_docker_does_not_run(
    engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, docker: str
) -> None:
    (engine / "docker").rename(engine / "podman")
    if docker == "stopped":
        (engine / "docker").write_text("#!/bin/sh\necho no daemon >&2; exit 1\n")
        (engine / "docker").chmod(0o755)
    (engine / "rm").symlink_to("/bin/rm")
    monkeypatch.setenv("PATH", str(engine))
    bot = seat_bot(submitted(tmp_path))
    bot.prepare()
    assert move_of(bot) == 8
    bot.close()
    words = json.loads((engine / "created.json").read_text())
    assert {*CONTAINER_LIMIT_OPTIONS, *EXTRA_PODMAN_OPTIONS} < set(words)
    assert_nothing_is_left(engine, words)


@pytest.mark.usefixtures("engine")
def test_a_container_that_is_refused_loses_its_match() -> None:
    bot = seat_bot("image:refused")
    with pytest.raises(ProgramCrash, match=r"^`docker create` failed: docker: invalid reference$"):
        bot.prepare()
    bot.close()
