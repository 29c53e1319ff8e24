"""Estimate of Riskless's positions by a neural network, for the compiled searches.

`bots.evaluators.network` defines the computation. A word holds the values of four hidden units, with 16 bits each. Each value
is stored plus 2^15, so that no stored number is below 0, and four values can be added at once by adding two words. The sum is
computed from scratch for each position: every ply changes the armies of all occupied territories, so no part of the last sum
can be used again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.bots.compiled.availability import MAX_COMPILED_TERRITORIES
from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import gather_bit_column, get, put
from arena.bots.compiled.kernel import Words
from arena.bots.evaluators.network import (
    HIDDEN_UNIT_COUNT,
    OUTPUT_WEIGHT_FRACTION_BITS,
    TERRITORY_KIND_COUNT,
    IntArray,
    NetworkTables,
)
from arena.bots.search.search_values import ESTIMATE_LIMIT
from arena.games.riskless_map import RisklessMap, list_roads

if TYPE_CHECKING:
    from arena.bots.compiled.riskless_kernel import RisklessLayout

HIDDEN_UNITS_PER_WORD = 4
"""Number of hidden units of the network whose values are packed in one 64-bit word, with 16 bits each."""
HIDDEN_LAYER_WORDS = HIDDEN_UNIT_COUNT // HIDDEN_UNITS_PER_WORD
"""Number of 64-bit words that hold one value for each hidden unit of the network."""
HIDDEN_UNIT_VALUE_OFFSET = 1 << 15
"""Number added to the value of a hidden unit before it is packed, so that the packed number is never negative."""
ZERO_HIDDEN_UNITS_WORD = sum(
    HIDDEN_UNIT_VALUE_OFFSET << 16 * lane for lane in range(HIDDEN_UNITS_PER_WORD)
) - (1 << 64)
"""Signed word that holds four hidden units of the network, each with the value 0, stored as HIDDEN_UNIT_VALUE_OFFSET."""
NETWORK_KERNEL_NAME_SUFFIX = (
    f"-network-{TERRITORY_KIND_COUNT}-{HIDDEN_UNIT_COUNT}-{OUTPUT_WEIGHT_FRACTION_BITS}"
)
"""End of the name of a compiled function (kernel) that estimates positions by a network.

Kernels are cached in a folder that is named by a digest of this package's sources. This suffix contains the numbers that
another package defines, so that a kernel that was compiled with other numbers is not used again.
"""
MAX_ROADS = MAX_COMPILED_TERRITORIES * (MAX_COMPILED_TERRITORIES - 1) // 2
"""Maximum number of roads of a map, each counted in one direction."""

TERRITORY_COUNT_OFFSET, ROAD_COUNT_OFFSET, OUTPUT_WEIGHTS_OFFSET = 0, 1, 2
ROAD_SOURCES_OFFSET = OUTPUT_WEIGHTS_OFFSET + HIDDEN_UNIT_COUNT
ROAD_TARGETS_OFFSET, ROAD_ROWS_OFFSET = ROAD_SOURCES_OFFSET + MAX_ROADS, ROAD_SOURCES_OFFSET + 2 * MAX_ROADS
"""Offsets of the parts of a network's words, in words.

TERRITORY_COUNT_OFFSET, ROAD_COUNT_OFFSET  numbers of territories and of roads of the map
OUTPUT_WEIGHTS_OFFSET                      weight of each hidden unit
ROAD_SOURCES_OFFSET, ROAD_TARGETS_OFFSET   numbers of the territories at both ends of each road
ROAD_ROWS_OFFSET                           contribution of a road to the hidden units, by the kinds of the territories at its ends
"""
TERRITORY_ROWS_OFFSET = ROAD_ROWS_OFFSET + TERRITORY_KIND_COUNT * TERRITORY_KIND_COUNT * HIDDEN_LAYER_WORDS
"""Offset, in words of the network, of the rows with a territory's contribution to the hidden units, by armies and owner.

The offset is the same for all maps. The rows for the players' total armies follow.
"""


def make_network_words(tables: NetworkTables, map: RisklessMap, army_plane_count: int) -> Words:
    """Return the network as words to append to the rules array, for the function that `make_network_estimate` returns."""
    roads = list_roads(map)
    head = np.zeros(TERRITORY_ROWS_OFFSET, np.int64)
    head[TERRITORY_COUNT_OFFSET], head[ROAD_COUNT_OFFSET] = map.territory_count, len(roads)
    head[OUTPUT_WEIGHTS_OFFSET : OUTPUT_WEIGHTS_OFFSET + HIDDEN_UNIT_COUNT] = tables.output_weights
    for road, (territory, neighbour) in enumerate(roads):
        head[ROAD_SOURCES_OFFSET + road], head[ROAD_TARGETS_OFFSET + road] = territory, neighbour
    head[ROAD_ROWS_OFFSET:] = _pack_hidden_unit_rows(tables.road_contributions)
    cells = np.zeros((2, 1 << army_plane_count, 1 + HIDDEN_LAYER_WORDS), np.int64)
    cells[:, : map.territory_cap + 1, 0] = HIDDEN_LAYER_WORDS * tables.territory_kinds
    cells[:, : map.territory_cap + 1, 1:] = _pack_hidden_unit_rows(tables.territory_contributions).reshape(
        2, -1, HIDDEN_LAYER_WORDS
    )
    return np.concatenate(
        [head, cells.ravel(), _pack_hidden_unit_rows(tables.total_armies_contributions.transpose(1, 0, 2))]
    )


def _pack_hidden_unit_rows(rows: IntArray) -> Words:
    lanes = rows.reshape(-1, HIDDEN_UNITS_PER_WORD) * np.array(
        [1 << 16 * lane for lane in range(HIDDEN_UNITS_PER_WORD)], np.int64
    )
    return np.asarray(lanes.sum(1), np.int64)


def make_network_estimate(layout: RisklessLayout) -> Callable[..., Any]:
    """Return the compiled function that estimates a position by a network.

    A position is in the layout `riskless_kernel.RisklessLayout`, followed by MAX_COMPILED_TERRITORIES words of working memory.
    """
    army_plane_count, foe_at, totals_at = (
        layout.army_plane_count,
        layout.foe_territories_offset,
        layout.total_armies_offset,
    )
    goal_at, end_of_rules, kinds_at = (
        layout.goal_offset,
        layout.goal_nearness_offset + 1,
        layout.position_words,
    )
    cell_words = 1 + HIDDEN_LAYER_WORDS
    totals_row = TERRITORY_ROWS_OFFSET + (2 << army_plane_count) * cell_words

    @inlined
    def sum_weighted_units(rules: Any, output: Any, word: Any) -> Any:
        value = 0
        for lane in range(HIDDEN_UNITS_PER_WORD):
            value += max(((word >> (16 * lane)) & 0xFFFF) - HIDDEN_UNIT_VALUE_OFFSET, 0) * get(
                rules, output + lane
            )
        return value

    @inlined
    def estimate(rules: Any, mem: Any, pos: Any) -> Any:
        network = end_of_rules + get(rules, goal_at)
        foe = get(mem, pos + foe_at)
        totals = get(mem, pos + totals_at)
        own_row = network + totals_row + 2 * HIDDEN_LAYER_WORDS * (totals >> 32)
        other_row = network + totals_row + 2 * HIDDEN_LAYER_WORDS * (totals & 0xFFFFFFFF) + HIDDEN_LAYER_WORDS
        a = ZERO_HIDDEN_UNITS_WORD + get(rules, own_row) + get(rules, other_row)
        b = ZERO_HIDDEN_UNITS_WORD + get(rules, own_row + 1) + get(rules, other_row + 1)
        c = ZERO_HIDDEN_UNITS_WORD + get(rules, own_row + 2) + get(rules, other_row + 2)
        d = ZERO_HIDDEN_UNITS_WORD + get(rules, own_row + 3) + get(rules, other_row + 3)
        for territory in range(get(rules, network + TERRITORY_COUNT_OFFSET)):
            cell_index = gather_bit_column(mem, pos, territory, army_plane_count) | (
                ((foe >> territory) & 1) << army_plane_count
            )
            row = network + TERRITORY_ROWS_OFFSET + cell_words * cell_index
            put(mem, pos + kinds_at + territory, get(rules, row))
            a += get(rules, row + 1)
            b += get(rules, row + 2)
            c += get(rules, row + 3)
            d += get(rules, row + 4)
        for road in range(get(rules, network + ROAD_COUNT_OFFSET)):
            source = get(mem, pos + kinds_at + get(rules, network + ROAD_SOURCES_OFFSET + road))
            target = get(mem, pos + kinds_at + get(rules, network + ROAD_TARGETS_OFFSET + road))
            row = network + ROAD_ROWS_OFFSET + TERRITORY_KIND_COUNT * source + target
            a += get(rules, row)
            b += get(rules, row + 1)
            c += get(rules, row + 2)
            d += get(rules, row + 3)
        output = network + OUTPUT_WEIGHTS_OFFSET
        value = sum_weighted_units(rules, output, a) + sum_weighted_units(rules, output + 4, b)
        value += sum_weighted_units(rules, output + 8, c) + sum_weighted_units(rules, output + 12, d)
        return min(max(value >> OUTPUT_WEIGHT_FRACTION_BITS, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)

    return estimate
