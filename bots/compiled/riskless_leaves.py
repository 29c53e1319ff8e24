"""Estimates of Riskless's leaves, computed from the position above them: a move changes only a small part of an estimate.

A move to an own territory, or a failed attack, changes only the armies on two territories. If a territory changes
hands, the neighbourhoods that change with it are computed again. The result is exactly the estimate of
`riskless_estimate` for the position after the move, with the opposite sign.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import bit_column, get, lowest_bit, popcount, put
from arena.bots.compiled.kernel import UNSEEN
from arena.bots.compiled.riskless_estimate import TerritorySets
from arena.bots.evaluators.riskless import NAMES
from arena.bots.search.search_values import ESTIMATE_LIMIT

UNFORESEEN = ("attacks", "exposed")
"""Features that need the leaf's own position, because a move changes the possible attacks all around it."""

_HALF = 0xFFFFFFFF


def make_leaves(layout: Any) -> tuple[Any, Any]:
    """Return `survey` and `foresee` for positions in the memory layout `riskless_kernel.Layout`."""
    planes = layout.planes
    wide = planes + 1
    foe_at, own_at, trained_at, trained_totals_at = (
        layout.foe,
        layout.own,
        layout.trained,
        layout.trained_totals,
    )
    by_own_at, by_foe_at, full_at = layout.by_own, layout.by_foe, layout.full
    border_at, their_border_at, by_empty_at = layout.border, layout.their_border, layout.by_empty
    goal_at, only_armies_at, nearness_at = layout.goal, layout.only_armies, layout.nearness
    source_at, target_at, change_at, result_at = layout.source, layout.target, layout.change, layout.result
    neighbours_at, beside_at, most_at = layout.neighbours, layout.beside, layout.most
    sets = TerritorySets(layout)
    neighbours_of, count_armies, race_feature = sets.neighbours_of, sets.count_armies, sets.race_feature
    (
        armies_at,
        race_at,
        goal_weight_at,
        borders_at,
        territories_at,
        waste_at,
        safe_at,
        reach_at,
        _attacks_at,
        _exposed_at,
    ) = (layout.weights + i for i in range(len(NAMES)))

    @inlined
    def survey(rules: Any, mem: Any, at: Any) -> None:
        if get(rules, only_armies_at) != 0:
            return
        own = get(mem, at + own_at)
        foe = get(mem, at + foe_at)
        if get(rules, waste_at) != 0:
            full = own | foe
            for i in range(planes):
                full &= ~(get(mem, at + trained_at + i) ^ get(rules, i))
            put(mem, at + full_at, full)
        if get(rules, beside_at) != 0:
            by_own = neighbours_of(rules, own)
            by_foe = neighbours_of(rules, foe)
            put(mem, at + by_own_at, by_own)
            put(mem, at + by_foe_at, by_foe)
            put(mem, at + border_at, count_armies(mem, at + trained_at, own & by_foe))
            put(mem, at + their_border_at, count_armies(mem, at + trained_at, foe & by_own))
            by_empty = neighbours_of(rules, ~(own | foe)) if get(rules, safe_at) != 0 else 0
            put(mem, at + by_empty_at, by_empty)

    @inlined
    def neighbour_features(
        rules: Any, mem: Any, at: Any, source: Any, target: Any, here: Any, there: Any, result: Any
    ) -> Any:
        """Return the weighted sum, after the move, of the features that depend on neighbouring territories."""
        own = get(mem, at + own_at)
        foe = get(mem, at + foe_at)
        by_own = get(mem, at + by_own_at)
        by_foe = get(mem, at + by_foe_at)
        by_empty = get(mem, at + by_empty_at)
        most = get(rules, most_at)
        from_here, to_there = 1 << source, 1 << target
        left = result >> 1
        border = get(mem, at + border_at)
        their_border = get(mem, at + their_border_at)
        weight = get(rules, borders_at)
        if result & 1 == 0:
            # a failed attack: both territories are at the border and stay there
            border += 1 - min(here + 1, most)
            their_border += left - min(there + 1, most)
        elif own & to_there != 0:
            border += ((by_foe >> source) & 1) * (1 - min(here + 1, most))
            border += ((by_foe >> target) & 1) * (left - min(there + 1, most))
        elif foe & to_there == 0:
            near = get(rules, neighbours_at + target)
            border += ((by_foe >> source) & 1) * (1 - min(here + 1, most))
            border += ((by_foe >> target) & 1) * left
            own |= to_there
            met = foe & near & ~by_own
            if weight != 0 and met != 0:
                their_border += count_armies(mem, at + trained_at, met)
            by_own |= near
            if get(rules, safe_at) != 0:
                empty = ~(own | foe)
                inner = near & own & ~by_foe
                while inner != 0:
                    v = lowest_bit(inner)
                    if get(rules, neighbours_at + v) & empty == 0:
                        by_empty &= ~(1 << v)
                    inner &= inner - 1
        else:
            own |= to_there
            foe &= ~to_there
            by_own |= get(rules, neighbours_at + target)
            by_foe = neighbours_of(rules, foe)
            if weight != 0:
                line = own & by_foe
                border = count_armies(mem, at + trained_at, line & ~(from_here | to_there))
                border += ((line >> source) & 1) + ((line >> target) & 1) * left
                their_border = count_armies(mem, at + trained_at, foe & by_own)
        value = weight * (border - their_border)
        if get(rules, reach_at) != 0:
            empty = ~(own | foe)
            value += get(rules, reach_at) * (popcount(empty & by_own) - popcount(empty & by_foe))
        if get(rules, safe_at) != 0:
            safe = popcount(own & ~(by_foe | by_empty)) - popcount(foe & ~(by_own | by_empty))
            value += get(rules, safe_at) * safe
        return value

    @inlined
    def foresee(rules: Any, mem: Any, at: Any, move: Any) -> Any:
        source = get(rules, source_at + move)
        target = get(rules, target_at + move)
        own = get(mem, at + own_at)
        foe = get(mem, at + foe_at)
        here = bit_column(mem, at, source, planes)
        there = bit_column(mem, at, target, planes)
        cell = (here << wide) + (there | (((foe >> target) & 1) << planes))
        totals = get(mem, at + trained_totals_at) + get(rules, change_at + cell)
        mine = totals >> 32
        others = totals & _HALF
        goal = get(rules, goal_at)
        if mine >= goal or others >= goal or others == 0:
            return UNSEEN
        value = (mine - others) * get(rules, armies_at)
        if get(rules, only_armies_at) == 0:
            result = get(rules, result_at + cell)
            taken = (result & 1) << target
            own_after = own | taken
            foe_after = foe & ~taken
            count = popcount(own_after)
            their_count = popcount(foe_after)
            value += get(rules, territories_at) * (count - their_count)
            if get(rules, waste_at) != 0:
                most = get(rules, most_at)
                full = get(mem, at + full_at) & ~((1 << source) | (1 << target))
                full |= ((result >> 1) == most) << target
                full |= (most == 1) << source
                value += get(rules, waste_at) * (popcount(full & own_after) - popcount(full & foe_after))
            if get(rules, race_at) != 0:
                value += get(rules, race_at) * race_feature(rules, mine, count, others, their_count)
            if get(rules, goal_weight_at) != 0:
                nearness = get(rules, nearness_at + mine) - get(rules, nearness_at + others)
                value += get(rules, goal_weight_at) * nearness
            if get(rules, beside_at) != 0:
                value += neighbour_features(rules, mem, at, source, target, here, there, result)
        return min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)

    return survey, foresee
