"""The C program searches the same tree from the same memory: it has the layout of the compiled kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.engine.native import PLANES, build, by_turns
from bots.compiled.plain import make_plain
from testkit.parts import requires


@requires("gcc")
@pytest.mark.parametrize("map", ["m2", "grid:7x6"])
def test_both_enter_the_same_nodes_and_find_the_same_move(map: str, tmp_path: Path) -> None:
    searches = list(by_turns(map, 3, (make_plain(PLANES), build(tmp_path))))
    assert len(searches) == 15
    assert all(nodes > 1 for _, nodes in searches)
