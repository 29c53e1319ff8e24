"""Estimates of Riskless's leaves, computed from their parent's position: a move changes only a small part of an estimate.

A move to an own territory, or a failed attack, changes only the armies on two territories. If a territory changes hands,
the features of its neighbourhood are computed again. The computed value is exactly the estimate of `riskless_estimate` for
the position after the move, with the opposite sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, get_byte, lowest_bit, popcount, put
from arena.bots.compiled.kernel import UNSEEN
from arena.bots.compiled.riskless_estimate import TerritorySets
from arena.bots.evaluators.riskless import FEATURE_NAMES
from arena.bots.search.search_values import ESTIMATE_LIMIT

if TYPE_CHECKING:
    from arena.bots.compiled.riskless_kernel import RisklessLayout

LEAF_ONLY_FEATURES = ("attacks", "exposed")
"""Features that are computed only at a leaf itself, not from its parent: a move changes the possible captures all around."""

_LOWER_32_BITS_MASK = 0xFFFFFFFF


def make_leaf_estimate_functions(layout: RisklessLayout) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions `survey` and `foresee`, which together estimate the positions one ply below a position.

    `survey(rules, mem, pos)` stores the numbers that all these estimates need. Then `foresee(rules, mem, pos, move)`
    returns the estimate of the position after a move. The functions are to be compiled as parts of a `Kernel`.
    """
    army_plane_count = layout.army_plane_count
    source_shift = army_plane_count + 1
    foe_at, own_at, trained_armies_at, trained_totals_at = (
        layout.foe_territories_offset,
        layout.own_territories_offset,
        layout.trained_armies_offset,
        layout.trained_total_armies_offset,
    )
    next_to_own_at, next_to_foe_at, capped_at = (
        layout.next_to_own_offset,
        layout.next_to_foe_offset,
        layout.capped_territories_offset,
    )
    own_border_armies_at, foe_border_armies_at, next_to_empty_at = (
        layout.own_border_armies_offset,
        layout.foe_border_armies_offset,
        layout.next_to_empty_offset,
    )
    goal_at, armies_only_flag_at, goal_nearness_at = (
        layout.goal_offset,
        layout.armies_only_flag_offset,
        layout.goal_nearness_offset,
    )
    road_source_at, road_target_at, totals_change_at, target_after_move_at = (
        layout.road_sources_offset,
        layout.road_targets_offset,
        layout.total_armies_changes_offset,
        layout.targets_after_move_offset,
    )
    neighbours_at, uses_neighbours_flag_at, cap_at = (
        layout.neighbours_offset,
        layout.uses_neighbours_flag_offset,
        layout.cap_offset,
    )
    byte_armies_at = layout.byte_armies_offset
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
    ) = (layout.feature_weights_offset + i for i in range(len(FEATURE_NAMES)))

    @inlined
    def survey(rules: Any, mem: Any, pos: Any) -> None:
        if get(rules, armies_only_flag_at) != 0:
            return
        own = get(mem, pos + own_at)
        foe = get(mem, pos + foe_at)
        if get(rules, waste_at) != 0:
            capped = own | foe
            for i in range(army_plane_count):
                capped &= ~(get(mem, pos + trained_armies_at + i) ^ get(rules, i))
            put(mem, pos + capped_at, capped)
        if get(rules, uses_neighbours_flag_at) != 0:
            next_to_own = find_neighbours(rules, own)
            next_to_foe = find_neighbours(rules, foe)
            put(mem, pos + next_to_own_at, next_to_own)
            put(mem, pos + next_to_foe_at, next_to_foe)
            put(
                mem, pos + own_border_armies_at, count_armies(mem, pos + trained_armies_at, own & next_to_foe)
            )
            put(
                mem, pos + foe_border_armies_at, count_armies(mem, pos + trained_armies_at, foe & next_to_own)
            )
            next_to_empty = find_neighbours(rules, ~(own | foe)) if get(rules, safe_at) != 0 else 0
            put(mem, pos + next_to_empty_at, next_to_empty)

    @inlined
    def compute_neighbour_features(
        rules: Any,
        mem: Any,
        pos: Any,
        source: Any,
        target: Any,
        source_armies: Any,
        target_armies: Any,
        target_after_move: Any,
    ) -> Any:
        """Return the weighted sum of the features that depend on neighbouring territories, for the position after a move.

        source_armies, target_armies  armies on the move's territories before the move
        target_after_move             twice the armies on the target after the move, plus 1 if the mover then holds it
        """
        own = get(mem, pos + own_at)
        foe = get(mem, pos + foe_at)
        next_to_own = get(mem, pos + next_to_own_at)
        next_to_foe = get(mem, pos + next_to_foe_at)
        next_to_empty = get(mem, pos + next_to_empty_at)
        cap = get(rules, cap_at)
        source_bit, target_bit = 1 << source, 1 << target
        armies_left = target_after_move >> 1
        border = get(mem, pos + own_border_armies_at)
        their_border = get(mem, pos + foe_border_armies_at)
        weight = get(rules, borders_at)
        if target_after_move & 1 == 0:
            # a failed attack: both territories are at the border and stay there
            border += 1 - min(source_armies + 1, cap)
            their_border += armies_left - min(target_armies + 1, cap)
        elif own & target_bit != 0:
            border += ((next_to_foe >> source) & 1) * (1 - min(source_armies + 1, cap))
            border += ((next_to_foe >> target) & 1) * (armies_left - min(target_armies + 1, cap))
        elif foe & target_bit == 0:
            target_neighbours = get(rules, neighbours_at + target)
            border += ((next_to_foe >> source) & 1) * (1 - min(source_armies + 1, cap))
            border += ((next_to_foe >> target) & 1) * armies_left
            own |= target_bit
            new_border = foe & target_neighbours & ~next_to_own
            if weight != 0 and new_border != 0:
                their_border += count_armies(mem, pos + trained_armies_at, new_border)
            next_to_own |= target_neighbours
            if get(rules, safe_at) != 0:
                empty = ~(own | foe)
                surrounded = target_neighbours & own & ~next_to_foe
                while surrounded != 0:
                    v = lowest_bit(surrounded)
                    if get(rules, neighbours_at + v) & empty == 0:
                        next_to_empty &= ~(1 << v)
                    surrounded &= surrounded - 1
        else:
            own |= target_bit
            foe &= ~target_bit
            next_to_own |= get(rules, neighbours_at + target)
            next_to_foe = find_neighbours(rules, foe)
            if weight != 0:
                border_set = own & next_to_foe
                border = count_armies(mem, pos + trained_armies_at, border_set & ~(source_bit | target_bit))
                border += ((border_set >> source) & 1) + ((border_set >> target) & 1) * armies_left
                their_border = count_armies(mem, pos + trained_armies_at, foe & next_to_own)
        value = weight * (border - their_border)
        if get(rules, reach_at) != 0:
            empty = ~(own | foe)
            value += get(rules, reach_at) * (popcount(empty & next_to_own) - popcount(empty & next_to_foe))
        if get(rules, safe_at) != 0:
            safe = popcount(own & ~(next_to_foe | next_to_empty)) - popcount(
                foe & ~(next_to_own | next_to_empty)
            )
            value += get(rules, safe_at) * safe
        return value

    @inlined
    def foresee(rules: Any, mem: Any, pos: Any, move: Any) -> Any:
        source = get(rules, road_source_at + move)
        target = get(rules, road_target_at + move)
        own = get(mem, pos + own_at)
        foe = get(mem, pos + foe_at)
        source_armies = get_byte(mem, pos + byte_armies_at, source)
        target_armies = get_byte(mem, pos + byte_armies_at, target)
        table_index = (source_armies << source_shift) + (
            target_armies | (((foe >> target) & 1) << army_plane_count)
        )
        totals = get(mem, pos + trained_totals_at) + get(rules, totals_change_at + table_index)
        own_total = totals >> 32
        foe_total = totals & _LOWER_32_BITS_MASK
        goal = get(rules, goal_at)
        if own_total >= goal or foe_total >= goal or foe_total == 0:
            return UNSEEN
        value = (own_total - foe_total) * get(rules, armies_at)
        if get(rules, armies_only_flag_at) == 0:
            target_after_move = get(rules, target_after_move_at + table_index)
            taken = (target_after_move & 1) << target
            own_after = own | taken
            foe_after = foe & ~taken
            count = popcount(own_after)
            their_count = popcount(foe_after)
            value += get(rules, territories_at) * (count - their_count)
            if get(rules, waste_at) != 0:
                cap = get(rules, cap_at)
                capped = get(mem, pos + capped_at) & ~((1 << source) | (1 << target))
                capped |= ((target_after_move >> 1) == cap) << target
                capped |= (cap == 1) << source
                value += get(rules, waste_at) * (popcount(capped & own_after) - popcount(capped & foe_after))
            if get(rules, race_at) != 0:
                value += get(rules, race_at) * compute_race_feature(
                    rules, own_total, count, foe_total, their_count
                )
            if get(rules, goal_weight_at) != 0:
                nearness = get(rules, goal_nearness_at + own_total) - get(rules, goal_nearness_at + foe_total)
                value += get(rules, goal_weight_at) * nearness
            if get(rules, uses_neighbours_flag_at) != 0:
                value += compute_neighbour_features(
                    rules, mem, pos, source, target, source_armies, target_armies, target_after_move
                )
        return min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)

    return survey, foresee
