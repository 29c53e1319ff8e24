"""Estimate of Riskless's positions for the compiled searches: the weighted sum of features.

`bots.evaluators.riskless` defines the features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import (
    find_bytes_at_least,
    find_bytes_at_most,
    get,
    get_byte,
    lowest_bit,
    popcount,
    truncated_quotient,
    unpack_bit_columns,
)
from arena.bots.evaluators.riskless import FEATURE_NAMES
from arena.bots.search.search_values import ESTIMATE_LIMIT

if TYPE_CHECKING:
    from arena.bots.compiled.riskless_kernel import RisklessLayout

_LOWER_32_BITS_MASK = 0xFFFFFFFF


class TerritorySets:
    """Compiled functions on sets of territories (bit masks), for positions in the layout `riskless_kernel.RisklessLayout`."""

    def __init__(self, layout: RisklessLayout) -> None:
        army_plane_count, goal_at, mask_bytes_at, neighbours_of_byte_at = (
            layout.army_plane_count,
            layout.goal_offset,
            layout.mask_byte_count_offset,
            layout.neighbours_byte_offset,
        )

        @inlined
        def find_neighbours(rules: Any, mask: Any) -> Any:
            """Return the set (bit mask) of all neighbours of the territories in the set `mask`."""
            neighbours = 0
            row_at = neighbours_of_byte_at
            # Each step depends on the one before. Otherwise LLVM would use gather instructions, which are slower here.
            for _ in range(get(rules, mask_bytes_at)):
                neighbours |= get(rules, row_at + (mask & 255))
                mask >>= 8
                row_at += 256
            return neighbours

        @inlined
        def count_armies(mem: Any, pos: Any, mask: Any) -> Any:
            total = 0
            for i in range(army_plane_count):
                total += popcount(get(mem, pos + i) & mask) << i
            return total

        @inlined
        def compute_race_feature(
            rules: Any, own_armies: Any, own_territory_count: Any, foe_armies: Any, foe_territory_count: Any
        ) -> Any:
            goal = get(rules, goal_at)
            ahead = (goal - foe_armies) * own_territory_count
            behind = (goal - own_armies) * foe_territory_count
            return truncated_quotient(goal * (ahead - behind), max(ahead + behind, 1))

        self.find_neighbours = find_neighbours
        self.count_armies = count_armies
        self.compute_race_feature = compute_race_feature


def make_feature_estimate(layout: RisklessLayout) -> Callable[..., Any]:
    """Return the compiled function that estimates a position, in the layout `riskless_kernel.RisklessLayout`, by features."""
    army_plane_count = layout.army_plane_count
    foe_at, own_at, totals_at = (
        layout.foe_territories_offset,
        layout.own_territories_offset,
        layout.total_armies_offset,
    )
    armies_only_flag_at, goal_nearness_at = layout.armies_only_flag_offset, layout.goal_nearness_offset
    neighbours_at, byte_armies_at = layout.neighbours_offset, layout.byte_armies_offset
    sets = TerritorySets(layout)
    find_neighbours, count_armies, compute_race_feature = (
        sets.find_neighbours,
        sets.count_armies,
        sets.compute_race_feature,
    )
    uses_neighbours_flag_at = layout.uses_neighbours_flag_offset
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
    ) = (layout.feature_weights_offset + i for i in range(len(FEATURE_NAMES)))

    @inlined
    def compute_capture_features(rules: Any, mem: Any, pos: Any, own: Any, their_border: Any) -> Any:
        """Return the weighted sum of the features `attacks` and `exposed`, for the player to move.

            own           set of the territories of the player to move
            their_border  set of the opponent's territories that have a neighbour in `own`

        For each territory of the opponent at the border, its armies are compared with the armies of all territories
        in a few instructions.
        """
        unpack_bit_columns(mem, pos, pos + byte_armies_at, army_plane_count)
        attacked_count = 0
        exposed = 0
        while their_border != 0:
            v = lowest_bit(their_border)
            their_border &= their_border - 1
            armies = get_byte(mem, pos + byte_armies_at, v)
            near = own & get(rules, neighbours_at + v)
            attacked_count += near & find_bytes_at_least(mem, pos + byte_armies_at, armies) != 0
            exposed |= near & find_bytes_at_most(mem, pos + byte_armies_at, armies)
        return get(rules, attacks_at) * attacked_count + get(rules, exposed_at) * popcount(exposed)

    @inlined
    def compute_neighbour_features(rules: Any, mem: Any, pos: Any, own: Any, foe: Any) -> Any:
        """Return the weighted sum of the features that depend on which territories are neighbours."""
        next_to_own = find_neighbours(rules, own)
        next_to_foe = find_neighbours(rules, foe)
        border, their_border = own & next_to_foe, foe & next_to_own
        value = 0
        if get(rules, borders_at):
            value += get(rules, borders_at) * (
                count_armies(mem, pos, border) - count_armies(mem, pos, their_border)
            )
        empty = ~(own | foe)
        if get(rules, reach_at):
            value += get(rules, reach_at) * (popcount(empty & next_to_own) - popcount(empty & next_to_foe))
        if get(rules, safe_at):
            next_to_empty = find_neighbours(rules, empty)
            safe = popcount(own & ~(next_to_foe | next_to_empty)) - popcount(
                foe & ~(next_to_own | next_to_empty)
            )
            value += get(rules, safe_at) * safe
        if get(rules, attacks_at) | get(rules, exposed_at):
            value += compute_capture_features(rules, mem, pos, own, their_border)
        return value

    @inlined
    def estimate(rules: Any, mem: Any, pos: Any) -> Any:
        totals = get(mem, pos + totals_at)
        own_total = totals >> 32
        foe_total = totals & _LOWER_32_BITS_MASK
        value = (own_total - foe_total) * get(rules, armies_at)
        if get(rules, armies_only_flag_at) == 0:
            own = get(mem, pos + own_at)
            foe = get(mem, pos + foe_at)
            count = popcount(own)
            their_count = popcount(foe)
            value += get(rules, territories_at) * (count - their_count)
            if get(rules, waste_at):
                capped = own | foe
                for i in range(army_plane_count):
                    capped &= ~(get(mem, pos + i) ^ get(rules, i))
                value += get(rules, waste_at) * (popcount(capped & own) - popcount(capped & foe))
            if get(rules, race_at):
                value += get(rules, race_at) * compute_race_feature(
                    rules, own_total, count, foe_total, their_count
                )
            if get(rules, goal_weight_at):
                nearness = get(rules, goal_nearness_at + own_total) - get(rules, goal_nearness_at + foe_total)
                value += get(rules, goal_weight_at) * nearness
            if get(rules, uses_neighbours_flag_at):
                value += compute_neighbour_features(rules, mem, pos, own, foe)
        return min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)

    return estimate
