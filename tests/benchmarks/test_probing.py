"""The benchmark of truth inside the search: the boards it begins on, and a root that is looked up."""

from __future__ import annotations

from random import Random

from testkit.parts import skip_without

skip_without("numba")

from arena.bots.compiled.learning.selfplay import Budget, play  # noqa: E402
from arena.games.core import Player  # noqa: E402
from arena.games.riskless import Riskless  # noqa: E402
from arena.solved.judgement import Kind, kinds  # noqa: E402
from arena.solved.solution import solution_of  # noqa: E402
from benchmarks.engine.probing import LEAST, MAPS, drawn, make  # noqa: E402 - the extra is there

PATH = Riskless(MAPS["path4"])


def test_matches_begin_where_there_is_something_to_give_away_and_a_root_that_is_looked_up_gives_nothing() -> (
    None
):
    solution = solution_of(PATH)
    assert solution is not None
    rooted = make(PATH, "root")
    starts = [drawn(solution, Random(seed)) for seed in range(12)]
    plies = [solution.truth(each).plies for each in starts]
    assert {each is None for each in plies} == {True, False}
    assert all(each is None or each >= LEAST for each in plies)
    for start in starts:
        played = play(PATH, start, dict.fromkeys(Player, rooted), Budget(nodes=50))
        assert {kind for _, kind, _ in kinds(solution, played.positions)} <= {Kind.KEPT}
    rooted.close()
