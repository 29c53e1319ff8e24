"""tests.bytecode: each file is one worker's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bytecode import part_of

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_each_file_is_imported_first_by_one_worker(workers: int) -> None:
    parts = [part_of([FOLDER, FOLDER / "games"], [FOLDER / "web"], each, workers) for each in range(workers)]
    files = [file for part in parts for file in part]
    assert len(files) == len(set(files))
    wanted = {file for file in FOLDER.rglob("test_*.py") if FOLDER / "web" not in file.parents}
    assert set(files) == wanted
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_what_is_no_folder_has_no_part() -> None:
    assert part_of([Path(__file__), FOLDER / "nowhere"], [], 0, 1) == []
