from __future__ import annotations

import threading
from functools import cache
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.bots.compiled.cache import compile_kernel
from arena.bots.compiled.intrinsics import (
    atomic_load,
    atomic_store,
    atomic_swap,
    fetch_add,
    find_bytes_at_least,
    find_bytes_at_most,
    gather_bit_column,
    get,
    get_byte,
    hash_pair,
    lowest_bit,
    popcount,
    put,
    truncated_quotient,
    unpack_bit_columns,
)

WORDS = st.integers(-(2**63), 2**63 - 1)
LANES = 4


@cache
def make_calls() -> Any:
    """Write the result of each instruction, applied to two words, to `out`."""

    def call(words: Any, bit: Any, out: Any) -> None:
        left = get(words, 0)
        put(out, 0, popcount(left))
        put(out, 1, lowest_bit(left) if left != 0 else -1)
        put(out, 2, hash_pair(left, get(words, 1)))
        put(out, 3, gather_bit_column(words, 0, bit, 4))
        put(out, 6, gather_bit_column(words, 0, bit, 3))
        put(out, 4, atomic_swap(words, 2, left))
        put(out, 5, fetch_add(words, 3, left))
        atomic_store(words, 1, atomic_load(words, 0))

    return compile_kernel(call, "test-intrinsics")


def signed(word: int) -> int:
    word &= 2**64 - 1
    return word - 2**64 if word >> 63 else word


@settings(deadline=None)
@given(st.lists(WORDS, min_size=LANES, max_size=LANES), st.integers(0, 63))
def test_every_instruction_agrees_with_its_definition(given_words: list[int], bit: int) -> None:
    words, out = np.array(given_words, np.int64), np.zeros(7, np.int64)
    make_calls()(words, bit, out)
    plain = [word & (2**64 - 1) for word in given_words]
    product = plain[0] * plain[1]
    assert list(map(int, out)) == [
        plain[0].bit_count(),
        (plain[0] & -plain[0]).bit_length() - 1,
        signed(product ^ (product >> 64)),
        sum((word >> bit & 1) << place for place, word in enumerate(plain)),
        given_words[2],
        given_words[3],
        sum((word >> bit & 1) << place for place, word in enumerate(plain[:3])),
    ]
    assert list(map(int, words)) == [
        given_words[0],
        given_words[0],
        given_words[0],
        signed(given_words[3] + given_words[0]),
    ]


@cache
def make_byte_calls() -> Any:
    """Write the numbers in 8 words, and in the first 4 of them, as bytes, and the results of the instructions on bytes."""

    def call(words: Any, place: Any, number: Any, out: Any) -> None:
        unpack_bit_columns(words, 0, 8, 8)
        unpack_bit_columns(words, 0, 16, 4)
        put(out, 0, get_byte(words, 8, place))
        put(out, 1, find_bytes_at_least(words, 8, number))
        put(out, 2, find_bytes_at_most(words, 8, number))

    return compile_kernel(call, "test-byte-intrinsics")


@settings(deadline=None)
@given(st.lists(WORDS, min_size=8, max_size=8), st.integers(0, 63), st.integers(0, 255))
def test_instructions_on_bytes_agree_with_their_definitions(
    planes: list[int], place: int, number: int
) -> None:
    words, out = np.array(planes + 16 * [0], np.int64), np.zeros(3, np.int64)
    make_byte_calls()(words, place, number, out)
    numbers = [sum((word >> v & 1) << bit for bit, word in enumerate(planes)) for v in range(64)]
    assert list(words[8:16].view(np.uint8)) == numbers
    assert list(words[16:].view(np.uint8)) == [each & 15 for each in numbers]
    assert list(map(int, out)) == [
        numbers[place],
        signed(sum((each >= number) << v for v, each in enumerate(numbers))),
        signed(sum((each <= number) << v for v, each in enumerate(numbers))),
    ]


@cache
def make_counter() -> Any:
    def count(words: Any, times: Any) -> None:
        for _ in range(times):
            fetch_add(words, 0, 1)

    return compile_kernel(count, "test-fetch-add")


def test_no_addition_of_another_thread_is_lost() -> None:
    words, times = np.zeros(1, np.int64), 200_000
    make_counter()(words, 0)
    threads = [threading.Thread(target=make_counter(), args=(words, times)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(words[0]) == 4 * times


@cache
def make_divide() -> Any:
    """Write a truncated_quotient to `out`."""

    def call(words: Any, out: Any) -> None:
        put(out, 0, truncated_quotient(get(words, 0), get(words, 1)))

    return compile_kernel(call, "test-truncated_quotient")


NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)


@settings(deadline=None)
@given(NUMBERS, st.integers(1, 2**31), st.integers(-1, 1))
def test_a_quotient_is_rounded_towards_0(dividend: int, divisor: int, off: int) -> None:
    # Near a multiple of the divisor, a wrongly rounded truncated_quotient would be visible.
    for number in (dividend, max(min(dividend // divisor * divisor + off, 2**53 - 1), 1 - 2**53)):
        out = np.zeros(1, np.int64)
        make_divide()(np.array([number, divisor], np.int64), out)
        assert out[0] == abs(number) // divisor * (1 if number >= 0 else -1)
