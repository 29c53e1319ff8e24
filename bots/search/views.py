"""Sequences that can be taken apart like linked lists, as in a functional language (source 001 in docs/search.md).

`showl` returns the view of a sequence: Nil if it is empty, otherwise a Cons of its first element and the rest. A `match`
statement takes the view apart, so a sequence is examined one element at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

A = TypeVar("A")


class Seq(Generic[A]):
    """Immutable sequence. Its rest (all elements but the first) shares storage with it."""

    __slots__ = ("_elements", "_first_index")

    def __init__(self, elements: Iterable[A] = (), first_index: int = 0) -> None:
        """Create a sequence of the `elements` from the index `first_index` on."""
        self._elements = elements if isinstance(elements, tuple) else tuple(elements)
        self._first_index = first_index

    def split_first(self) -> View[A]:
        """Return the view of the sequence: Nil if it is empty, otherwise a Cons."""
        if self._first_index >= len(self._elements):
            return Nil()
        return Cons(self._elements[self._first_index], Seq(self._elements, self._first_index + 1))


@dataclass(frozen=True, slots=True)
class Nil:
    """View of an empty sequence, for pattern matching."""


@dataclass(frozen=True, slots=True)
class Cons(Generic[A]):
    """View of a sequence with at least one element, for pattern matching. The rest is a sequence, not a view."""

    head: A
    tail: Seq[A]


View = Nil | Cons[A]


def showl(seq: Seq[A]) -> View[A]:
    """Return the view of a sequence: Nil, or a Cons of its first element and the rest. O(1)."""
    return seq.split_first()


def to_list(seq: Seq[A]) -> list[A]:
    """Return the elements as a list, read one at a time through the view, in O(n) time."""
    items: list[A] = []
    while True:
        match showl(seq):
            case Nil():
                return items
            case Cons(head, seq):
                items.append(head)
