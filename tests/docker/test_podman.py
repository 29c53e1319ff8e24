"""A box of Podman, on a machine that has it and whose control groups bound containers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from arena.bots.api.bot import Clock, assign_match, request_move
from arena.bots.api.engine_spec import BadSpec
from arena.bots.engines.container import make_container_engine
from testkit.tools import mark_requires, skip_without
from tests.bots.engines.programs import LONG, MATCH
from tests.bots.engines.test_submission import zipped

BOT = """
read start; echo '{"ready": true}'
read turn; echo '{"move": 4}'
read end
"""

pytestmark = mark_requires("podman")


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield an image with nothing but a shell, which no registry is asked for. Podman is the only engine in the PATH."""
    podman, name = str(shutil.which("podman")), f"arena-podman-{uuid.uuid4().hex[:12]}"
    (tmp_path / "path").mkdir()
    for program in (podman, "/bin/sh", "/bin/rm"):
        (tmp_path / "path" / Path(program).name).symlink_to(program)
    needed = subprocess.run(["ldd", "/bin/sh"], check=True, capture_output=True, text=True).stdout
    with tarfile.open(tmp_path / "root.tar", "w") as root:
        for file in {"/bin/sh", *re.findall(r"/\S+", needed)}:
            root.add(os.path.realpath(file), arcname=file.lstrip("/"))
    subprocess.run([podman, "import", "--quiet", str(tmp_path / "root.tar"), name], check=True)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path / "path"))
        yield name
    subprocess.run([podman, "image", "rm", "--force", name], check=True, capture_output=True)


def test_a_move_is_played_in_a_container_of_podman(tmp_path: Path, image: str) -> None:
    file = zipped(tmp_path / "camel.zip", {"bot.toml": "exec = '/bin/sh bot.sh'", "bot.sh": BOT})
    try:
        bot = make_container_engine(f"submit:{file},image={image}").make_bot()
    except BadSpec as refused:
        if "cannot limit the memory, processes and cores of a container" not in str(refused):
            raise
        skip_without("podman", str(refused))
    assign_match(bot, MATCH, Event())
    try:
        bot.prepare()
        assert request_move(bot, MATCH.game.start(), Clock(LONG), Event()) == 4
    finally:
        bot.close()
