"""Transposition table that all threads share without a lock.

A bucket is one cache line with four entries of two words each: the data, and the key xor the data. If an entry is read
while another thread writes it, its two words do not match, so the reader takes it for the entry of another position. The
data word packs five numbers: the value, relative to the node as in `bots.search.table`; the depth of the search, in
plies; the kind of bound; the best or cutting move; and the number of the root search that stored the entry, modulo
TABLE_GENERATION_COUNT. A data word of 0 is an empty entry, because every stored depth is at least 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from arena.bots.compiled.cache import compile_kernel, inlined
from arena.bots.compiled.intrinsics import get, hash_pair, prefetch, put
from arena.bots.compiled.kernel import PLAYING, Kernel, Words
from arena.bots.compiled.memory_layout import (
    CACHE_LINE_WORDS,
    FIRST_FRAME_OFFSET,
    MemorySizes,
    SearchOption,
    ThreadField,
)
from arena.bots.search.search_values import ESTIMATE_LIMIT

UPPER, LOWER, EXACT = 1, 2, 3
"""Kinds of bounds: the true value is at most, at least, or exactly the stored one."""

_ENTRIES_PER_BUCKET = 4
_VALUE_OFFSET = 1 << 21
_DEPTH_SHIFT, _BOUND_SHIFT, _MOVE_SHIFT, _GENERATION_SHIFT = 22, 30, 32, 45
_MOVE_BITS_MASK = (1 << 13) - 1
TABLE_GENERATION_COUNT = 256

_HASH_CONSTANTS = tuple(
    int(word) for word in np.array([0x2D358DCCAA6C78A5, 0x8BB84B93962EACC9, 0x4B33A62ED433D4A3,
    0x4D5A2DA51DE1AA47, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x589965CC75374CC3, 0x1D8E4E27C47D124F,
    0xEB44ACCAB455D165, 0x9C6E6877736C46E3], np.uint64).view(np.int64)
)  # fmt: skip
_SALT, _LAST = _HASH_CONSTANTS[8], _HASH_CONSTANTS[9]


def make_transposition_table(megabytes: int) -> Words:
    """Return an empty table of at most `megabytes` MiB, as an array of words in which every bucket is one cache line.

    The number of buckets is the largest power of two that fits, but at least 1.
    """
    bucket_count = 1 << max(megabytes * (1 << 20) // 64, 1).bit_length() - 1
    # np.full writes the memory now: otherwise the first search would wait 60 ms until the system allocates it
    padded_table = np.full((bucket_count + 1) * CACHE_LINE_WORDS, 0, np.int64)
    padding_words = -padded_table.ctypes.data % 64 // 8
    return padded_table[padding_words : padding_words + bucket_count * CACHE_LINE_WORDS]


def make_hash_function(words: int) -> Callable[..., Any]:
    """Return a function that hashes the first `words` words of the position at mem[pos], in pairs."""

    @inlined
    def hash_position(mem: Any, pos: Any) -> Any:
        hash_value = 0
        for i in range(0, words - 1, 2):
            hash_value ^= hash_pair(
                get(mem, pos + i) ^ _HASH_CONSTANTS[i % 8], get(mem, pos + i + 1) ^ _HASH_CONSTANTS[i % 8 + 1]
            )
        if words % 2:
            hash_value ^= hash_pair(get(mem, pos + words - 1) ^ _SALT, _LAST)
        return hash_pair(hash_value ^ _SALT, _LAST)

    return hash_position


@inlined
def mix_plies_left_into_key(key: Any, plies_left: Any) -> Any:
    """Return a hash key that also depends on the plies left before the ply limit.

    Positions whose search reaches the ply limit need such a key, because their values hold only at this ply.
    """
    return key ^ hash_pair(plies_left + _SALT, _LAST)


@inlined
def prefetch_bucket(table: Any, bucket_mask: Any, key: Any) -> None:
    """Start to load the bucket of a key into the processor's cache, so that the probe that follows need not wait for memory."""
    prefetch(table, (key & bucket_mask) * CACHE_LINE_WORDS)


@inlined
def probe_bucket(table: Any, bucket_mask: Any, key: Any) -> Any:
    """Return the data word of the table's entry with this key; 0 if the table has none."""
    bucket_start = (key & bucket_mask) * CACHE_LINE_WORDS
    for entry in range(_ENTRIES_PER_BUCKET):
        packed_entry = get(table, bucket_start + 2 * entry + 1)
        if get(table, bucket_start + 2 * entry) ^ packed_entry == key and packed_entry != 0:
            return packed_entry
    return 0


@inlined
def store_entry(
    table: Any,
    bucket_mask: Any,
    key: Any,
    value: Any,
    distance_from_root: Any,
    depth: Any,
    bound: Any,
    move: Any,
    generation: Any,
) -> None:
    """Store an entry in its bucket, where it replaces the least useful entry.

    The replaced entry is the first of these that exists: the entry of the same position, an empty entry, the shallowest
    entry of an earlier root search, the shallowest entry of this root search.

    bucket_mask         bit mask that selects the bucket by the key
    key                 hash key of the position
    distance_from_root  plies from the root to the position; a win or loss in `value` is counted from the root
    depth               depth of the search that gave `value`, in plies
    bound               kind of `value`: UPPER, LOWER or EXACT
    move                number of the best or cutting move
    generation          number of the root search, modulo TABLE_GENERATION_COUNT
    """
    bucket_start = (key & bucket_mask) * CACHE_LINE_WORDS
    chosen_entry = bucket_start
    min_worth = 1 << 20
    for entry in range(_ENTRIES_PER_BUCKET):
        entry_start = bucket_start + 2 * entry
        packed_entry = get(table, entry_start + 1)
        worth = unpack_depth(packed_entry)
        if packed_entry != 0 and get(table, entry_start) ^ packed_entry == key:
            worth = -2
        elif packed_entry == 0:
            worth = -1
        elif unpack_generation(packed_entry) == generation:
            worth += 256
        if worth < min_worth:
            min_worth = worth
            chosen_entry = entry_start
    if value > ESTIMATE_LIMIT:
        value += distance_from_root
    elif value < -ESTIMATE_LIMIT:
        value -= distance_from_root
    packed_entry = (value + _VALUE_OFFSET) | (depth << _DEPTH_SHIFT) | (bound << _BOUND_SHIFT)
    packed_entry |= ((move & _MOVE_BITS_MASK) << _MOVE_SHIFT) | (generation << _GENERATION_SHIFT)
    put(table, chosen_entry, key ^ packed_entry)
    put(table, chosen_entry + 1, packed_entry)


@inlined
def unpack_value(packed_entry: Any, distance_from_root: Any) -> Any:
    """Return the value in a table entry. The value of a win or a loss is converted to plies counted from the root.

    The entry counts these plies from the node, which is `distance_from_root` plies below the root.
    """
    value = (packed_entry & (2 * _VALUE_OFFSET - 1)) - _VALUE_OFFSET
    if value > ESTIMATE_LIMIT:
        value -= distance_from_root
    elif value < -ESTIMATE_LIMIT:
        value += distance_from_root
    return value


@inlined
def unpack_depth(packed_entry: Any) -> Any:
    """Return the depth, in plies, to which the position of the table's entry was searched."""
    return (packed_entry >> _DEPTH_SHIFT) & 255


@inlined
def unpack_bound(packed_entry: Any) -> Any:
    """Return the kind of the value in a table entry: UPPER, LOWER or EXACT."""
    return (packed_entry >> _BOUND_SHIFT) & 3


@inlined
def unpack_move(packed_entry: Any) -> Any:
    """Return the move in a table entry, the best one or the one that caused a cutoff, as its number; -1 if there is none."""
    move = (packed_entry >> _MOVE_SHIFT) & _MOVE_BITS_MASK
    return -1 if move == _MOVE_BITS_MASK else move


@inlined
def unpack_generation(packed_entry: Any) -> Any:
    """Return the number of the root search that stored the table's entry, modulo TABLE_GENERATION_COUNT."""
    return (packed_entry >> _GENERATION_SHIFT) & (TABLE_GENERATION_COUNT - 1)


@inlined
def decides_window(packed_entry: Any, value: Any, alpha: Any, beta: Any) -> Any:
    """Return True if a table entry makes a search with the window (alpha, beta) unnecessary.

    value         value of the entry
    packed_entry  data word of the entry, which tells whether `value` is exact, a lower bound or an upper bound
    """
    bound = unpack_bound(packed_entry)
    return bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)


@cache
def make_main_line_reader(kernel: Kernel) -> Callable[..., Any]:
    """Return the compiled function read_main_line(mem, shared, rules, table, best, depth, line_moves).

    The function writes the moves of the main line to `line_moves`, starting with the root's move `best`, and returns their
    number. The main line is at most `depth` plies long, and ends at the first position without an exact value in the table.
    """
    frame_words = MemorySizes(kernel.words, 0).frame_words
    moves, play, status = kernel.moves, kernel.play, kernel.status
    hash_position = make_hash_function(kernel.key_word_count)

    def read_main_line(
        mem: Any, shared: Any, rules: Any, table: Any, best: Any, depth: Any, line_moves: Any
    ) -> Any:
        frame = FIRST_FRAME_OFFSET
        move = best
        move_count = 0
        list_at = get(mem, ThreadField.MOVE_LISTS_OFFSET)
        for distance in range(depth):
            count = moves(rules, mem, frame, list_at)
            is_legal = False
            for i in range(count):
                is_legal |= get(mem, list_at + i) == move
            if not is_legal:
                break
            put(line_moves, distance, move)
            move_count += 1
            play(rules, mem, frame, frame + frame_words, move)
            frame += frame_words
            plies_left = get(shared, SearchOption.PLIES_LEFT_AT_ROOT) - distance - 1
            if status(rules, mem, frame) != PLAYING or plies_left <= 0:
                break
            key = hash_position(mem, frame)
            if depth - distance - 1 >= plies_left:
                key = mix_plies_left_into_key(key, plies_left)
            packed_entry = probe_bucket(table, get(shared, SearchOption.TABLE_MASK), key)
            if packed_entry == 0 or unpack_bound(packed_entry) != EXACT:
                break
            move = unpack_move(packed_entry)
        return move_count

    return compile_kernel(read_main_line, f"line-{kernel.name}")
