"""benchmarks.engine.contest: pairs at equal time, whoever plays them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.engine.contest import Contest, Engine, Score, equal_budget, play_all, score_pairs, together
from benchmarks.kit.kept import Kept, Unfinished


def test_who_is_told_to_play_better_wins_and_the_pairs_are_the_same_however_they_are_dealt_out() -> None:
    contest = Contest(Engine(), Engine(settings={"exact": True}), "m2:cap=30", 20, 6)
    whole = score_pairs(contest, 600, range(6))
    parts = together([score_pairs(contest, 600, range(2)), score_pairs(contest, 600, range(2, 6))])
    assert whole.points == parts.points
    assert whole.drawn == parts.drawn
    assert len(whole.points) == 6
    assert sum(whole.points) > 6, "thirty times the nodes win more than half of the points"


def test_equals_get_budgets_that_are_nearly_equal() -> None:
    nodes = equal_budget(Contest(Engine("plain"), Engine("plain"), "m1", 3000, 1))
    assert 1000 < nodes < 9000, "the same engine costs the same time, give or take a busy machine"


def test_all_contests_are_told_of_in_their_order_and_kept(tmp_path: Path) -> None:
    contests = [Contest(Engine("plain"), Engine("plain"), map, 60, 5) for map in ("ring:5:cap=9", "path4")]
    told: list[str] = []
    with ThreadPoolExecutor(1) as pool:
        kept = Kept(tmp_path / "raw")
        scores = play_all(contests, pool, lambda contest, _: told.append(contest.map), kept)
        again = play_all(contests, pool, lambda *_: None, Kept(tmp_path / "raw", seconds=0))
    assert again == scores, "what was kept is not played again"
    assert told == [contest.map for contest in contests]
    assert [len(score.points) for score in scores] == [5, 5]
    assert all(score.nodes > 0 for score in scores)


def test_a_score_tells_its_pairs_and_its_interval() -> None:
    score = Score([2.0, 1.0, 1.5, 0.5], 2)
    pairs, points, drawn, elo = score.cells
    assert (pairs, points, drawn) == ("4", "5 of 8", "25 %")
    assert score.difference.elo > 0
    assert elo.startswith(f"{score.difference.elo:+.0f} (")


def test_a_contest_that_ran_out_of_time_goes_on_with_what_was_played(tmp_path: Path) -> None:
    contests = [Contest(Engine("plain"), Engine("plain"), "path4", 60, 24)]
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(Unfinished):
            play_all(contests, pool, lambda *_: None, Kept(tmp_path / "raw", seconds=0))
        lines = (tmp_path / "raw").read_text(encoding="utf-8").count("\n")
        (score,) = play_all(contests, pool, lambda *_: None, Kept(tmp_path / "raw"))
    assert lines >= 2, "the load, and what was being measured as the time ended"
    assert len(score.points) == 24
