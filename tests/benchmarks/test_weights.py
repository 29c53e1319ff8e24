"""benchmarks.engine.weights: how many pairs a map gets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from benchmarks.engine.contest import Contest, Engine, openings_of
from benchmarks.engine.weights import DOUBLINGS, LEAST_ANYWHERE, told_apart
from benchmarks.kit.kept import Kept


def test_a_map_that_is_told_apart_by_its_first_pairs_gets_no_more(tmp_path: Path) -> None:
    better = Contest(Engine(), Engine("plain"), "grid:5x5:cap=200", 300, 16)
    kept = Kept(tmp_path / "raw")
    # The nodes of equal time, which are measured otherwise: the machine's load has no say in whom these pairs show better.
    kept.add(f"budget {replace(better, pairs=0)}", 300)
    with ThreadPoolExecutor(1) as pool:
        score = told_apart(better, pool, kept)
    assert score.difference.elo - score.difference.error > LEAST_ANYWHERE
    assert len(score.points) == 16


def test_one_that_is_not_gets_twice_as_many_until_it_is_or_no_start_is_new(tmp_path: Path) -> None:
    plain = Engine("plain")
    with ThreadPoolExecutor(1) as pool:
        equal = told_apart(Contest(plain, plain, "ring:5:cap=9", 60, 2), pool, Kept(tmp_path / "ring"))
        listed = told_apart(Contest(plain, plain, "m1", 20, 2), pool, Kept(tmp_path / "m1"))
    assert len(equal.points) in {2 << times for times in range(1, DOUBLINGS + 1)}
    assert 2 < len(listed.points) <= len(openings_of("m1"))
