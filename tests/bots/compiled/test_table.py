"""The shared transposition table: stored entries, and rejection of half-written ones."""

from __future__ import annotations

import random
import threading
from functools import cache
from typing import Any

import numpy as np
import pytest

from arena.bots.compiled.cache import compile_kernel
from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.intrinsics import put
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.compiled.table import (
    EXACT,
    LOWER,
    UPPER,
    make_transposition_table,
    probe_bucket,
    store_entry,
    unpack_bound,
    unpack_depth,
    unpack_generation,
    unpack_move,
    unpack_value,
)
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.problem import Problem
from arena.bots.search.search_values import WIN_VALUE, to_node_value, to_root_value
from arena.games.riskless import Riskless
from arena.maps.loader import load_map

MASK = 63


@cache
def make_store() -> Any:
    def call(table: Any, key: Any, entry: Any) -> None:
        store_entry(table, MASK, key, entry[0], entry[1], entry[2], entry[3], entry[4], entry[5])

    return compile_kernel(call, "test-keep")


@cache
def make_probe() -> Any:
    def call(table: Any, key: Any, distance: Any, out: Any) -> None:
        data = probe_bucket(table, MASK, key)
        put(out, 0, data)
        put(out, 1, unpack_value(data, distance))
        put(out, 2, unpack_depth(data))
        put(out, 3, unpack_bound(data))
        put(out, 4, unpack_move(data))
        put(out, 5, unpack_generation(data))

    return compile_kernel(call, "test-look")


def probe_table(table: Any, key: int, distance: int = 0) -> list[int] | None:
    out = np.zeros(6, np.int64)
    make_probe()(table, key, distance, out)
    return [int(each) for each in out[1:]] if out[0] else None


def store_test_entry(table: Any, key: int, *entry: int) -> None:
    make_store()(table, key, np.array(entry, np.int64))


def draw_key(bucket: int, rng: random.Random) -> int:
    return (rng.getrandbits(57) << 6) | bucket


@pytest.mark.parametrize("value", [0, 1, -1, 900_000, -900_000, WIN_VALUE - 7, -(WIN_VALUE - 7)])
@pytest.mark.parametrize("bound", [EXACT, LOWER, UPPER])
def test_an_entry_is_read_relative_to_another_distance(value: int, bound: int) -> None:
    table = make_transposition_table(1)
    store_test_entry(table, 77, value, 5, 9, bound, 4031, 255)
    assert probe_table(table, 77, 11) == [to_root_value(to_node_value(value, 5), 11), 9, bound, 4031, 255]
    assert probe_table(table, 78) is None
    assert probe_table(table, 77 + 64) is None


def test_an_entry_without_a_move_is_read_without_one() -> None:
    table = make_transposition_table(1)
    store_test_entry(table, 77, 3, 0, 1, UPPER, -1, 0)
    assert probe_table(table, 77) == [3, 1, UPPER, -1, 0]


def test_entries_of_earlier_searches_and_then_shallow_ones_are_replaced() -> None:
    table, rng = make_transposition_table(1), random.Random(1)
    keys = [draw_key(3, rng) for _ in range(6)]
    for key, depth, age in zip(keys, (9, 2, 8, 7), (1, 2, 2, 2), strict=False):
        store_test_entry(table, key, 1, 0, depth, EXACT, 1, age)
    store_test_entry(table, keys[4], 1, 0, 1, EXACT, 1, 2)
    assert probe_table(table, keys[0]) is None  # of another search
    store_test_entry(table, keys[5], 1, 0, 5, EXACT, 1, 2)
    assert probe_table(table, keys[4]) is None  # depth 1
    assert all(probe_table(table, key) for key in (keys[1], keys[2], keys[3], keys[5]))


def test_a_new_entry_replaces_the_entry_of_the_same_position() -> None:
    table, rng = make_transposition_table(1), random.Random(2)
    keys = [draw_key(3, rng) for _ in range(4)]
    for key in keys:
        store_test_entry(table, key, 1, 0, 9, EXACT, 1, 1)
    store_test_entry(table, keys[2], 5, 0, 1, LOWER, 2, 1)
    assert probe_table(table, keys[2]) == [5, 1, LOWER, 2, 1]
    assert all(probe_table(table, key) for key in keys)


def test_a_half_written_entry_is_rejected() -> None:
    table, rng = make_transposition_table(1), random.Random(3)
    one, other = draw_key(3, rng), draw_key(3, rng)
    store_test_entry(table, one, 11, 0, 4, EXACT, 1, 1)
    before = table.copy()
    table[:] = 0
    store_test_entry(table, other, 22, 0, 6, EXACT, 2, 1)
    after = table.copy()
    changed = np.flatnonzero(before != after)
    assert len(changed) == 2
    for half in changed:
        torn = before.copy()
        torn[half] = after[half]
        assert probe_table(torn, one) is None
        assert probe_table(torn, other) is None


def test_threads_never_read_unwritten_entries() -> None:
    table, rng = make_transposition_table(1), random.Random(4)
    keys = [draw_key(3, rng) for _ in range(8)]
    store_test_entry(table, keys[0], 0, 0, 1, EXACT, 0, 0)
    probe_table(table, keys[0])

    def write(seed: int) -> None:
        own = random.Random(seed)
        for _ in range(3000):
            n = own.randrange(len(keys))
            # value and move identify the key; the depth varies
            store_test_entry(table, keys[n], 100 + n, 0, own.randint(1, 50), EXACT, n, 1)

    writers = [threading.Thread(target=write, args=(seed,)) for seed in (5, 6)]
    for writer in writers:
        writer.start()
    for _ in range(3000):
        n = rng.randrange(len(keys))
        entry = probe_table(table, keys[n])
        if entry is not None and entry[4] == 1:
            assert (entry[0], entry[3]) == (100 + n, n)
    for writer in writers:
        writer.join()


@pytest.mark.parametrize(("megabytes", "words"), [(1, 1 << 17), (3, 1 << 18), (4, 1 << 19)])
def test_a_table_is_a_power_of_two_on_cache_lines(megabytes: int, words: int) -> None:
    table = make_transposition_table(megabytes)
    assert len(table) == words
    assert table.ctypes.data % 64 == 0


@pytest.mark.parametrize("map", ["path4", "m1"])
def test_the_line_is_legal_and_a_complete_one_leads_to_the_value(map: str) -> None:
    game = Riskless(load_map(map))
    searcher = Searcher(game, weights_for(game, "features"), Settings(table_mb=1, exact=True))
    problem = Problem(game, evaluator_for(game, "features"))
    whole = 0
    for report in searcher.deepen(game.start(), max_depth=7):
        position = game.start()
        for move in report.line:
            position = game.play(position, move)
        assert report.line[0] == report.move
        assert len(report.line) <= max(report.depth, 1)
        if report.depth and len(report.line) == report.depth:
            whole += 1
            assert problem.expand(position, 0, report.depth).value == report.value
    searcher.close()
    assert whole >= 3
