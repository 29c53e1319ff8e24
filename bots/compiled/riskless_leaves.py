"""Estimates of Riskless's leaves, computed from their parent's position: a move changes only a small part of an estimate.

A move to an own territory, or a failed attack, changes only the armies on two territories. If a territory changes hands,
the features of its neighbourhood are computed again. The result is exactly the estimate of `riskless_estimate` for the
position after the move, with the opposite sign.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, get_byte, lowest_bit, popcount, put
from arena.bots.compiled.kernel import UNSEEN
from arena.bots.compiled.riskless_estimate import TerritorySets
from arena.bots.evaluators.riskless import FEATURE_NAMES
from arena.bots.search.search_values import ESTIMATE_LIMIT

LEAF_ONLY_FEATURES = ("attacks", "exposed")
"""Features that are computed only at a leaf itself, not from its parent, because a move changes attacks all around it."""

_LOWER_HALF_MASK = 0xFFFFFFFF


def make_leaf_functions(layout: Any) -> tuple[Any, Any]:
    """Return the kernel functions `survey` and `foresee` for positions in the memory layout `riskless_kernel.Layout`."""
    planes = layout.planes
    source_shift = planes + 1
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
    byte_armies_at = layout.armies
    sets = TerritorySets(layout)
    find_neighbours, count_armies, compute_race_feature = (
        sets.find_neighbours,
        sets.count_armies,
        sets.compute_race_feature,
    )
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
    ) = (layout.weights + i for i in range(len(FEATURE_NAMES)))

    @inlined
    def survey(rules: Any, mem: Any, pos: Any) -> None:
        if get(rules, only_armies_at) != 0:
            return
        own = get(mem, pos + own_at)
        foe = get(mem, pos + foe_at)
        if get(rules, waste_at) != 0:
            capped = own | foe
            for i in range(planes):
                capped &= ~(get(mem, pos + trained_at + i) ^ get(rules, i))
            put(mem, pos + full_at, capped)
        if get(rules, beside_at) != 0:
            by_own = find_neighbours(rules, own)
            by_foe = find_neighbours(rules, foe)
            put(mem, pos + by_own_at, by_own)
            put(mem, pos + by_foe_at, by_foe)
            put(mem, pos + border_at, count_armies(mem, pos + trained_at, own & by_foe))
            put(mem, pos + their_border_at, count_armies(mem, pos + trained_at, foe & by_own))
            by_empty = find_neighbours(rules, ~(own | foe)) if get(rules, safe_at) != 0 else 0
            put(mem, pos + by_empty_at, by_empty)

    @inlined
    def compute_neighbour_features(
        rules: Any,
        mem: Any,
        pos: Any,
        source: Any,
        target: Any,
        source_armies: Any,
        target_armies: Any,
        result: Any,
    ) -> Any:
        """Return the weighted sum of the features that depend on neighbouring territories, for the position after a move.

        source_armies, target_armies  armies on the move's territories before the move
        result                        twice the armies on the target after the move, plus 1 if the mover then holds it
        """
        own = get(mem, pos + own_at)
        foe = get(mem, pos + foe_at)
        by_own = get(mem, pos + by_own_at)
        by_foe = get(mem, pos + by_foe_at)
        by_empty = get(mem, pos + by_empty_at)
        cap = get(rules, most_at)
        source_bit, target_bit = 1 << source, 1 << target
        armies_left = result >> 1
        border = get(mem, pos + border_at)
        their_border = get(mem, pos + their_border_at)
        weight = get(rules, borders_at)
        if result & 1 == 0:
            # a failed attack: both territories are at the border and stay there
            border += 1 - min(source_armies + 1, cap)
            their_border += armies_left - min(target_armies + 1, cap)
        elif own & target_bit != 0:
            border += ((by_foe >> source) & 1) * (1 - min(source_armies + 1, cap))
            border += ((by_foe >> target) & 1) * (armies_left - min(target_armies + 1, cap))
        elif foe & target_bit == 0:
            target_neighbours = get(rules, neighbours_at + target)
            border += ((by_foe >> source) & 1) * (1 - min(source_armies + 1, cap))
            border += ((by_foe >> target) & 1) * armies_left
            own |= target_bit
            new_border = foe & target_neighbours & ~by_own
            if weight != 0 and new_border != 0:
                their_border += count_armies(mem, pos + trained_at, new_border)
            by_own |= target_neighbours
            if get(rules, safe_at) != 0:
                empty = ~(own | foe)
                surrounded = target_neighbours & own & ~by_foe
                while surrounded != 0:
                    v = lowest_bit(surrounded)
                    if get(rules, neighbours_at + v) & empty == 0:
                        by_empty &= ~(1 << v)
                    surrounded &= surrounded - 1
        else:
            own |= target_bit
            foe &= ~target_bit
            by_own |= get(rules, neighbours_at + target)
            by_foe = find_neighbours(rules, foe)
            if weight != 0:
                border_set = own & by_foe
                border = count_armies(mem, pos + trained_at, border_set & ~(source_bit | target_bit))
                border += ((border_set >> source) & 1) + ((border_set >> target) & 1) * armies_left
                their_border = count_armies(mem, pos + trained_at, foe & by_own)
        value = weight * (border - their_border)
        if get(rules, reach_at) != 0:
            empty = ~(own | foe)
            value += get(rules, reach_at) * (popcount(empty & by_own) - popcount(empty & by_foe))
        if get(rules, safe_at) != 0:
            safe = popcount(own & ~(by_foe | by_empty)) - popcount(foe & ~(by_own | by_empty))
            value += get(rules, safe_at) * safe
        return value

    @inlined
    def foresee(rules: Any, mem: Any, pos: Any, move: Any) -> Any:
        source = get(rules, source_at + move)
        target = get(rules, target_at + move)
        own = get(mem, pos + own_at)
        foe = get(mem, pos + foe_at)
        source_armies = get_byte(mem, pos + byte_armies_at, source)
        target_armies = get_byte(mem, pos + byte_armies_at, target)
        table_index = (source_armies << source_shift) + (target_armies | (((foe >> target) & 1) << planes))
        totals = get(mem, pos + trained_totals_at) + get(rules, change_at + table_index)
        own_total = totals >> 32
        foe_total = totals & _LOWER_HALF_MASK
        goal = get(rules, goal_at)
        if own_total >= goal or foe_total >= goal or foe_total == 0:
            return UNSEEN
        value = (own_total - foe_total) * get(rules, armies_at)
        if get(rules, only_armies_at) == 0:
            result = get(rules, result_at + table_index)
            taken = (result & 1) << target
            own_after = own | taken
            foe_after = foe & ~taken
            count = popcount(own_after)
            their_count = popcount(foe_after)
            value += get(rules, territories_at) * (count - their_count)
            if get(rules, waste_at) != 0:
                cap = get(rules, most_at)
                capped = get(mem, pos + full_at) & ~((1 << source) | (1 << target))
                capped |= ((result >> 1) == cap) << target
                capped |= (cap == 1) << source
                value += get(rules, waste_at) * (popcount(capped & own_after) - popcount(capped & foe_after))
            if get(rules, race_at) != 0:
                value += get(rules, race_at) * compute_race_feature(
                    rules, own_total, count, foe_total, their_count
                )
            if get(rules, goal_weight_at) != 0:
                nearness = get(rules, nearness_at + own_total) - get(rules, nearness_at + foe_total)
                value += get(rules, goal_weight_at) * nearness
            if get(rules, beside_at) != 0:
                value += compute_neighbour_features(
                    rules, mem, pos, source, target, source_armies, target_armies, result
                )
        return min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)

    return survey, foresee
