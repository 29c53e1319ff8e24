"""Maps that are small enough to be solved in a test, and a fixture that solves them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.games.riskless_map import RisklessMap
from testkit.tools import skip_without


def make_path_map(size: int = 3, cap: int = 3, goal: int = 7, limit: int = 60) -> RisklessMap:
    """Return a map whose territories form a path. Maxie holds the first territory, Minnie the last."""
    near = tuple(tuple(w for w in (v - 1, v + 1) if 0 <= w < size) for v in range(size))
    start = (1, *[0] * (size - 2), -2)
    places = tuple((float(v), 0.0) for v in range(size))
    return RisklessMap(f"path{size}", tuple(map(str, range(size))), near, cap, goal, limit, start, places)


@pytest.fixture
def solve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[RisklessMap], Path]:
    """Return a function that solves a map, and writes the table to a cache folder of this test."""
    skip_without("numba")
    from arena.bots.compiled import cache  # noqa: PLC0415 - an extra
    from arena.lab.solving.solver import Solver  # noqa: PLC0415
    from arena.solved.board_numbers import BoardNumbering  # noqa: PLC0415
    from arena.solved.folders import get_table_output_folder, make_table_file_name  # noqa: PLC0415

    cache.get_writable_kernel_folder()  # choose the folder of the kernels before the variable changes, so that they need not be compiled again
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def solved(map: RisklessMap) -> Path:
        folder = get_table_output_folder()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / make_table_file_name(map)
        Solver(BoardNumbering.from_map(map), path.with_suffix(".part"), 1, lambda *_: None).solve(path)
        return path

    return solved
