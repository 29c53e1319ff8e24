"""Helpers of the tests in Docker: `docker` and `docker compose` as a person types them."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from arena.match.replay import verify_record
from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.protocol.record import Record

T = TypeVar("T")

ANY_PORT = "127.0.0.1:"
"""Publishes a port of a container at a free one of this machine."""

ROOT = Path(__file__).parents[2]

Compose = Callable[..., str]
"""Takes the words after `docker compose`, and variables of the environment; returns what was printed."""


def docker(*arguments: str, **environment: str) -> str:
    """Return both outputs of a `docker` command, which must succeed."""
    result = subprocess.run(
        ["docker", *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=800,
    )
    assert result.returncode == 0, result.stdout[-5000:]
    return result.stdout


def compose_project(name: str, *files: Path, **always: str) -> Compose:
    """Run `docker compose` on a project of its own: the root's file, and others on top of it."""
    choices = [word for file in (ROOT / "docker-compose.yml", *files) for word in ("-f", str(file))]

    def run(*arguments: str, **environment: str) -> str:
        words = ("compose", "--progress", "plain", "-p", name, *choices, *arguments)
        return docker(*words, **{**always, **environment})

    return run


@contextmanager
def stand_in(image: str, folder: Path) -> Iterator[None]:
    """Yield an image: the one that is here, else one that is built of a folder and removed at the end.

    Tests in other processes that need the same image wait for their turn, so that it is not removed while they use it.
    The Dockerfiles of these images begin with the same `apt-get update`, which the engine therefore runs once for all.
    """
    with (folder / "Dockerfile").open("rb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if docker("images", "--quiet", image).strip():
            yield
            return
        docker("build", "--tag", image, str(folder))
        yield
        # removed, so that it is not taken for the real one
        docker("image", "rm", image)


def wait_for(
    what: str, holds: Callable[[], T | None], seconds: float = 400, state: Callable[[], str] = str
) -> T:
    """Return the first true result of `holds`, asked once a second: a `docker` command is a tenth of a second of work.

    state: what the failure shows if `holds` returns nothing true in time
    """
    end = time.monotonic() + seconds
    while (found := holds()) is None:
        assert time.monotonic() < end, f"no {what} within {seconds:g} s\n{state()}"
        time.sleep(1)
    return found


def assert_replays(record: Record) -> None:
    """Check that the record's moves lead to its result by the rules, and that nobody resigned or failed before."""
    verify_record(record)
    assert record.result.reason not in FORFEIT_REASONS | {EndReason.RESIGNATION, EndReason.SERVER_FAULT}


def token_in(output: str) -> str:
    """Return the token that `arena token create` shows."""
    (token,) = re.findall(r"^[\w-]{32}$", output, re.MULTILINE)
    assert isinstance(token, str)
    return token
