"""The gallery: everybody sees each move, and a slow watcher skips to the newest position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from protocol.codes import EndReason
from protocol.messages import Clocks, End, Played, Players, ServerMessage, Update, View
from protocol.timecontrol import TimeControl
from server.rooms.spectators import AT_ONCE, GATHER_SECONDS, MAX_BACKLOG, Spectators
from tests.server.frames import from_wire

CLOCKS = Clocks(1, 1)
BYTES = 1024
"""How large what is written at once is taken to be."""
LEFT_OUT = MAX_BACKLOG // BYTES + 1
"""How often a watcher is written to that reads nothing."""


@dataclass(eq=False)
class Slow:
    """A watcher that reads when it is told to: a peer that misbehaves as slowly as a test wants."""

    backlog: int = 0
    frames: list[bytes] = field(default_factory=list)

    def tell_wire(self, wire: bytes) -> None:
        self.backlog += BYTES
        self.frames.append(wire)

    def heard(self) -> list[ServerMessage]:
        return [message for wire in self.frames for message in from_wire(wire)]

    def moves(self) -> list[int]:
        """The moves of the match, as a client puts them together. A ply that is missing is a failure."""
        moves: list[int] = []
        for message in self.heard():
            if isinstance(message, View):
                moves = [each.move for each in message.moves]
            elif isinstance(message, Update):
                assert message.ply == len(moves), "a ply is missing"
                moves.append(message.played.move)
        return moves


class Match:
    """Moves 0, 1, 2 … before a gallery."""

    def __init__(self) -> None:
        self.moves: list[Played] = []
        self.spectators = Spectators(self.view)

    def view(self) -> View:
        control = TimeControl.parse("1+0")
        return View("m", "e", "tictactoe", {}, Players("a", "b"), control, list(self.moves), CLOCKS, "maxie")

    def move(self) -> None:
        self.moves.append(Played(len(self.moves), 1.0))
        self.spectators.show(Update("m", len(self.moves) - 1, self.moves[-1], CLOCKS))

    def end(self) -> None:
        moves = [each.move for each in self.moves]
        self.spectators.close(lambda: End("m", None, EndReason.PLY_LIMIT, "", moves, CLOCKS))


def test_who_enters_sees_all_so_far_then_each_move_then_the_end() -> None:
    match, watcher = Match(), Slow()
    match.move()
    match.spectators.enter(watcher)
    match.move()
    match.end()
    assert [type(message) for message in watcher.heard()] == [View, Update, End]
    assert watcher.moves() == [0, 1]
    assert len(match.spectators) == 0


def test_who_leaves_sees_no_more() -> None:
    match, watcher = Match(), Slow()
    match.spectators.enter(watcher)
    match.spectators.leave(watcher)
    match.spectators.leave(watcher)
    match.move()
    assert len(watcher.frames) == 1


def test_a_frame_is_made_once_for_all() -> None:
    match, watchers = Match(), [Slow() for _ in range(3)]
    for watcher in watchers:
        match.spectators.enter(watcher)
    match.move()
    assert len({id(watcher.frames[-1]) for watcher in watchers}) == 1


def test_a_slow_watcher_is_left_out_and_skips_to_the_newest() -> None:
    match, slow, quick = Match(), Slow(), Slow()
    match.spectators.enter(slow)
    match.spectators.enter(quick)
    for _ in range(100):
        match.move()
        quick.backlog = 0
    assert len(slow.frames) == LEFT_OUT
    assert quick.moves() == list(range(100))
    slow.backlog = 0
    match.move()
    assert slow.moves() == list(range(101))
    assert len(slow.frames) == LEFT_OUT + 1


def test_even_one_that_never_read_is_told_the_end() -> None:
    match, slow = Match(), Slow()
    match.spectators.enter(slow)
    for _ in range(50):
        match.move()
    match.end()
    assert slow.moves() == list(range(50))
    assert isinstance(slow.heard()[-1], End)


@given(st.lists(st.sampled_from(["move", "read", "turn", "enter", "leave"]), max_size=150))
def test_told_by_turns_everybody_hears_everything_once_and_in_order(script: list[str]) -> None:
    """`turn`: the event loop comes to what was put off longest."""
    match, waiting = Match(), list[Callable[[], None]]()
    match.spectators = Spectators(match.view, lambda _seconds, call: waiting.append(call))
    watchers = [Slow() for _ in range(AT_ONCE * 2 + 3)]
    for watcher in watchers:
        match.spectators.enter(watcher)
    for number, what in enumerate(script):
        watcher = watchers[number % len(watchers)]
        if what == "move":
            match.move()
        elif what == "read":
            for each in watchers[::2]:
                each.backlog = 0
        elif what == "turn" and waiting:
            waiting.pop(0)()
        elif what == "enter":
            newcomer = Slow()
            watchers.append(newcomer)
            match.spectators.enter(newcomer)
        elif what == "leave" and len(watchers) > 1:
            watchers.remove(watcher)
            match.spectators.leave(watcher)
    match.end()
    while waiting:
        waiting.pop(0)()
    for watcher in watchers:
        assert watcher.moves() == list(range(len(match.moves)))
        assert isinstance(watcher.heard()[-1], End)


def test_nothing_is_kept_that_everybody_has_heard() -> None:
    match, waiting = Match(), list[Callable[[], None]]()
    match.spectators = Spectators(match.view, lambda _seconds, call: waiting.append(call))
    for _ in range(AT_ONCE + 1):
        match.spectators.enter(Slow())
    for _ in range(20):
        match.move()
        while waiting:
            waiting.pop(0)()
    assert not match.spectators._news
    assert len(waiting) == 0


@given(st.lists(st.booleans(), max_size=120))
def test_however_it_reads_nothing_is_missing_in_the_end_and_little_waits(script: list[bool]) -> None:
    match, watcher = Match(), Slow()
    match.spectators.enter(watcher)
    for moves in script:
        if moves:
            match.move()
        else:
            watcher.backlog = 0
        assert watcher.backlog <= MAX_BACKLOG + BYTES
    match.end()
    assert watcher.moves() == list(range(len(match.moves)))


@given(st.integers(1, 500))
def test_a_crowd_of_any_size_hears_evenly_and_soon(size: int) -> None:
    """Never many in one turn of the event loop, and everybody within twice the time of gathering."""
    match, waiting = Match(), list[tuple[float, Callable[[], None]]]()
    match.spectators = Spectators(match.view, lambda seconds, call: waiting.append((seconds, call)))
    watchers = [Slow() for _ in range(size)]
    for watcher in watchers:
        match.spectators.enter(watcher)
    waited = told = 0.0
    while waiting:
        seconds, call = waiting.pop()
        waited += seconds
        call()
        before, told = told, sum(bool(watcher.frames) for watcher in watchers)
        assert told - before <= AT_ONCE
    assert told == size
    assert waited <= 2 * GATHER_SECONDS + 1e-9
