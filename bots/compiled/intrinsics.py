"""Machine instructions that Python cannot express, as functions for kernels (functions that numba compiles).

numba calls each function while it compiles, with the types of the arguments, and gets a signature and a code generator. A
kernel calls the function without `_typing`, and gets the result that the docstring describes.

Kernels use only one type, the signed 64-bit word. A set of up to 64 territories is also a word, used as a bit mask; only
shifts to the right must take account of the sign.

`get` and `put` read and write `array[index]` without Python's negative indices: numba would test the sign of every index,
and these tests would take a fifth of the time of a search. Nothing is checked: an index out of range is a bug in the kernel,
and corrupts memory.

The atomic operations are sequentially consistent: writes of a thread before it releases a lock are visible
to another thread after it acquires the lock.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

SignatureAndCodegen = tuple[Any, Callable[..., Any]]

_WORD_TYPE = ir.IntType(64)
_DOUBLE_WORD_TYPE = ir.IntType(128)
_INDEX_TYPE = ir.IntType(32)
_declare_function: Any = cgutils.get_or_insert_function


def _make_intrinsic(definition: Callable[..., Any]) -> Callable[..., Any]:
    return cast("Callable[..., Any]", intrinsic(definition))


def _make_intrinsic_with_constants(definition: Callable[..., Any]) -> Callable[..., Any]:
    return cast("Callable[..., Any]", intrinsic(prefer_literal=True)(definition))


def _make_element_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


def _make_word_constant(value: int) -> Any:
    return ir.Constant(_WORD_TYPE, value)


@_make_intrinsic
def get(_typing: Any, array: Any, index: Any) -> SignatureAndCodegen:
    """Return array[index] without a bounds check; the array must be flat, and 0 <= index < its length."""
    del index

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(_make_element_pointer(context, builder, array, *arguments))

    return types.int64(array, types.int64), generate_code


@_make_intrinsic
def put(_typing: Any, array: Any, index: Any, value: Any) -> SignatureAndCodegen:
    """Set array[index] = value without a bounds check; the array must be flat, and 0 <= index < its length."""
    del index, value

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _make_element_pointer(context, builder, array, *arguments[:2]))
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate_code


@_make_intrinsic
def popcount(_typing: Any, word: Any) -> SignatureAndCodegen:
    """Return the number of set bits of the word."""
    del word
    return types.int64(types.int64), lambda _context, builder, _signature, arguments: builder.ctpop(
        arguments[0]
    )


@_make_intrinsic
def lowest_bit(_typing: Any, word: Any) -> SignatureAndCodegen:
    """Return the number of the lowest set bit of a word other than 0."""
    del word

    def generate_code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.int64(types.int64), generate_code


@_make_intrinsic
def truncated_quotient(_typing: Any, dividend: Any, divisor: Any) -> SignatureAndCodegen:
    """Return the quotient of two whole numbers, rounded towards 0. Both must be below 2^53, and the divisor above 0.

    The division is done in floating point, which takes half the time of an integer division. The result is exact all the
    same: rounding to the nearest double never raises a quotient to the next whole number.
    """
    del dividend, divisor

    def generate_code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        dividend_double, divisor_double = (builder.sitofp(each, ir.DoubleType()) for each in arguments)
        return builder.fptosi(builder.fdiv(dividend_double, divisor_double), _WORD_TYPE)

    return types.int64(types.int64, types.int64), generate_code


@_make_intrinsic_with_constants
def gather_bit_column(
    _typing: Any, array: Any, index: Any, bit: Any, count: Any
) -> SignatureAndCodegen | None:
    """Return a number whose bit i is bit `bit` of array[index + i], for i from 0 to `count` - 1.

    `count` is a compile-time constant. The words are read as one vector, whose length is `count` rounded up to a
    multiple of four, so the array must have that many words. Each word is shifted until its bit `bit` is the sign bit,
    and one instruction collects the signs.
    """
    del index, bit
    if not isinstance(count, types.IntegerLiteral):
        return None
    lane_count = -(-count.literal_value // 4) * 4
    mask = (1 << count.literal_value) - 1

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(_WORD_TYPE, lane_count)
        undefined = ir.Constant(vector, ir.Undefined)
        pointer = _make_element_pointer(context, builder, array, *arguments[:2])
        words = builder.load(builder.bitcast(pointer, vector.as_pointer()), align=8)
        shift = builder.insert_element(
            undefined, builder.sub(_make_word_constant(63), arguments[2]), ir.Constant(_INDEX_TYPE, 0)
        )
        zero_indexes = ir.Constant(ir.VectorType(_INDEX_TYPE, lane_count), [0] * lane_count)
        shifted = builder.shl(words, builder.shuffle_vector(shift, undefined, zero_indexes))
        signs = builder.icmp_signed("<", shifted, ir.Constant(vector, [0] * lane_count))
        bits = builder.zext(builder.bitcast(signs, ir.IntType(lane_count)), _WORD_TYPE)
        return bits if lane_count == count.literal_value else builder.and_(bits, _make_word_constant(mask))

    return types.int64(array, types.int64, types.int64, count), generate_code


@_make_intrinsic_with_constants
def unpack_bit_columns(
    _typing: Any, array: Any, index: Any, out: Any, count: Any
) -> SignatureAndCodegen | None:
    """Transpose bits: write 64 numbers as bytes to array[out] … array[out + 7]. Bit i of number v is bit v of array[index + i].

    `count` is the number of bits of a number, a compile-time constant of at most 8. Afterwards, `get_byte` reads one of
    the numbers faster than `gather_bit_column`.
    """
    del index, out
    if not isinstance(count, types.IntegerLiteral):
        return None
    bit_count = count.literal_value

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte_type = ir.IntType(8)
        vector_type = ir.VectorType(byte_type, 64)
        zero = numbers = ir.Constant(vector_type, [0] * 64)
        bit_of_byte = ir.Constant(vector_type, [1 << v % 8 for v in range(64)])
        byte_indexes = ir.Constant(ir.VectorType(_INDEX_TYPE, 64), [v // 8 for v in range(64)])
        for bit in range(bit_count):
            index = builder.add(arguments[1], _make_word_constant(bit))
            word = builder.load(_make_element_pointer(context, builder, array, arguments[0], index))
            word_bytes = builder.bitcast(word, ir.VectorType(byte_type, 8))
            copies = builder.shuffle_vector(word_bytes, word_bytes, byte_indexes)
            is_set = builder.icmp_unsigned("==", builder.and_(copies, bit_of_byte), bit_of_byte)
            bits = ir.Constant(vector_type, [1 << bit] * 64)
            numbers = builder.or_(numbers, builder.select(is_set, bits, zero))
        pointer = _make_element_pointer(context, builder, array, arguments[0], arguments[2])
        builder.store(numbers, builder.bitcast(pointer, vector_type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, count), generate_code


@_make_intrinsic
def get_byte(_typing: Any, array: Any, index: Any, byte: Any) -> SignatureAndCodegen:
    """Return the byte with number `byte` of the bytes that begin at array[index], as a number from 0 to 255."""
    del index, byte

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = _make_element_pointer(context, builder, array, *arguments[:2])
        bytes_pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        return builder.zext(builder.load(builder.gep(bytes_pointer, [arguments[2]])), _WORD_TYPE)

    return types.int64(array, types.int64, types.int64), generate_code


def _make_byte_comparison(predicate: str, description: str) -> Callable[..., Any]:
    def compare_bytes(_typing: Any, array: Any, index: Any, number: Any) -> SignatureAndCodegen:
        del index, number

        def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            vector_type = ir.VectorType(ir.IntType(8), 64)
            pointer = _make_element_pointer(context, builder, array, *arguments[:2])
            numbers = builder.load(builder.bitcast(pointer, vector_type.as_pointer()), align=8)
            undefined = ir.Constant(vector_type, ir.Undefined)
            byte = builder.trunc(arguments[2], ir.IntType(8))
            first = builder.insert_element(undefined, byte, ir.Constant(_INDEX_TYPE, 0))
            zero_indexes = ir.Constant(ir.VectorType(_INDEX_TYPE, 64), [0] * 64)
            copies = builder.shuffle_vector(first, undefined, zero_indexes)
            return builder.bitcast(builder.icmp_unsigned(predicate, numbers, copies), _WORD_TYPE)

        return types.int64(array, types.int64, types.int64), generate_code

    compare_bytes.__doc__ = description
    return _make_intrinsic(compare_bytes)


find_bytes_at_least = _make_byte_comparison(
    ">=", "Return the set of the 64 bytes from array[index] to array[index + 7] that are at least `number`."
)
find_bytes_at_most = _make_byte_comparison(
    "<=", "Return the set of the 64 bytes from array[index] to array[index + 7] that are at most `number`."
)


@_make_intrinsic
def hash_pair(_typing: Any, left: Any, right: Any) -> SignatureAndCodegen:
    """Return a strong hash of two words: the xor of both halves of their 128-bit product."""
    del left, right

    def generate_code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        product = builder.mul(*(builder.zext(word, _DOUBLE_WORD_TYPE) for word in arguments))
        high = builder.trunc(builder.lshr(product, ir.Constant(_DOUBLE_WORD_TYPE, 64)), _WORD_TYPE)
        return builder.xor(builder.trunc(product, _WORD_TYPE), high)

    return types.int64(types.int64, types.int64), generate_code


@_make_intrinsic
def atomic_swap(_typing: Any, array: Any, index: Any, value: Any) -> SignatureAndCodegen:
    """Set array[index] atomically, and return its previous value."""
    del index, value

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = _make_element_pointer(context, builder, array, *arguments[:2])
        return builder.atomic_rmw("xchg", pointer, arguments[2], ordering="seq_cst")

    return types.int64(array, types.int64, types.int64), generate_code


@_make_intrinsic
def fetch_add(_typing: Any, array: Any, index: Any, value: Any) -> SignatureAndCodegen:
    """Add `value` to array[index] atomically, and return the previous value of array[index]."""
    del index, value

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = _make_element_pointer(context, builder, array, *arguments[:2])
        return builder.atomic_rmw("add", pointer, arguments[2], ordering="seq_cst")

    return types.int64(array, types.int64, types.int64), generate_code


@_make_intrinsic
def atomic_load(_typing: Any, array: Any, index: Any) -> SignatureAndCodegen:
    """Return array[index] as it is in memory now, including writes of other threads."""
    del index

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = _make_element_pointer(context, builder, array, *arguments)
        return builder.load_atomic(pointer, ordering="seq_cst", align=8)

    return types.int64(array, types.int64), generate_code


@_make_intrinsic
def atomic_store(_typing: Any, array: Any, index: Any, value: Any) -> SignatureAndCodegen:
    """Set array[index] = value, visible to every thread that loads it atomically afterwards."""
    del index, value

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = _make_element_pointer(context, builder, array, *arguments[:2])
        builder.store_atomic(arguments[2], pointer, ordering="seq_cst", align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate_code


@_make_intrinsic
def prefetch(_typing: Any, array: Any, index: Any) -> SignatureAndCodegen:
    """Start to load array[index] into the processor's cache, because it will soon be read and written."""
    del index

    def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = builder.bitcast(
            _make_element_pointer(context, builder, array, *arguments), ir.IntType(8).as_pointer()
        )
        flag_type = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [pointer.type, flag_type, flag_type, flag_type])
        builder.call(
            _declare_function(builder.module, function_type, "llvm.prefetch.p0"),
            [pointer, *(ir.Constant(flag_type, each) for each in (0, 3, 1))],
        )
        return context.get_dummy_value()

    return types.void(array, types.int64), generate_code


@_make_intrinsic
def spin_pause(_typing: Any) -> SignatureAndCodegen:
    """Pause for some tens of cycles if the processor has an instruction for that. For short waiting loops."""

    def generate_code(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        if platform.machine().lower() in {"x86_64", "amd64"}:
            function_type = ir.FunctionType(ir.VoidType(), [])
            builder.call(_declare_function(builder.module, function_type, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate_code


@_make_intrinsic
def yield_core(_typing: Any) -> SignatureAndCodegen:
    """Let another thread run on this CPU core, if one is waiting for the core. For long waiting loops."""

    def generate_code(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        if sys.platform != "win32":  # its C library has no such function
            function_type = ir.FunctionType(ir.IntType(32), [])
            builder.call(_declare_function(builder.module, function_type, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), generate_code
