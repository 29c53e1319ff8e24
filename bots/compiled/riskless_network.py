"""Estimate of Riskless's positions by a neural network, for the compiled searches.

`bots.evaluators.network` defines the computation. A word holds four hidden units of 16 bits. Each is stored plus 2^15,
so that none is below 0 and several units can be added by adding words. The sum is computed from scratch for each
position: every ply changes the armies of all occupied territories, so no part of the last sum can be used again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arena.bots.compiled.availability import MAX_TERRITORIES
from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import gather_bit_column, get, put
from arena.bots.compiled.kernel import Words
from arena.bots.evaluators.network import (
    HIDDEN_UNIT_COUNT,
    OUTPUT_FRACTION_BITS,
    TERRITORY_KIND_COUNT,
    IntArray,
    NetworkTables,
)
from arena.bots.search.search_values import ESTIMATE_LIMIT
from arena.games.riskless_map import RisklessMap, list_roads

UNITS_PER_WORD = 4
WORDS_PER_ROW = HIDDEN_UNIT_COUNT // UNITS_PER_WORD
"""Number of 64-bit words that hold one value for each hidden unit of the network."""
UNIT_VALUE_OFFSET = 1 << 15
ZERO_UNITS_WORD = sum(UNIT_VALUE_OFFSET << 16 * lane for lane in range(UNITS_PER_WORD)) - (1 << 64)
"""Signed word that holds four hidden units of the network, each with the value 0. UNIT_VALUE_OFFSET is added to each value."""
NETWORK_KERNEL_SUFFIX = f"-network-{TERRITORY_KIND_COUNT}-{HIDDEN_UNIT_COUNT}-{OUTPUT_FRACTION_BITS}"
"""End of the name of a kernel that estimates by a network.

The suffix contains the numbers that are compiled into the kernel but defined in another package. The name of the cache folder
does not cover them, because it is a digest of this package's sources only.
"""
MAX_ROADS = MAX_TERRITORIES * (MAX_TERRITORIES - 1) // 2
"""Maximum number of roads of a map, each counted in one direction."""

TERRITORY_COUNT_AT, ROAD_COUNT_AT, OUTPUT_WEIGHTS_AT, ROAD_SOURCES_AT = 0, 1, 2, 2 + HIDDEN_UNIT_COUNT
ROAD_TARGETS_AT, ROAD_ROWS_AT = ROAD_SOURCES_AT + MAX_ROADS, ROAD_SOURCES_AT + 2 * MAX_ROADS
"""Offsets of the parts of a network's words, in words.

TERRITORY_COUNT_AT, ROAD_COUNT_AT  numbers of territories and of roads of the map
OUTPUT_WEIGHTS_AT                  weight of each hidden unit
ROAD_SOURCES_AT, ROAD_TARGETS_AT   numbers of the territories at both ends of each road
ROAD_ROWS_AT                       contribution of a road to the hidden units, by the kinds of the territories at its ends
"""
TERRITORY_ROWS_AT = ROAD_ROWS_AT + TERRITORY_KIND_COUNT * TERRITORY_KIND_COUNT * WORDS_PER_ROW
"""Offset, in the words of a network, of the rows with a territory's contribution to the hidden units, by its armies and owner.

The offset is the same for all maps. The rows for the players' total armies follow.
"""


def make_network_words(tables: NetworkTables, map: RisklessMap, planes: int) -> Words:
    """Return the network as words to append to the rules array, for the function that `make_network_estimate` returns."""
    roads = list_roads(map)
    head = np.zeros(TERRITORY_ROWS_AT, np.int64)
    head[TERRITORY_COUNT_AT], head[ROAD_COUNT_AT] = map.territory_count, len(roads)
    head[OUTPUT_WEIGHTS_AT : OUTPUT_WEIGHTS_AT + HIDDEN_UNIT_COUNT] = tables.output_weights
    for road, (territory, neighbour) in enumerate(roads):
        head[ROAD_SOURCES_AT + road], head[ROAD_TARGETS_AT + road] = territory, neighbour
    head[ROAD_ROWS_AT:] = _pack_lanes(tables.road_contributions)
    cells = np.zeros((2, 1 << planes, 1 + WORDS_PER_ROW), np.int64)
    cells[:, : map.territory_cap + 1, 0] = WORDS_PER_ROW * tables.territory_kinds
    cells[:, : map.territory_cap + 1, 1:] = _pack_lanes(tables.territory_contributions).reshape(
        2, -1, WORDS_PER_ROW
    )
    return np.concatenate(
        [head, cells.ravel(), _pack_lanes(tables.total_armies_contributions.transpose(1, 0, 2))]
    )


def _pack_lanes(rows: IntArray) -> Words:
    lanes = rows.reshape(-1, UNITS_PER_WORD) * np.array(
        [1 << 16 * lane for lane in range(UNITS_PER_WORD)], np.int64
    )
    return np.asarray(lanes.sum(1), np.int64)


def make_network_estimate(layout: Any) -> Any:
    """Return the kernel function that estimates a position by a network.

    A position is in the memory layout `riskless_kernel.Layout`, followed by MAX_TERRITORIES words of working memory.
    """
    planes, foe_at, totals_at = layout.planes, layout.foe, layout.totals
    goal_at, end_of_rules, kinds_at = layout.goal, layout.goal_nearness + 1, layout.words
    cell_words = 1 + WORDS_PER_ROW
    totals_row = TERRITORY_ROWS_AT + (2 << planes) * cell_words

    @inlined
    def sum_weighted_units(rules: Any, output: Any, word: Any) -> Any:
        value = 0
        for lane in range(UNITS_PER_WORD):
            value += max(((word >> (16 * lane)) & 0xFFFF) - UNIT_VALUE_OFFSET, 0) * get(rules, output + lane)
        return value

    @inlined
    def estimate(rules: Any, mem: Any, pos: Any) -> Any:
        network = end_of_rules + get(rules, goal_at)
        foe = get(mem, pos + foe_at)
        totals = get(mem, pos + totals_at)
        own_row = network + totals_row + 2 * WORDS_PER_ROW * (totals >> 32)
        other_row = network + totals_row + 2 * WORDS_PER_ROW * (totals & 0xFFFFFFFF) + WORDS_PER_ROW
        a = ZERO_UNITS_WORD + get(rules, own_row) + get(rules, other_row)
        b = ZERO_UNITS_WORD + get(rules, own_row + 1) + get(rules, other_row + 1)
        c = ZERO_UNITS_WORD + get(rules, own_row + 2) + get(rules, other_row + 2)
        d = ZERO_UNITS_WORD + get(rules, own_row + 3) + get(rules, other_row + 3)
        for territory in range(get(rules, network + TERRITORY_COUNT_AT)):
            cell_index = gather_bit_column(mem, pos, territory, planes) | (((foe >> territory) & 1) << planes)
            row = network + TERRITORY_ROWS_AT + cell_words * cell_index
            put(mem, pos + kinds_at + territory, get(rules, row))
            a += get(rules, row + 1)
            b += get(rules, row + 2)
            c += get(rules, row + 3)
            d += get(rules, row + 4)
        for road in range(get(rules, network + ROAD_COUNT_AT)):
            source = get(mem, pos + kinds_at + get(rules, network + ROAD_SOURCES_AT + road))
            target = get(mem, pos + kinds_at + get(rules, network + ROAD_TARGETS_AT + road))
            row = network + ROAD_ROWS_AT + TERRITORY_KIND_COUNT * source + target
            a += get(rules, row)
            b += get(rules, row + 1)
            c += get(rules, row + 2)
            d += get(rules, row + 3)
        output = network + OUTPUT_WEIGHTS_AT
        value = sum_weighted_units(rules, output, a) + sum_weighted_units(rules, output + 4, b)
        value += sum_weighted_units(rules, output + 8, c) + sum_weighted_units(rules, output + 12, d)
        return min(max(value >> OUTPUT_FRACTION_BITS, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)

    return estimate
