"""Has pytest rewrite the asserts of a test file in one worker, whose bytecode the others then load.

All workers collect all files, in the same order and at the same time. In a fresh checkout each of them would rewrite and
compile every file, and that takes longer than all else that they do before the first test. So each imports a part
of the files first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.hookimpl(wrapper=True, trylast=True)  # inside of what makes warnings errors
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Import this worker's part before all files are collected."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if worker:
        config = session.config
        here = config.invocation_params.dir
        folders = [here / each for each in config.args]
        left_out = [here / each for each in config.getoption("ignore") or ()]
        for file in part_of(folders, left_out, int(worker), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])):
            # What cannot be imported is imported again when it is collected, and told then.
            with suppress(Exception, pytest.skip.Exception):
                import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    return (yield)


def part_of(folders: Sequence[Path], left_out: Sequence[Path], worker: int, workers: int) -> list[Path]:
    """The test files of these folders that a worker imports first; none of what is not a folder."""
    files = sorted({file for folder in folders if folder.is_dir() for file in folder.rglob("test_*.py")})
    wanted = [file for file in files if not any(file.is_relative_to(each) for each in left_out)]
    return wanted[worker::workers]
