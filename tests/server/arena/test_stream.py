"""server.arena.stream: in order and none missing, whatever the network does."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from arena.server.arena.stream import Arrived, Incoming, Outgoing


@given(st.integers(1, 60), st.floats(0, 0.6), st.floats(0, 0.4), st.integers(0, 2**32))
def test_all_arrives_once_and_in_order_over_a_network_that_loses_repeats_and_reorders(
    count: int, loses: float, repeats: float, seed: int
) -> None:
    random = Random(seed)
    out: Outgoing[int] = Outgoing(7)
    into = Incoming()
    network: list[tuple[int, list[int]]] = []
    taken: list[int] = []

    def publish(first: int, messages: list[int]) -> None:
        while random.random() >= loses:
            network.insert(random.randint(0, len(network)), (first, messages))
            if random.random() >= repeats:
                return

    def deliver() -> None:
        while network:
            first, messages = network.pop(0)
            taken.extend(into.take(7, first, messages)[1])

    for number in range(1, count + 1):
        out.add(number)
        publish(number, [number])
        if random.random() < 0.5:
            deliver()
    for _ in range(1000):
        deliver()
        if not into.lacks(7, out.sent):
            break
        out.acknowledge(into.stream, into.taken)
        publish(*out.after(into.stream, into.taken))
    assert taken == list(range(1, count + 1))
    out.acknowledge(into.stream, into.taken)
    assert len(out) == 0


def test_a_later_stream_takes_the_place_of_the_one_before() -> None:
    into = Incoming()
    assert into.take(3, 1, ["a", "b"]) == (Arrived.FRESH, ["a", "b"])
    assert into.take(3, 2, ["b", "c"]) == (Arrived.NEXT, ["c"])
    assert into.take(4, 2, ["y"]) == (Arrived.AHEAD, ())
    assert into.take(4, 1, ["x", "y"]) == (Arrived.FRESH, ["x", "y"])
    assert into.take(3, 4, ["d"]) == (Arrived.OLD, ())
    assert not into.lacks(3, 9)
    assert into.lacks(4, 3)
    assert into.lacks(5, 1)


def test_what_was_acknowledged_is_not_kept_and_what_comes_from_another_stream_says_nothing() -> None:
    out: Outgoing[str] = Outgoing(2)
    for each in "abcd":
        out.add(each)
    out.acknowledge(1, 4)
    out.acknowledge(2, 9)
    assert out.kept == ["a", "b", "c", "d"]
    out.acknowledge(2, 2)
    assert out.kept == ["c", "d"]
    assert out.after(2, 3) == (4, ["d"])
    assert out.after(1, 3) == (3, ["c", "d"])  # its receiver lacks what is kept no more: a new stream is due
