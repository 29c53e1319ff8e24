"""Trees whose nodes are created on first access (section 5 of source 000, which docs/search.md lists).

A `LazyList` computes an element when it is first accessed, and keeps it, like Haskell's call by need. A `Tree` has a
label, also computed on first access, and a lazy list of subtrees. The functions on trees can be composed, even on
infinite trees, because each computes only what its caller needs.

Haskell also releases nodes that are no longer needed. In Python the whole tree stays in memory: the code that walks it
refers to its root, and a lazy list refers to all computed elements. A tree with `memoize=False` avoids this by yielding
each subtree once without keeping it (`SinglePassIterable`). Such a tree can be walked only once, and only a small part of it is
in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class LazyList(Generic[A]):
    """List of the elements of an iterable. Each element is computed on first access, and then stored."""

    __slots__ = ("_elements", "_rest")

    def __init__(self, elements: Iterable[A] = ()) -> None:
        self._elements: list[A] = []
        self._rest = iter(elements)

    def __iter__(self) -> Iterator[A]:
        index = 0
        while True:
            if index == len(self._elements):
                try:
                    self._elements.append(next(self._rest))
                except StopIteration:
                    return
            yield self._elements[index]
            index += 1

    def __bool__(self) -> bool:
        """Return True if the list has at least one element. At most the first element is computed."""
        return next(iter(self), self) is not self


class ElementsReadTwice(Exception):
    """Raised when the elements of a `SinglePassIterable` are read twice, which is a bug in the code that walks the tree."""


class SinglePassIterable(Generic[A]):
    """Elements of an iterable. Each element is computed on access, yielded once, and not stored."""

    __slots__ = ("_first", "_rest")

    def __init__(self, elements: Iterable[A] = ()) -> None:
        self._first: list[A] = []
        """First element, if it has been fetched by a truth test but not yet yielded; otherwise empty."""
        self._rest: Iterator[A] | None = iter(elements)

    def __iter__(self) -> Iterator[A]:
        """Return an iterator over the elements. Raises ElementsReadTwice at the second call, because elements are not kept."""
        rest, self._rest = self._unread_elements(), None
        return self._read_elements(rest)

    def __bool__(self) -> bool:
        """Return True if there is at least one element. At most the first element is computed.

        Raises ElementsReadTwice after an iteration over the elements has begun.
        """
        rest = self._unread_elements()
        if not self._first:
            self._first.extend(islice(rest, 1))
        return bool(self._first)

    def _unread_elements(self) -> Iterator[A]:
        if self._rest is None:
            raise ElementsReadTwice(
                "the subtrees of this node can be read only once: build the tree with memoize=True to read them again"
            )
        return self._rest

    def _read_elements(self, rest: Iterator[A]) -> Iterator[A]:
        while self._first:
            yield self._first.pop()
        yield from rest


class Tree(Generic[A]):
    """Lazy tree: a label, which `compute_label` returns on first access, and subtrees.

    If `memoize` is True, the subtrees are stored; otherwise they can be iterated over only once, which saves memory. The
    class is the type Node in the paper by Hughes (source 000 in docs/search.md).
    """

    __slots__ = ("_compute", "_label", "memoize", "subtrees")

    def __init__(
        self, compute_label: Callable[[], A], subtrees: Iterable[Tree[A]] = (), *, memoize: bool = True
    ) -> None:
        self._compute: Callable[[], A] | None = compute_label
        self._label: A | None = None
        self.memoize = memoize
        self.subtrees: LazyList[Tree[A]] | SinglePassIterable[Tree[A]] = (
            LazyList(subtrees) if memoize else SinglePassIterable(subtrees)
        )

    @property
    def label(self) -> A:
        """Return the label of the tree's root, computed on first access."""
        if self._compute is not None:
            self._label = self._compute()
            self._compute = None
        return self._label  # type: ignore[return-value]


def reptree(successors: Callable[[A], Iterable[A]], label: A, *, memoize: bool = True) -> Tree[A]:
    """Return the tree that grows from `label` by repeatedly applying `successors`.

    memoize   True to keep computed subtrees; otherwise the tree, and every tree made from it, can be walked only once
    """

    def make_subtrees() -> Iterator[Tree[A]]:
        for successor in successors(label):
            yield reptree(successors, successor, memoize=memoize)

    return Tree(lambda: label, make_subtrees(), memoize=memoize)


def maptree(function: Callable[[A], B], tree: Tree[A]) -> Tree[B]:
    """Return the tree with `function` applied to every label. Each new label is computed on first access."""
    mapped_subtrees = (maptree(function, subtree) for subtree in tree.subtrees)
    return Tree(lambda: function(tree.label), mapped_subtrees, memoize=tree.memoize)


def prune(
    depth: int, tree: Tree[A], *, is_dynamic: Callable[[A], bool] | None = None, max_extra_plies: int = 0
) -> Tree[A]:
    """Return the tree cut off at `depth`, except below dynamic nodes, which are too unstable to estimate.

    `is_dynamic` returns True for the label of a dynamic node; None if no node is dynamic. Below dynamic nodes, the tree
    continues for at most `max_extra_plies` plies beyond `depth`. The function `prune` in the paper by Hughes (source 000
    in docs/search.md) has no such limit, so an endless path of dynamic nodes makes its result infinite.
    """

    def make_subtrees() -> Iterator[Tree[A]]:
        if depth > 0:
            for subtree in tree.subtrees:
                yield prune(depth - 1, subtree, is_dynamic=is_dynamic, max_extra_plies=max_extra_plies)
        elif is_dynamic is not None and max_extra_plies > 0 and is_dynamic(tree.label):
            for subtree in tree.subtrees:
                yield prune(0, subtree, is_dynamic=is_dynamic, max_extra_plies=max_extra_plies - 1)

    return Tree(lambda: tree.label, make_subtrees(), memoize=tree.memoize)


def foldtree(rebuild: Callable[[Tree[A], Iterable[Tree[B]]], Tree[B]], tree: Tree[A]) -> Tree[B]:
    """Return a new tree, in which `rebuild` has replaced every node of `tree`.

    `rebuild` receives a node with its original subtrees, and the rebuilt subtrees of this node, and returns the new
    node. Each rebuilt subtree is computed only when it is accessed.
    """
    return rebuild(tree, (foldtree(rebuild, subtree) for subtree in tree.subtrees))


def taketree(count: int, tree: Tree[A]) -> Tree[A]:
    """Return the tree with only the first `count` subtrees of every node, which may change its minimax value."""
    return foldtree(
        lambda original, subtrees: Tree(
            lambda: original.label, islice(subtrees, count), memoize=original.memoize
        ),
        tree,
    )


SortKey = Callable[[A], int]
"""Function that maps the label of a tree's node to the key by which the node is sorted; a high key is good for Maxie."""


def highfirst(tree: Tree[A], key: SortKey[A]) -> Tree[A]:
    """Return the tree with the subtrees of each node sorted: the best one for the player to move at the node is first.

    Sort by `key(label)`, which is high for labels that are good for Maxie. She is to move at the root, and the players
    alternate, so the highest key is first at even depths, and the lowest at odd depths. The sort is stable. Visiting a
    node computes the labels of all its subtrees.
    """
    return Tree(lambda: tree.label, _sort_subtrees(tree, lowfirst, key, sign=-1), memoize=tree.memoize)


def lowfirst(tree: Tree[A], key: SortKey[A]) -> Tree[A]:
    """Return the tree sorted as by `highfirst`, but with Minnie to move at the root."""
    return Tree(lambda: tree.label, _sort_subtrees(tree, highfirst, key, sign=1), memoize=tree.memoize)


def _sort_subtrees(
    tree: Tree[A], sort_subtree: Callable[[Tree[A], SortKey[A]], Tree[A]], key: SortKey[A], *, sign: int
) -> Iterator[Tree[A]]:
    remaining_subtrees = sorted(tree.subtrees, key=lambda subtree: sign * key(subtree.label))
    remaining_subtrees.reverse()
    while remaining_subtrees:  # popping releases each subtree once it is yielded
        yield sort_subtree(remaining_subtrees.pop(), key)
