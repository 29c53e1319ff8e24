"""Alpha-beta in three forms that visit the same nodes: a textbook form, Holden's clamping form, and the fail-soft form.

The first form, from a course on game search (source 001 in docs/search.md, section 5), has a function F for Maxie
(`search_maxie_node`), and a function G for Minnie (`search_minnie_node`). They return a Step, which is a value with a
move, or a Leaf, a value without one (`bots.search.move_values`).

Contract of the course's form. For a node with the window (α, β), α < β, with minimax value MM and result AB:

    α < MM < β   AB = MM
    MM ≤ α       MM ≤ AB ≤ α
    MM ≥ β       β ≤ AB ≤ MM

The root has no bounds, so its value is exact, and its move is the first best one. After each child, a node first updates its
bound, and then tests whether the bound causes a cutoff; if so, it returns the bound. The Step of an inner node may carry the
move of an ancestor, so only the root's move is meaningful, and there is no main line beyond it.

docs/search.md corrects two mistakes of source 001: its rule "otherwise AB = MM" is false if the bounds of both players
meet, as at j and n of its Figure 4; and its text for node g contradicts its own trace.
"""

from __future__ import annotations

from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.move_values import NO_ALPHA, NO_BETA, MoveValue, max_alpha, min_beta
from arena.bots.search.problem import Line, Problem, SearchResult
from arena.bots.search.search_values import INFINITY
from arena.bots.search.views import Cons, Nil, Seq, showl
from arena.games.core import M, P, Player


def alphabeta(
    problem: Problem[P, M], position: P, depth: int, monitor: SearchMonitor | None = None
) -> SearchResult[M]:
    """Search `position` to `depth` plies by alpha-beta, with an unbounded window.

    This is a homework program of a course on game search (source 001 in docs/search.md). The search takes the children
    of a node from a list, one at a time (`bots.search.views`). Raises SearchStopped if the monitor stops the search.
    """
    monitor = monitor or SearchMonitor()
    game = problem.game

    def search_maxie_node(
        depth: int, position: P, alpha: MoveValue, beta: MoveValue, path: Path
    ) -> MoveValue:
        expansion = problem.enter_node(monitor, path, position, depth, alpha, beta)
        if not expansion.moves:
            return MoveValue(expansion.value)
        later = Seq(enumerate(expansion.moves))
        while True:
            match showl(later):
                case Nil():
                    monitor.leave_node(path, position, alpha)
                    return alpha
                case Cons((index, move), later):
                    child = search_child(
                        depth - 1, game.successor(position, move), alpha, beta, (*path, index)
                    )
                    alpha = max_alpha(alpha, MoveValue(child.value, move))
                    if alpha.value >= beta.value:
                        monitor.leave_node(path, position, alpha, has_cutoff=True)
                        return alpha

    def search_minnie_node(
        depth: int, position: P, alpha: MoveValue, beta: MoveValue, path: Path
    ) -> MoveValue:
        expansion = problem.enter_node(monitor, path, position, depth, alpha, beta)
        if not expansion.moves:
            return MoveValue(expansion.value)
        later = Seq(enumerate(expansion.moves))
        while True:
            match showl(later):
                case Nil():
                    monitor.leave_node(path, position, beta)
                    return beta
                case Cons((index, move), later):
                    child = search_child(
                        depth - 1, game.successor(position, move), alpha, beta, (*path, index)
                    )
                    beta = min_beta(beta, MoveValue(child.value, move))
                    if beta.value <= alpha.value:
                        monitor.leave_node(path, position, beta, has_cutoff=True)
                        return beta

    def search_child(depth: int, position: P, alpha: MoveValue, beta: MoveValue, path: Path) -> MoveValue:
        # If the players alternate, this calls the source's G below F, and F below G.
        return (search_maxie_node if game.player(position) is Player.MAXIE else search_minnie_node)(
            depth, position, alpha, beta, path
        )

    result = search_child(depth, position, NO_ALPHA, NO_BETA, ())
    return SearchResult(result.value, result.move, () if result.move is None else (result.move,))


def clamped_alphabeta(
    problem: Problem[P, M], position: P, depth: int, monitor: SearchMonitor | None = None
) -> SearchResult[M]:
    """Search `position` to `depth` plies with Holden's functions max and min, which return the main line with the value.

    The functions are from source 003 in docs/search.md. Raises SearchStopped if the monitor stops the search.

    Contract (fail-hard). An inner node with the window (α, β) returns its minimax value, MM, clamped to the window:
    max(α, min(β, MM)). A leaf returns its value unchanged, and the parent clamps it. The root's window
    includes all values, so the root's value is exact, with the first best move in move order.
    """
    monitor = monitor or SearchMonitor()
    game = problem.game

    def search_maxie_node(alpha: int, beta: int, position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        expansion = problem.enter_node(monitor, path, position, depth, alpha, beta)
        if not expansion.moves:
            return expansion.value, ()
        line: Line[M] = ()
        for index, move in enumerate(expansion.moves):
            value, rest = search_child(alpha, beta, game.successor(position, move), depth - 1, (*path, index))
            if value > alpha:
                alpha, line = value, (move, *rest)
            if alpha >= beta:
                monitor.leave_node(path, position, MoveValue(beta, line[0]), has_cutoff=True)
                return beta, line
        monitor.leave_node(path, position, MoveValue(alpha, line[0] if line else None))
        return alpha, line

    def search_minnie_node(alpha: int, beta: int, position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        expansion = problem.enter_node(monitor, path, position, depth, alpha, beta)
        if not expansion.moves:
            return expansion.value, ()
        line: Line[M] = ()
        for index, move in enumerate(expansion.moves):
            value, rest = search_child(alpha, beta, game.successor(position, move), depth - 1, (*path, index))
            if value < beta:
                beta, line = value, (move, *rest)
            if beta <= alpha:
                monitor.leave_node(path, position, MoveValue(alpha, line[0]), has_cutoff=True)
                return alpha, line
        monitor.leave_node(path, position, MoveValue(beta, line[0] if line else None))
        return beta, line

    def search_child(alpha: int, beta: int, position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        # If the players alternate, this calls the source's min below max, and max below min.
        player = search_maxie_node if game.player(position) is Player.MAXIE else search_minnie_node
        return player(alpha, beta, position, depth, path)

    value, line = search_child(-INFINITY, INFINITY, position, depth, ())
    return SearchResult(value, line[0] if line else None, line)


def failsoft(
    problem: Problem[P, M], position: P, depth: int, monitor: SearchMonitor | None = None
) -> SearchResult[M]:
    """Search `position` to `depth` plies with fail-soft alpha-beta.

    Fail-soft means that a node returns the best value seen, even if that value is outside the node's window.

    Raises SearchStopped if the monitor stops the search.

    Contract. The contract of `alphabeta` holds, with tighter bounds: a result at or below α is the best upper bound
    found, and a result at or above β is the best lower bound found. Both searches visit the same nodes. The root's
    value is exact, with the first best move in move order and the main line. The inner functions use values for the player to
    move (negamax): window and value change their signs when the turn passes to the other player.

    This is Fishburn's form, which none of the sources in docs/search.md has. Tables and null windows rely on its tighter
    bounds.
    """
    monitor = monitor or SearchMonitor()
    game = problem.game

    def search_node(alpha: int, beta: int, position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        sign = game.player(position).sign
        expansion = problem.enter_node(
            monitor, path, position, depth, *((alpha, beta) if sign > 0 else (-beta, -alpha))
        )
        if not expansion.moves:
            return sign * expansion.value, ()
        best: int = -INFINITY
        line: Line[M] = ()
        for index, move in enumerate(expansion.moves):
            child, low = game.successor(position, move), max(alpha, best)
            if game.player(child).sign == sign:
                value, rest = search_node(low, beta, child, depth - 1, (*path, index))
            else:
                value, rest = search_node(-beta, -low, child, depth - 1, (*path, index))
                value = -value
            if value > best:
                best, line = value, (move, *rest)
            if best >= beta:
                break
        monitor.leave_node(path, position, MoveValue(sign * best, line[0]), has_cutoff=best >= beta)
        return best, line

    value, line = search_node(-INFINITY, INFINITY, position, depth, ())
    return SearchResult(game.player(position).sign * value, line[0] if line else None, line)
