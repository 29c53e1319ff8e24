"""The course's sequences seen as lists (001, section 2.1).

A sequence is looked into one element at a time through its view: `showl` makes a Nil or a Cons of it, which a `match`
takes apart, and `hidel` makes a sequence of a view again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

A = TypeVar("A")


class Seq(Generic[A]):
    """Elements in their order, which are never changed; what follows the first shares them."""

    __slots__ = ("_elements", "_first")

    def __init__(self, elements: Iterable[A] = (), first: int = 0) -> None:
        """The elements, those before number `first` left out."""
        self._elements = elements if isinstance(elements, tuple) else tuple(elements)
        self._first = first

    def view(self) -> View[A]:
        """The sequence as `showl` shows it."""
        if self._first >= len(self._elements):
            return Nil()
        return Cons(self._elements[self._first], Seq(self._elements, self._first + 1))

    def after(self, head: A) -> Seq[A]:
        """The sequence with one element more in front. O(n)."""
        return Seq((head, *self._elements[self._first :]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Seq):
            return NotImplemented
        return self._elements[self._first :] == other._elements[other._first :]

    def __hash__(self) -> int:
        return hash(self._elements[self._first :])


@dataclass(frozen=True, slots=True)
class Nil:
    """The view of a sequence without elements."""


@dataclass(frozen=True, slots=True)
class Cons(Generic[A]):
    """The view of a sequence with a first element; what follows is a sequence and no view."""

    head: A
    tail: Seq[A]


View = Nil | Cons[A]


def showl(seq: Seq[A]) -> View[A]:
    """The view of a sequence, one level deep. O(1)."""
    return seq.view()


def hidel(view: View[A]) -> Seq[A]:
    """The sequence of a view: showl(hidel(v)) == v. O(n)."""
    match view:
        case Cons(head, tail):
            return tail.after(head)
        case Nil():
            return Seq()


def to_list(seq: Seq[A]) -> list[A]:
    """The elements as a list, found by nothing but views (001, Task 2.1). O(n) work and span."""
    found: list[A] = []
    while True:
        match showl(seq):
            case Nil():
                return found
            case Cons(head, seq):
                found.append(head)
