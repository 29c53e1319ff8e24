"""Weighted sum of Riskless's features for the compiled searches. `bots.evaluators.riskless` defines the features."""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import bit_column, get, lowest_bit, popcount, put, quotient
from arena.bots.evaluators.riskless import NAMES
from arena.bots.search.search_values import ESTIMATE_LIMIT

_HALF = 0xFFFFFFFF


class TerritorySets:
    """Functions on sets of territories, for positions in the memory layout `riskless_kernel.Layout`."""

    def __init__(self, layout: Any) -> None:
        planes, goal_at, rows_at, around_at = layout.planes, layout.goal, layout.rows, layout.around

        @inlined
        def neighbours_of(rules: Any, mask: Any) -> Any:
            """Return all neighbours of the territories in `mask`."""
            found = 0
            for row in range(get(rules, rows_at)):
                found |= get(rules, around_at + 256 * row + ((mask >> (8 * row)) & 255))
            return found

        @inlined
        def count_armies(mem: Any, at: Any, mask: Any) -> Any:
            total = 0
            for i in range(planes):
                total += popcount(get(mem, at + i) & mask) << i
            return total

        @inlined
        def race_feature(rules: Any, own_armies: Any, own_count: Any, foe_armies: Any, foe_count: Any) -> Any:
            goal = get(rules, goal_at)
            ahead = (goal - foe_armies) * own_count
            behind = (goal - own_armies) * foe_count
            return quotient(goal * (ahead - behind), max(ahead + behind, 1))

        self.neighbours_of = neighbours_of
        self.count_armies = count_armies
        self.race_feature = race_feature


def make_estimate(layout: Any) -> Any:
    """Return the estimate function for positions in the memory layout `riskless_kernel.Layout`."""
    planes = layout.planes
    foe_at, own_at, totals_at = layout.foe, layout.own, layout.totals
    only_armies_at, nearness_at = layout.only_armies, layout.nearness
    neighbours_at = layout.neighbours
    sets = TerritorySets(layout)
    neighbours_of, count_armies, race_feature = sets.neighbours_of, sets.count_armies, sets.race_feature
    at_least_at, beside_at = layout.at_least, layout.beside
    (
        armies_at,
        race_at,
        goal_weight_at,
        borders_at,
        territories_at,
        waste_at,
        safe_at,
        reach_at,
        attacks_at,
        exposed_at,
    ) = (layout.weights + i for i in range(len(NAMES)))

    @inlined
    def at_least(mem: Any, at: Any, number: Any) -> Any:
        """Return the territories with at least `number` armies, compared bit by bit from the lowest bit."""
        enough = -1
        for i in range(planes):
            plane = get(mem, at + i)
            digit = -((number >> i) & 1)
            enough = (plane & ~digit) | (enough & ~(plane ^ digit))
        return enough

    @inlined
    def fill_at_least(mem: Any, at: Any) -> None:
        """Store, for each possible number of armies, the territories with at least that many."""
        put(mem, at + at_least_at, -1)
        for i in range(planes):
            plane = get(mem, at + i)
            for number in range(1 << i):
                enough = get(mem, at + at_least_at + number)
                put(mem, at + at_least_at + number + (1 << i), plane & enough)
                put(mem, at + at_least_at + number, plane | enough)

    @inlined
    def count_takeable(rules: Any, mem: Any, at: Any, border: Any, others: Any) -> Any:
        """Return how many territories in `border` could be taken by a neighbour in `others`."""
        total = 0
        while border != 0:
            v = lowest_bit(border)
            here = bit_column(mem, at, v, planes)
            strong = get(mem, at + at_least_at + here) if planes <= 4 else at_least(mem, at, here)
            total += (strong & others & get(rules, neighbours_at + v)) != 0
            border &= border - 1
        return total

    @inlined
    def neighbour_features(rules: Any, mem: Any, at: Any, own: Any, foe: Any) -> Any:
        """Return the weighted sum of the features that depend on neighbouring territories."""
        by_own = neighbours_of(rules, own)
        by_foe = neighbours_of(rules, foe)
        border, their_border = own & by_foe, foe & by_own
        value = 0
        if get(rules, borders_at):
            value += get(rules, borders_at) * (
                count_armies(mem, at, border) - count_armies(mem, at, their_border)
            )
        empty = ~(own | foe)
        if get(rules, reach_at):
            value += get(rules, reach_at) * (popcount(empty & by_own) - popcount(empty & by_foe))
        if get(rules, safe_at):
            by_empty = neighbours_of(rules, empty)
            safe = popcount(own & ~(by_foe | by_empty)) - popcount(foe & ~(by_own | by_empty))
            value += get(rules, safe_at) * safe
        if get(rules, attacks_at) | get(rules, exposed_at):
            if planes <= 4:
                fill_at_least(mem, at)
            value += get(rules, attacks_at) * count_takeable(rules, mem, at, their_border, own)
            if get(rules, exposed_at):
                value += get(rules, exposed_at) * count_takeable(rules, mem, at, border, foe)
        return value

    @inlined
    def estimate(rules: Any, mem: Any, at: Any) -> Any:
        totals = get(mem, at + totals_at)
        mine = totals >> 32
        others = totals & _HALF
        value = (mine - others) * get(rules, armies_at)
        if get(rules, only_armies_at) == 0:
            own = get(mem, at + own_at)
            foe = get(mem, at + foe_at)
            count = popcount(own)
            their_count = popcount(foe)
            value += get(rules, territories_at) * (count - their_count)
            if get(rules, waste_at):
                full = own | foe
                for i in range(planes):
                    full &= ~(get(mem, at + i) ^ get(rules, i))
                value += get(rules, waste_at) * (popcount(full & own) - popcount(full & foe))
            if get(rules, race_at):
                value += get(rules, race_at) * race_feature(rules, mine, count, others, their_count)
            if get(rules, goal_weight_at):
                nearness = get(rules, nearness_at + mine) - get(rules, nearness_at + others)
                value += get(rules, goal_weight_at) * nearness
            if get(rules, beside_at):
                value += neighbour_features(rules, mem, at, own, foe)
        return min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)

    return estimate
