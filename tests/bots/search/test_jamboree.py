from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from arena.bots.search.monitor import NodeEntered
from arena.bots.search.thread_pool import ThreadPool
from arena.games.core import Player
from arena.games.explicit import ExplicitGame
from tests.bots.search.problems import Case, cases
from tests.bots.search.running import POOLS, run
from tests.properties import examples

CUTS = [[5, 6], [3, 9], [7, 9]]
"""Values of a tree of depth 2 in which alpha-beta cuts off nodes, regardless of which player moves first."""


def make_case_with_cuts(first: Player) -> Case:
    data = {"children": [{"children": [{"value": value} for value in below]} for below in CUTS]}
    game = ExplicitGame.from_tree(data, first)
    return Case(game, game.start(), game.height)


@given(case=cases, pool=st.sampled_from(POOLS))
@example(case=make_case_with_cuts(Player.MAXIE), pool=POOLS[0])
@example(case=make_case_with_cuts(Player.MINNIE), pool=POOLS[0])
@examples(60)
def test_jamboree_between_its_ends(case: Case, pool: ThreadPool) -> None:
    """With prune 0 it visits the nodes of minimax, and with prune 1 it has the trace of alpha-beta, on every pool."""
    traces = [
        run(name, case, pool, prune, tracing=True)[1].events or []
        for name, prune in (("minimax", 0.0), ("jamboree", 0.0), ("alphabeta", 0.0), ("jamboree", 1.0))
    ]
    visited = [[event.path for event in trace if isinstance(event, NodeEntered)] for trace in traces[:2]]
    assert visited[1] == visited[0]
    assert traces[3] == traces[2]


@given(case=cases, prune=st.sampled_from([0.25, 0.5, 0.9]))
@examples(40)
def test_jamboree_traces_are_the_same_on_every_pool(case: Case, prune: float) -> None:
    traces = [run("jamboree", case, pool, prune, tracing=True)[1].events for pool in POOLS]
    assert all(trace == traces[0] for trace in traces)
