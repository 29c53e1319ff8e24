"""Trees that come into being as they are looked at (000, section 5).

A lazy list computes an element when it is first asked for, and keeps it: what Haskell's call by need
does. A tree has a label, computed on demand as well, and a lazy list of subtrees. So the functions
here compose freely, also on infinite trees: each does as little as the one that consumes it wants.

One thing of 000 does not hold in Python: that what was looked at is reclaimed at once. A function that
walks a tree holds it, and the tree what it has computed, so memory grows with the nodes visited.
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


class Tree(Generic[A]):
    """000's Node: a label and a lazy list of subtrees."""

    __slots__ = ("_compute", "_label", "subtrees")

    def __init__(self, label: Callable[[], A], subtrees: Iterable[Tree[A]] = ()) -> None:
        self._compute: Callable[[], A] | None = label
        self._label: A | None = None
        self.subtrees = subtrees if isinstance(subtrees, LazyList) else LazyList(subtrees)

    @property
    def label(self) -> A:
        """The label, computed when it is first asked for."""
        if self._compute is not None:
            self._label = self._compute()
            self._compute = None
        return self._label  # type: ignore[return-value]


def reptree(successors: Callable[[A], Iterable[A]], label: A) -> Tree[A]:
    """The tree that grows from a label by applying `successors` again and again."""

    def grow() -> Iterator[Tree[A]]:
        for each in successors(label):
            yield reptree(successors, each)

    return Tree(lambda: label, grow())


def maptree(function: Callable[[A], B], tree: Tree[A]) -> Tree[B]:
    """The same tree with the function applied to every label, when that label is asked for."""
    return Tree(lambda: function(tree.label), (maptree(function, each) for each in tree.subtrees))


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

    return Tree(lambda: tree.label, below())


def foldtree(node: Callable[[Tree[A], Iterable[Tree[B]]], Tree[B]], tree: Tree[A]) -> Tree[B]:
    """Rebuild a tree from its leaves up, lazily: `node` gets each tree and its rebuilt subtrees."""
    return node(tree, (foldtree(node, each) for each in tree.subtrees))


def taketree(count: int, tree: Tree[A]) -> Tree[A]:
    """The tree with only the first `count` subtrees of every node. It changes values: a gamble."""
    return foldtree(lambda old, subtrees: Tree(lambda: old.label, islice(subtrees, count)), tree)


Key = Callable[[A], int]
"""What a label is sorted by: high is good for Maxie."""


def highfirst(tree: Tree[A], key: Key[A]) -> Tree[A]:
    """The tree with subtrees sorted for Maxie, highest label first, alternating with `lowfirst`.

    This forces the labels of all subtrees of a node that is looked into. Equals stay in order.
    """
    return Tree(lambda: tree.label, _sorted(tree, lowfirst, key, sign=-1))


def lowfirst(tree: Tree[A], key: Key[A]) -> Tree[A]:
    """The tree with subtrees sorted for Minnie, lowest label first."""
    return Tree(lambda: tree.label, _sorted(tree, highfirst, key, sign=1))


def _sorted(
    tree: Tree[A], then: Callable[[Tree[A], Key[A]], Tree[A]], key: Key[A], *, sign: int
) -> Iterator[Tree[A]]:
    for each in sorted(tree.subtrees, key=lambda subtree: sign * key(subtree.label)):
        yield then(each, key)
