"""What a long benchmark keeps: it goes on where it was stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kit.kept import Kept, Unfinished


def test_a_later_run_finds_what_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    first = Kept(path)
    assert first.get("a") is None
    first.add("a", [1.5, 2])
    first.add("b", {"nodes": 3})
    second = Kept(path)
    second.add("a", [0.5])
    assert Kept(path).get("a") == [0.5]
    assert Kept(path).get("b") == {"nodes": 3}
    assert first.told == ""
    assert Kept(path).told.startswith(" Measured in 5 runs")


def test_time_ends_a_run_and_not_what_it_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "raw", seconds=0)
    kept.add("a", 1)
    assert kept.over
    with pytest.raises(Unfinished, match="again"):
        kept.check()
    Kept(tmp_path / "raw").check()
