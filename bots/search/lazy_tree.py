"""Trees that come into being as they are looked at (000, section 5).

A lazy list computes an element when it is first asked for, and keeps it: what Haskell's call by need
does. A tree has a label, computed on demand as well, and a lazy list of subtrees. So the functions
here compose freely, also on infinite trees: each does as little as the one that consumes it wants.

Haskell also throws away what nobody will look at any more. In Python whoever walks a tree holds its root, and a lazy
list holds what it has computed. So there is a second kind of tree, whose subtrees are given once and not kept:
it is walked once, and only a small part of it is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class LazyList(Generic[A]):
    """The elements of an iterable, each computed once, when it is first reached."""

    __slots__ = ("_known", "_rest")

    def __init__(self, elements: Iterable[A] = ()) -> None:
        self._known: list[A] = []
        self._rest = iter(elements)

    def __iter__(self) -> Iterator[A]:
        position = 0
        while True:
            if position == len(self._known):
                try:
                    self._known.append(next(self._rest))
                except StopIteration:
                    return
            yield self._known[position]
            position += 1

    def __bool__(self) -> bool:
        """Whether there is an element; computes at most the first."""
        return next(iter(self), self) is not self


class VisitedAlready(Exception):
    """A second look at what was given away: a mistake of the program that walks the tree."""


class Passing(Generic[A]):
    """The elements of an iterable, each computed when it is reached, given once, and not kept."""

    __slots__ = ("_first", "_rest")

    def __init__(self, elements: Iterable[A] = ()) -> None:
        self._first: list[A] = []
        """The first element, where somebody has asked whether there is one and it is not given yet."""
        self._rest: Iterator[A] | None = iter(elements)

    def __iter__(self) -> Iterator[A]:
        """Give the elements. Raises VisitedAlready the second time."""
        rest, self._rest = self._untouched(), None
        return self._given(rest)

    def __bool__(self) -> bool:
        """Whether there is an element; computes at most the first. Raises VisitedAlready once they are given."""
        rest = self._untouched()
        if not self._first:
            self._first.extend(islice(rest, 1))
        return bool(self._first)

    def _untouched(self) -> Iterator[A]:
        if self._rest is None:
            raise VisitedAlready("the subtrees of this node were given once, and are not kept")
        return self._rest

    def _given(self, rest: Iterator[A]) -> Iterator[A]:
        while self._first:
            yield self._first.pop()
        yield from rest


class Tree(Generic[A]):
    """000's Node: a label and the subtrees, in a lazy list that keeps them or in one that does not."""

    __slots__ = ("_compute", "_label", "kept", "subtrees")

    def __init__(
        self, label: Callable[[], A], subtrees: Iterable[Tree[A]] = (), *, kept: bool = True
    ) -> None:
        self._compute: Callable[[], A] | None = label
        self._label: A | None = None
        self.kept = kept
        self.subtrees: LazyList[Tree[A]] | Passing[Tree[A]] = (
            LazyList(subtrees) if kept else Passing(subtrees)
        )

    @property
    def label(self) -> A:
        """The label, computed when it is first asked for."""
        if self._compute is not None:
            self._label = self._compute()
            self._compute = None
        return self._label  # type: ignore[return-value]


def reptree(successors: Callable[[A], Iterable[A]], label: A, *, kept: bool = True) -> Tree[A]:
    """The tree that grows from a label by applying `successors` again and again.

    kept   whether the subtrees stay once they are computed; else whatever is made of the tree is walked once
    """

    def grow() -> Iterator[Tree[A]]:
        for each in successors(label):
            yield reptree(successors, each, kept=kept)

    return Tree(lambda: label, grow(), kept=kept)


def maptree(function: Callable[[A], B], tree: Tree[A]) -> Tree[B]:
    """The same tree with the function applied to every label, when that label is asked for."""
    mapped = (maptree(function, each) for each in tree.subtrees)
    return Tree(lambda: function(tree.label), mapped, kept=tree.kept)


def prune(
    depth: int, tree: Tree[A], *, dynamic: Callable[[A], bool] | None = None, bound: int = 0
) -> Tree[A]:
    """The tree cut off below `depth`, except below labels that are `dynamic`.

    There the look-ahead goes on, at most `bound` plies beyond `depth`: without a bound it need not
    end (erratum 7).
    """

    def below() -> Iterator[Tree[A]]:
        if depth > 0:
            for each in tree.subtrees:
                yield prune(depth - 1, each, dynamic=dynamic, bound=bound)
        elif dynamic is not None and bound > 0 and dynamic(tree.label):
            for each in tree.subtrees:
                yield prune(0, each, dynamic=dynamic, bound=bound - 1)

    return Tree(lambda: tree.label, below(), kept=tree.kept)


def foldtree(node: Callable[[Tree[A], Iterable[Tree[B]]], Tree[B]], tree: Tree[A]) -> Tree[B]:
    """Rebuild a tree from its leaves up, lazily: `node` gets each tree and its rebuilt subtrees."""
    return node(tree, (foldtree(node, each) for each in tree.subtrees))


def taketree(count: int, tree: Tree[A]) -> Tree[A]:
    """The tree with only the first `count` subtrees of every node. It changes values: a gamble."""
    return foldtree(
        lambda old, subtrees: Tree(lambda: old.label, islice(subtrees, count), kept=old.kept), tree
    )


Key = Callable[[A], int]
"""What a label is sorted by: high is good for Maxie."""


def highfirst(tree: Tree[A], key: Key[A]) -> Tree[A]:
    """The tree with subtrees sorted for Maxie, highest label first, alternating with `lowfirst`.

    This forces the labels of all subtrees of a node that is looked into. Equals stay in order.
    """
    return Tree(lambda: tree.label, _sorted(tree, lowfirst, key, sign=-1), kept=tree.kept)


def lowfirst(tree: Tree[A], key: Key[A]) -> Tree[A]:
    """The tree with subtrees sorted for Minnie, lowest label first."""
    return Tree(lambda: tree.label, _sorted(tree, highfirst, key, sign=1), kept=tree.kept)


def _sorted(
    tree: Tree[A], then: Callable[[Tree[A], Key[A]], Tree[A]], key: Key[A], *, sign: int
) -> Iterator[Tree[A]]:
    waiting = sorted(tree.subtrees, key=lambda subtree: sign * key(subtree.label))
    waiting.reverse()
    while waiting:  # what was given is not held here
        yield then(waiting.pop(), key)
