"""Spectators: each of them sees every move, and a slow one skips to the newest position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.codec import decode_server
from arena.protocol.codes import EndReason
from arena.protocol.messages import End, Played, ServerMessage, Update, View
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks, Players
from arena.server.rooms.spectators import (
    GATHER_SECONDS,
    MAX_BACKLOG_BYTES,
    SPECTATORS_A_TURN,
    UPDATE_COST,
    VIEW_COST,
    Spectators,
)

CLOCKS = Clocks(1, 1)
BYTES = 1024
"""How large what is written at once is taken to be."""
LEFT_OUT = MAX_BACKLOG_BYTES // BYTES + 1
"""How often a spectator is written to that reads nothing."""


@dataclass(eq=False)
class Slow:
    """A spectator that reads when it is told to: a peer that misbehaves as slowly as a test wants."""

    backlog: int = 0
    affordable: int = 1_000_000_000
    """How many µs of the server's time its address may have yet."""
    told: list[list[bytes]] = field(default_factory=list)

    def affords(self, cost: int) -> bool:
        if cost > self.affordable:
            return False
        self.affordable -= cost
        return True

    def tell_encoded(self, messages: Sequence[bytes]) -> None:
        self.backlog += BYTES
        self.told.append(list(messages))

    def heard(self) -> list[ServerMessage]:
        return [decode_server(each) for messages in self.told for each in messages]

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
    """Moves 0, 1, 2 … before spectators."""

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
    match, spectator = Match(), Slow()
    match.move()
    match.spectators.enter(spectator)
    match.move()
    match.end()
    assert [type(message) for message in spectator.heard()] == [View, Update, End]
    assert spectator.moves() == [0, 1]
    assert len(match.spectators) == 0


def test_who_leaves_sees_no_more() -> None:
    match, spectator = Match(), Slow()
    match.spectators.enter(spectator)
    match.spectators.leave(spectator)
    match.spectators.leave(spectator)
    match.move()
    assert len(spectator.told) == 1


def test_a_frame_is_made_once_for_all() -> None:
    match, crowd = Match(), [Slow() for _ in range(3)]
    for spectator in crowd:
        match.spectators.enter(spectator)
    match.move()
    assert len({id(spectator.told[-1][-1]) for spectator in crowd}) == 1


def test_a_slow_spectator_is_left_out_and_skips_to_the_newest() -> None:
    match, slow, quick = Match(), Slow(), Slow()
    match.spectators.enter(slow)
    match.spectators.enter(quick)
    for _ in range(100):
        match.move()
        quick.backlog = 0
    assert len(slow.told) == LEFT_OUT
    assert quick.moves() == list(range(100))
    slow.backlog = 0
    match.move()
    assert slow.moves() == list(range(101))
    assert len(slow.told) == LEFT_OUT + 1


def test_whoever_watches_more_than_it_may_is_left_out_and_skips_to_the_newest() -> None:
    match, much, little = Match(), Slow(affordable=VIEW_COST + 10 * UPDATE_COST), Slow()
    match.spectators.enter(much)
    match.spectators.enter(little)
    for _ in range(30):
        match.move()
        much.backlog = little.backlog = 0
    assert much.moves() == list(range(10))
    assert little.moves() == list(range(30))
    much.affordable = VIEW_COST
    match.move()
    assert much.moves() == list(range(31))
    match.move()
    match.end()
    assert much.moves() == list(range(32)), "the end is told to all, with what was missed"


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
    crowd = [Slow() for _ in range(SPECTATORS_A_TURN * 2 + 3)]
    for spectator in crowd:
        match.spectators.enter(spectator)
    for number, what in enumerate(script):
        spectator = crowd[number % len(crowd)]
        if what == "move":
            match.move()
        elif what == "read":
            for each in crowd[::2]:
                each.backlog = 0
        elif what == "turn" and waiting:
            waiting.pop(0)()
        elif what == "enter":
            newcomer = Slow()
            crowd.append(newcomer)
            match.spectators.enter(newcomer)
        elif what == "leave" and len(crowd) > 1:
            crowd.remove(spectator)
            match.spectators.leave(spectator)
    match.end()
    while waiting:
        waiting.pop(0)()
    for spectator in crowd:
        assert spectator.moves() == list(range(len(match.moves)))
        assert isinstance(spectator.heard()[-1], End)


def test_nothing_is_kept_that_everybody_has_heard() -> None:
    match, waiting = Match(), list[Callable[[], None]]()
    match.spectators = Spectators(match.view, lambda _seconds, call: waiting.append(call))
    for _ in range(SPECTATORS_A_TURN + 1):
        match.spectators.enter(Slow())
    for _ in range(20):
        match.move()
        while waiting:
            waiting.pop(0)()
    assert not match.spectators._news
    assert len(waiting) == 0


@given(st.lists(st.booleans(), max_size=120))
def test_however_it_reads_nothing_is_missing_in_the_end_and_little_waits(script: list[bool]) -> None:
    match, spectator = Match(), Slow()
    match.spectators.enter(spectator)
    for moves in script:
        if moves:
            match.move()
        else:
            spectator.backlog = 0
        assert spectator.backlog <= MAX_BACKLOG_BYTES + BYTES
    match.end()
    assert spectator.moves() == list(range(len(match.moves)))


@given(st.integers(1, 500))
def test_a_crowd_of_any_size_hears_evenly_and_soon(size: int) -> None:
    """Never many in one turn of the event loop, and everybody within twice the time of gathering."""
    match, waiting = Match(), list[tuple[float, Callable[[], None]]]()
    match.spectators = Spectators(match.view, lambda seconds, call: waiting.append((seconds, call)))
    crowd = [Slow() for _ in range(size)]
    for spectator in crowd:
        match.spectators.enter(spectator)
    waited = told = 0.0
    while waiting:
        seconds, call = waiting.pop()
        waited += seconds
        call()
        before, told = told, sum(bool(spectator.told) for spectator in crowd)
        assert told - before <= SPECTATORS_A_TURN
    assert told == size
    assert waited <= 2 * GATHER_SECONDS + 1e-9
