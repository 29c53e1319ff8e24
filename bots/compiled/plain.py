"""Plain alpha-beta for Riskless at the speed of the machine: no table, no ordering, leftmost ties.

This is what the benchmark holds against C, and shows what the layout can do: the leaves of a node are
never built. A move's totals follow from the parent's, trained once for all moves, and one look into
the table of changes; only a child that is searched deeper gets its words.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from arena.bots.compiled.cache import inlined, kernel
from arena.bots.compiled.intrinsics import column, get, lowest, popcount, put
from arena.bots.compiled.riskless_kernel import layout
from arena.bots.search.values import INFINITY, WIN

_HALF = 0xFFFFFFFF
_REACHED = -(1 << 63) | (1 << 31)
FRAMES = 128


def frame_words(planes: int) -> int:
    """The size of a frame: the position, then what the loop keeps of the node."""
    return layout(planes).words + 8


@cache
def make_plain(planes: int) -> Any:
    """plain(mem, rules, plies_left, depth): search the position at mem[0]; the nodes entered.

    The value for the player to move is left in mem[at VALUE], the number of the leftmost best move
    behind it: see `result`.
    """
    place = layout(planes)
    words = place.words
    alpha_at, beta_at, best_at, road_at, end_at, left_at, source_at, row_at = range(words, words + 8)
    stride = words + 8
    wide = planes + 1
    foe_at, own_at, totals_at = place.foe, place.own, place.totals
    trained_at, trained_totals_at = place.trained, place.trained_totals
    goal_at, first_at, target_at = place.goal, place.first, place.target
    change_at, outcomes = place.change, place.result - place.change

    @inlined
    def enter(mem: Any, rules: Any, at: Any, beta: Any) -> Any:
        """Train the position, and return the totals after training."""
        own = get(mem, at + own_at)
        foe = get(mem, at + foe_at)
        carry = 0
        for i in range(planes):
            carry |= get(mem, at + i) ^ get(rules, i)
        carry &= own | foe
        totals = get(mem, at + totals_at) + (popcount(own & carry) << 32) + popcount(foe & carry)
        put(mem, at + trained_totals_at, totals)
        for i in range(planes):
            plane = get(mem, at + i)
            put(mem, at + trained_at + i, plane ^ carry)
            carry &= plane
        put(mem, at + beta_at, beta)
        put(mem, at + best_at, -1)
        return totals

    def plain(mem: Any, rules: Any, plies_left: Any, depth: Any) -> Any:
        nodes = 1
        goal = get(rules, goal_at)
        # added to both totals at once, it carries into the top bit of a half that has reached the goal
        bias = ((1 << 31) - goal) * ((1 << 32) + 1)
        horizon = min(depth, plies_left)
        at = 0
        distance = 1
        alpha = -INFINITY
        beta = INFINITY
        road = end = source = row = value = 0
        totals = enter(mem, rules, at, beta)
        left = get(mem, own_at)
        while True:
            if road == end:
                if left != 0:
                    source = lowest(left)
                    left &= left - 1
                    road = get(rules, first_at + source)
                    end = get(rules, first_at + source + 1)
                    row = change_at + (column(mem, at, source, planes) << wide)
                    continue
                if at == 0:
                    put(mem, alpha_at, alpha)
                    return nodes
                at -= stride
                distance -= 1
                value = -alpha
                alpha = get(mem, at + alpha_at)
                beta = get(mem, at + beta_at)
                road = get(mem, at + road_at)
                end = get(mem, at + end_at)
                left = get(mem, at + left_at)
                source = get(mem, at + source_at)
                row = get(mem, at + row_at)
                totals = get(mem, at + trained_totals_at)
            else:
                target = get(rules, target_at + road)
                road += 1
                nodes += 1
                foe = (get(mem, at + foe_at) >> target) & 1
                cell = row + (column(mem, at, target, planes) | (foe << planes))
                after = totals + get(rules, cell)
                others = after & _HALF
                if (after + bias) & _REACHED != 0 or others == 0:
                    value = WIN - distance
                    if others >= goal:
                        value = 0 if (after >> 32) >= goal else -value
                elif distance >= horizon:
                    value = 0 if distance >= plies_left else 100 * ((after >> 32) - others)
                else:
                    to = at + stride
                    result = get(rules, cell + outcomes)
                    taken = (result & 1) << target
                    put(mem, to + totals_at, (others << 32) | ((after >> 32) & _HALF))
                    put(mem, to + foe_at, get(mem, at + own_at) | taken)
                    put(mem, to + own_at, get(mem, at + foe_at) & ~taken)
                    left_one = 1 << source
                    keep = ~(left_one | (1 << target))
                    put(
                        mem,
                        to,
                        (get(mem, at + trained_at) & keep) | left_one | (((result >> 1) & 1) << target),
                    )
                    for i in range(1, planes):
                        plane = get(mem, at + trained_at + i) & keep
                        put(mem, to + i, plane | (((result >> (i + 1)) & 1) << target))
                    put(mem, at + alpha_at, alpha)
                    put(mem, at + road_at, road)
                    put(mem, at + end_at, end)
                    put(mem, at + left_at, left)
                    put(mem, at + source_at, source)
                    put(mem, at + row_at, row)
                    alpha, beta = -beta, -alpha
                    at = to
                    distance += 1
                    totals = enter(mem, rules, at, beta)
                    left = get(mem, at + own_at)
                    road = end
                    continue
            if value > alpha:
                alpha = value
                put(mem, at + best_at, road - 1)
                if value >= beta:
                    road = end
                    left = 0

    return kernel(plain, f"plain{planes}")


def result(mem: Any, planes: int) -> tuple[int, int]:
    """The value that `plain` has left, for the player to move, and the number of the best move."""
    words = layout(planes).words
    return int(mem[words]), int(mem[words + 2])


__all__ = ["FRAMES", "frame_words", "make_plain", "result"]
