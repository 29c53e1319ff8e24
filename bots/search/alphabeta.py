"""The course's alpha-beta: F for Maxie and G for Minnie, on Steps and Leafs (001, section 5).

Contract. For a node with the window (α, β), α < β, with minimax value MM and result AB (erratum 2;
the source's "otherwise AB = MM" is false where both players' bounds meet, as at j and n of Figure 4):

    α < MM < β   AB = MM
    MM ≤ α       MM ≤ AB ≤ α
    MM ≥ β       β ≤ AB ≤ MM

The root has no bounds, so its value is exact; its move is the leftmost best. The value is returned
also on a cut, and the Step of an inner node may carry an ancestor's move (erratum 4): only the root's
move means anything, and there is no main line beyond it.

A bound is updated first and tested then. The source's text for node g (erratum 3) says that g is set
to β = 3 and α to a minimum; its own trace, and this code, return 2 and take the maximum.
"""

from __future__ import annotations

from arena.bots.search.edges import NO_ALPHA, NO_BETA, Edge, leaf, max_alpha, min_beta, step
from arena.bots.search.problem import Problem, Result
from arena.bots.search.views import Cons, Nil, Seq, showl
from arena.bots.search.watch import Path, Watch
from arena.games.core import M, P, Player


def alphabeta(problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None) -> Result[M]:
    """Search the root with no bounds. A stop raises `Stopped`.

    The children are walked one at a time through the source's list view.
    """
    watch = watch or Watch()
    game = problem.game

    def f(depth: int, position: P, alpha: Edge, beta: Edge, path: Path) -> Edge:
        watch.enter(path, position, depth, alpha, beta)
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return leaf(opened.value)
        later = Seq(enumerate(opened.moves))
        while True:
            match showl(later):
                case Nil():
                    watch.leave(path, position, alpha)
                    return alpha
                case Cons((index, move), later):
                    child = g(depth - 1, game.successor(position, move), alpha, beta, (*path, index))
                    alpha = max_alpha(alpha, step(move, child.value))
                    if alpha.value >= beta.value:
                        watch.leave(path, position, alpha, pruned=True)
                        return alpha

    def g(depth: int, position: P, alpha: Edge, beta: Edge, path: Path) -> Edge:
        watch.enter(path, position, depth, alpha, beta)
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return leaf(opened.value)
        later = Seq(enumerate(opened.moves))
        while True:
            match showl(later):
                case Nil():
                    watch.leave(path, position, beta)
                    return beta
                case Cons((index, move), later):
                    child = f(depth - 1, game.successor(position, move), alpha, beta, (*path, index))
                    beta = min_beta(beta, step(move, child.value))
                    if beta.value <= alpha.value:
                        watch.leave(path, position, beta, pruned=True)
                        return beta

    first = f if game.player(position) is Player.MAXIE else g
    result = first(depth, position, NO_ALPHA, NO_BETA, ())
    return Result(result.value, result.move, () if result.move is None else (result.move,))
