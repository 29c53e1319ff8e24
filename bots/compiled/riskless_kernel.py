"""Riskless for the compiled searches: up to 64 territories, and a cap of at most 255 armies on each.

A position consists of words with one bit for each territory. The first `army_plane_count` words hold the armies in binary: word i
holds bit i of each number. Four such words (bit planes) suffice for a cap of 15, six for a cap of 63, and eight for a cap of
255. Two more words hold the owners.

So a dozen instructions train all territories at once (add an army to each occupied one, up to the cap). A few more
compute a set of territories, such as the territories next to an enemy or at the cap.

The effect of a move on its two territories, including training, is looked up in tables, because it depends only on the
armies on both and on whether the target is an enemy's. One word holds the total armies of both players, with the total
of the player to move in the upper half, so that one addition changes both totals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from arena.bots.compiled.availability import MAX_COMPILED_TERRITORIES, has_compiled_search
from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, get_byte, lowest_bit, popcount, put, unpack_bit_columns
from arena.bots.compiled.kernel import DRAW, LOST, PLAYING, WON, CompiledGame, FeatureWeights, Kernel, Words
from arena.bots.compiled.riskless_estimate import make_feature_estimate
from arena.bots.compiled.riskless_leaves import LEAF_ONLY_FEATURES, make_leaf_estimate_functions
from arena.bots.compiled.riskless_network import (
    NETWORK_KERNEL_NAME_SUFFIX,
    make_network_estimate,
    make_network_words,
)
from arena.bots.evaluators.network import EvaluatorNetwork, NetworkTables
from arena.bots.evaluators.riskless import FEATURE_NAMES
from arena.games.graph import list_edges
from arena.games.riskless import Riskless, RisklessPosition

ALLOWED_ARMY_PLANE_COUNTS = (4, 6, 8)
"""Numbers of bits that a kernel (compiled functions of the game) may use for the number of armies on a territory."""

_MAX_DIRECTED_ROADS = MAX_COMPILED_TERRITORIES * (MAX_COMPILED_TERRITORIES - 1)
_LOWER_32_BITS_MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class RisklessLayout:
    """Memory layout of positions and of the rules array for the compiled functions of Riskless: offsets in words.

    A word that holds a set of territories has one bit for each territory. In the comments, `own` is the player to move, and
    `foe` the opponent.
    """

    army_plane_count: int  # number of bits that store the number of armies on a territory

    # Offsets in a position. The first `army_plane_count` words hold the armies in binary.
    foe_territories_offset: int  # set of foe's territories
    own_territories_offset: int  # set of own's territories
    total_armies_offset: int  # total armies: own's in the upper half of the word, foe's in the lower half
    # The kernel's function `moves` computes these from the words before:
    trained_armies_offset: int  # armies after training, in binary
    trained_total_armies_offset: int  # total armies after training
    byte_armies_offset: int  # armies of each territory as a byte, before training
    # The kernel's function `survey` computes these from the words before:
    next_to_own_offset: int  # set of the neighbours of own's territories
    next_to_foe_offset: int  # set of the neighbours of foe's territories
    capped_territories_offset: int  # set of the territories at the cap after training
    own_border_armies_offset: int  # number of own's armies next to foe's territories, after training
    foe_border_armies_offset: int  # number of foe's armies next to own's territories, after training
    next_to_empty_offset: int  # set of the neighbours of empty territories
    position_words: int  # size of a position

    # Offsets in the rules.
    cap_bits_offset: int  # for each bit of the cap, a word of only this bit
    goal_offset: int  # armies that win
    first_roads_offset: int  # for each territory, the number of its first road; then the number of all roads
    feature_weights_offset: int  # weight of each feature
    armies_only_flag_offset: int  # 1 if the feature `armies` alone has a weight
    uses_neighbours_flag_offset: int  # 1 if a feature that depends on neighbours has a weight
    mask_byte_count_offset: int  # number of bytes in a set of territories
    neighbours_offset: int  # for each territory, the set of its neighbours
    road_sources_offset: int  # for each road, the territory at its start
    road_targets_offset: int  # for each road, the territory at its end
    neighbours_byte_offset: (
        int  # for each byte of a set and each of its 256 values, the set of all neighbours
    )
    total_armies_changes_offset: (
        int  # effect of a move on the word at total_armies_offset (`_fill_move_outcome_tables`)
    )
    targets_after_move_offset: int  # effect of a move on its target (`_fill_move_outcome_tables`)
    cap_offset: int  # the cap as a number
    goal_nearness_offset: int  # for each number of armies, its square divided by the goal: the feature `goal`


@cache
def make_riskless_layout(army_plane_count: int) -> RisklessLayout:
    """Return the memory layout for numbers of armies with `army_plane_count` bits."""
    table = 2 << 2 * army_plane_count
    position = [army_plane_count, 1, 1, 1, army_plane_count, 1, 8, *[1] * 6]
    rules = [
        army_plane_count,
        1,
        65,
        len(FEATURE_NAMES),
        1,
        1,
        1,
        64,
        _MAX_DIRECTED_ROADS,
        _MAX_DIRECTED_ROADS,
        8 * 256,
        table,
        table,
        1,
    ]
    ends = [sum(position[:i]) for i in range(1, len(position) + 1)]
    return RisklessLayout(army_plane_count, *ends, *(sum(rules[:i]) for i in range(len(rules) + 1)))


def count_army_planes(game: Riskless) -> int:
    """Return the number of bits with which the compiled functions store a number of armies on a territory in this game."""
    return min(count for count in ALLOWED_ARMY_PLANE_COUNTS if game.map.territory_cap < 1 << count)


def compile_game(game: Riskless, weights: FeatureWeights | EvaluatorNetwork) -> CompiledGame | None:
    """Return the game in the form that its kernel (compiled functions) reads; None if its map or its cap is too large."""
    if not has_compiled_search(game):
        return None
    map = game.map
    army_plane_count = count_army_planes(game)
    roads = list_edges(map.neighbours)

    def pack(position: RisklessPosition) -> Words:
        return _pack_position(position, army_plane_count)

    def plies_left(position: RisklessPosition) -> int:
        return map.ply_limit - position.ply

    number_by_road = {road: number for number, road in enumerate(roads)}
    if isinstance(weights, EvaluatorNetwork):
        tables = NetworkTables.from_network(weights, map)
        rules = _make_rules_array(game, dict.fromkeys(FEATURE_NAMES, 0), army_plane_count)
        rules = np.concatenate([rules, make_network_words(tables, map, army_plane_count)])
    else:
        rules = _make_rules_array(game, weights, army_plane_count)
    return CompiledGame(
        make_riskless_kernel(army_plane_count, has_network=isinstance(weights, EvaluatorNetwork)),
        rules,
        len(roads),
        pack,
        plies_left,
        roads.__getitem__,
        number_by_road.__getitem__,
        can_foresee=not isinstance(weights, EvaluatorNetwork)
        and not any(weights[name] for name in LEAF_ONLY_FEATURES),
        observed_value_count=map.territory_count,
    )


def _pack_position(position: RisklessPosition, army_plane_count: int) -> Words:
    layout = make_riskless_layout(army_plane_count)
    words = [0] * layout.position_words
    sign = position.player.sign
    totals = [0, 0]
    for v, signed in enumerate(position.armies):
        if signed:
            foe = signed * sign < 0
            totals[foe] += abs(signed)
            words[layout.foe_territories_offset if foe else layout.own_territories_offset] |= 1 << v
            for i in range(army_plane_count):
                words[i] |= (abs(signed) >> i & 1) << v
    words[layout.total_armies_offset] = (totals[0] << 32) + totals[1]
    return np.array(words, np.uint64).view(np.int64)


def _make_rules_array(game: Riskless, weights: FeatureWeights, army_plane_count: int) -> Words:
    layout, map = make_riskless_layout(army_plane_count), game.map
    cap, goal = map.territory_cap, map.armies_to_win
    rules = np.zeros(layout.goal_nearness_offset + goal + 1, np.uint64).view(np.int64)
    for i in range(army_plane_count):
        rules[i] = -(cap >> i & 1)
    rules[layout.goal_offset] = goal
    road = 0
    for source, neighbours in enumerate(map.neighbours):
        rules[layout.first_roads_offset + source] = road
        for target in neighbours:
            rules[layout.road_sources_offset + road], rules[layout.road_targets_offset + road] = (
                source,
                target,
            )
            road += 1
        mask = sum(1 << target for target in neighbours)
        rules[layout.neighbours_offset + source] = np.uint64(mask).view(np.int64)
    rules[layout.first_roads_offset + map.territory_count :][: 65 - map.territory_count] = road
    feature_weights = [weights[name] for name in FEATURE_NAMES]
    rules[layout.feature_weights_offset :][: len(feature_weights)] = feature_weights
    rules[layout.armies_only_flag_offset] = not any(feature_weights[1:])
    rules[layout.uses_neighbours_flag_offset] = any(
        weights[name] for name in ("borders", "reach", "safe", "attacks", "exposed")
    )
    rules[layout.cap_offset] = cap
    rules[layout.mask_byte_count_offset] = (map.territory_count + 7) // 8
    for row in range(8):
        for byte in range(1, 256):
            low = byte & -byte
            source = 8 * row + low.bit_length() - 1
            rules[layout.neighbours_byte_offset + 256 * row + byte] = (
                rules[layout.neighbours_byte_offset + 256 * row + (byte ^ low)]
                | rules[layout.neighbours_offset + source]
            )
    _fill_move_outcome_tables(rules, layout, cap)
    rules[layout.goal_nearness_offset :] = np.arange(goal + 1, dtype=np.int64) ** 2 // goal
    return rules


def _fill_move_outcome_tables(rules: Words, layout: RisklessLayout, cap: int) -> None:
    """Fill the tables of the effects of moves, including the training after the move.

    total_armies_changes_offset  number to add to the word at total_armies_offset
    targets_after_move_offset    twice the number of armies on the target after the move, plus 1 if the player who moved
                                 then holds it

    The index into the tables consists of three parts, from the highest bits to the lowest: the number of armies that
    move, 1 if the target is an enemy's (otherwise 0), and the number of armies on the target.
    """

    moved = np.arange(1, cap + 1, dtype=np.int64)[:, None]
    target_armies = np.arange(-cap, cap + 1, dtype=np.int64)[None, :]
    trained = np.minimum(np.arange(cap + 1, dtype=np.int64) + 1, cap)
    trained[0] = 0
    after = moved + target_armies
    is_own = (after >= 0).astype(np.int64)
    armies_left = np.minimum(np.abs(after) + 1, cap)
    own = 1 - trained[moved] - trained[np.maximum(target_armies, 0)] + is_own * armies_left
    foe = (1 - is_own) * armies_left - trained[np.maximum(-target_armies, 0)]
    table_index = (
        (moved << layout.army_plane_count + 1)
        + ((target_armies < 0).astype(np.int64) << layout.army_plane_count)
        + np.abs(target_armies)
    )
    rules[layout.total_armies_changes_offset + table_index] = (own << 32) + foe
    rules[layout.targets_after_move_offset + table_index] = 2 * armies_left + is_own


@cache
def make_riskless_kernel(army_plane_count: int, *, has_network: bool = False) -> Kernel:
    """Return the kernel (compiled functions) for numbers of armies with `army_plane_count` bits.

    Positions are estimated by a network if `has_network` is True, and otherwise by the weighted sum of the features.
    """
    layout = make_riskless_layout(army_plane_count)
    source_shift = army_plane_count + 1
    foe_at, own_at, totals_at = (
        layout.foe_territories_offset,
        layout.own_territories_offset,
        layout.total_armies_offset,
    )
    trained_armies_at, trained_totals_at = layout.trained_armies_offset, layout.trained_total_armies_offset
    armies_at = layout.byte_armies_offset
    goal_at, first_road_at, road_target_at, road_source_at = (
        layout.goal_offset,
        layout.first_roads_offset,
        layout.road_targets_offset,
        layout.road_sources_offset,
    )
    totals_change_at, target_after_move_at = (
        layout.total_armies_changes_offset,
        layout.targets_after_move_offset,
    )

    @inlined
    def train_all_territories(rules: Any, mem: Any, pos: Any) -> None:
        own = get(mem, pos + own_at)
        foe = get(mem, pos + foe_at)
        carry = 0
        for i in range(army_plane_count):
            carry |= get(mem, pos + i) ^ get(rules, i)
        carry &= own | foe
        gain = (popcount(own & carry) << 32) + popcount(foe & carry)
        put(mem, pos + trained_totals_at, get(mem, pos + totals_at) + gain)
        for i in range(army_plane_count):
            plane = get(mem, pos + i)
            put(mem, pos + trained_armies_at + i, plane ^ carry)
            carry &= plane

    @inlined
    def moves(rules: Any, mem: Any, pos: Any, out: Any) -> Any:
        train_all_territories(rules, mem, pos)
        unpack_bit_columns(mem, pos, pos + armies_at, army_plane_count)
        count = 0
        own_left = get(mem, pos + own_at)
        while own_left != 0:
            v = lowest_bit(own_left)
            own_left &= own_left - 1
            end = get(rules, first_road_at + v + 1)
            for road in range(get(rules, first_road_at + v), end):
                put(mem, out + count, road)
                count += 1
        return count

    @inlined
    def get_outcome_table_index(mem: Any, pos: Any, source: Any, target: Any) -> Any:
        foe = (get(mem, pos + foe_at) >> target) & 1
        target_index = get_byte(mem, pos + armies_at, target) | (foe << army_plane_count)
        return (get_byte(mem, pos + armies_at, source) << source_shift) + target_index

    @inlined
    def play(rules: Any, mem: Any, pos: Any, out: Any, move: Any) -> None:
        source = get(rules, road_source_at + move)
        target = get(rules, road_target_at + move)
        table_index = get_outcome_table_index(mem, pos, source, target)
        totals = get(mem, pos + trained_totals_at) + get(rules, totals_change_at + table_index)
        put(mem, out + totals_at, (totals << 32) | ((totals >> 32) & _LOWER_32_BITS_MASK))
        write_position_after_move(
            mem, pos, out, source, target, get(rules, target_after_move_at + table_index)
        )

    @inlined
    def write_position_after_move(
        mem: Any, pos: Any, out: Any, source: Any, target: Any, target_after_move: Any
    ) -> None:
        taken = (target_after_move & 1) << target
        put(mem, out + foe_at, get(mem, pos + own_at) | taken)
        put(mem, out + own_at, get(mem, pos + foe_at) & ~taken)
        source_bit = 1 << source
        keep = ~(source_bit | (1 << target))
        put(
            mem,
            out,
            (get(mem, pos + trained_armies_at) & keep)
            | source_bit
            | (((target_after_move >> 1) & 1) << target),
        )
        for i in range(1, army_plane_count):
            armies = ((target_after_move >> (i + 1)) & 1) << target
            put(mem, out + i, (get(mem, pos + trained_armies_at + i) & keep) | armies)

    @inlined
    def status(rules: Any, mem: Any, pos: Any) -> Any:
        totals = get(mem, pos + totals_at)
        own_total = totals >> 32
        foe_total = totals & _LOWER_32_BITS_MASK
        goal = get(rules, goal_at)
        if own_total == 0:
            return LOST
        if foe_total == 0:
            return WON
        if own_total >= goal:
            return DRAW if foe_total >= goal else WON
        return LOST if foe_total >= goal else PLAYING

    @inlined
    def score_move(rules: Any, mem: Any, pos: Any, move: Any) -> Any:
        table_index = get_outcome_table_index(
            mem, pos, get(rules, road_source_at + move), get(rules, road_target_at + move)
        )
        totals = get(mem, pos + trained_totals_at) + get(rules, totals_change_at + table_index)
        return 100 * ((totals >> 32) - (totals & _LOWER_32_BITS_MASK))

    @inlined
    def observe(_rules: Any, mem: Any, pos: Any, observations: Any, row: Any) -> None:
        foe = get(mem, pos + foe_at)
        for v in range(observations.shape[1]):
            armies = 0
            for i in range(army_plane_count):
                armies |= ((get(mem, pos + i) >> v) & 1) << i
            armies = min(armies, 127)
            observations[row, v] = -armies if (foe >> v) & 1 else armies

    survey, foresee = (None, None) if has_network else make_leaf_estimate_functions(layout)
    return Kernel(
        name=f"riskless{army_plane_count}{NETWORK_KERNEL_NAME_SUFFIX if has_network else ''}",
        words=layout.position_words + (MAX_COMPILED_TERRITORIES if has_network else 0),
        key_word_count=army_plane_count + 2,
        moves=moves,
        play=play,
        status=status,
        estimate=make_network_estimate(layout) if has_network else make_feature_estimate(layout),
        score_move=score_move,
        survey=survey,
        foresee=foresee,
        observe=observe,
        shape_word_count=2,
    )
