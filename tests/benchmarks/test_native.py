"""The C program searches the same tree from the same memory: it has the layout of the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.bots.compiled.plain import make_plain
from benchmarks.engine.native import build, by_turns
from testkit.parts import requires


@requires("gcc")
@pytest.mark.parametrize(("map", "planes"), [("m2", 4), ("grid:7x6", 6)])
def test_all_enter_the_same_nodes_and_find_the_same_move(map: str, planes: int, tmp_path: Path) -> None:
    """On a map whose armies have four binary digits, and on one whose armies have more."""
    made = []

    def programs(planes: int) -> Sequence[Any]:
        made.append(planes)
        return make_plain(planes), build(tmp_path, planes), build(tmp_path, planes, "-DBY_HAND")

    searches = list(by_turns(map, 3, programs))
    assert made == [planes]
    assert len(searches) == 15
    assert all(len(seconds) == 3 and nodes > 1 for seconds, nodes in searches)
