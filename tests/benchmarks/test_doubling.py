"""benchmarks.engine.doubling: pairs of more threads, and of more time, against one thread."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.engine import doubling
from benchmarks.engine.contest import Score
from benchmarks.engine.doubling import matches, part_of, promised
from benchmarks.kit.kept import Kept, Unfinished


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubling, "MAPS", ("ring:5:cap=9", "path4"))
    monkeypatch.setattr(doubling, "SECONDS", 0.0005)


def test_every_map_has_its_pairs_and_none_is_played_again(small: None, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        score = matches({"threads": 2}, 0.001, 2, pool, Kept(tmp_path / "raw"), time.perf_counter)
        again = matches({"threads": 2}, 0.001, 2, pool, Kept(tmp_path / "raw", 0), time.perf_counter)
        assert len(score.points) == 2 * 2
        assert all(0 <= points <= 2 for points in score.points)
        assert again == score
        with pytest.raises(Unfinished):
            matches({"threads": 2}, 0.001, 3, pool, Kept(tmp_path / "raw", 0), time.perf_counter)


def test_threads_are_held_against_as_many_times_the_time() -> None:
    better, best = Score([1.5, 1.0, 1.5]), Score([2.0, 1.5, 1.5])
    share, error = part_of(better, best).split(" % (± ")
    assert int(share) == round(100 * better.difference.elo / best.difference.elo)
    assert int(error.rstrip(")")) > 100 * better.difference.error / best.difference.elo - 1
    assert part_of(best, best).startswith("100 %")
    assert part_of(better, Score([0.5, 1.0])) == ""


def test_what_was_promised_is_told_with_its_conditions() -> None:
    better, best = Score([1.5, 1.0, 1.5]), Score([2.0, 1.5, 1.5])
    elo, share = promised(better, best)
    assert "more than its 95 % error. *Found:* " + better.elo + ", 3 pairs." in elo
    assert best.elo in share
    assert part_of(better, best) in share
