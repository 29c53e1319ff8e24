from __future__ import annotations

from arena.server.lobby.costs import MESSAGE_COSTS
from arena.server.net.limits import HostLimits
from arena.server.web.pages import ROUTES
from benchmarks.attackers import Window
from benchmarks.hostile.kinds import KINDS
from benchmarks.hostile.rounds import MOST_NEAR, Outcome, Turns, faults, near
from benchmarks.hostile.stranger import MESSAGES_AT_ONCE, MESSAGES_PER_SECOND, Pace, Tally


def test_every_kind_of_message_and_every_get_that_has_a_cost_is_sent() -> None:
    known = {str(kind.__struct_config__.tag) for kind in MESSAGE_COSTS} | {f"GET {path}" for path in ROUTES}
    assert {kind.of for kind in KINDS.values()} == known


def test_strangers_keep_within_the_limit_of_messages() -> None:
    limits = HostLimits()
    assert limits.message_burst > MESSAGES_AT_ONCE
    assert limits.messages_per_second > MESSAGES_PER_SECOND
    pace, now, sent = Pace(0.0), 0.0, 0
    while now < 10:
        now += pace.wait(now)
        sent += 1
    assert sent <= MESSAGES_AT_ONCE + 10 * MESSAGES_PER_SECOND + 1
    assert sent >= MESSAGES_AT_ONCE + 9 * MESSAGES_PER_SECOND


def turns(*ratios: float, memory: int = 100, sent: int = 1) -> Turns:
    quiet = Window(2.0, 1.0, 0.2)
    return Turns(
        [quiet] * len(ratios),
        [Window(2.0 * ratio, ratio, 0.4) for ratio in ratios],
        [Tally(sent=sent, answered=sent)] * len(ratios),
        [(100, memory)] * len(ratios),
    )


def test_a_kind_that_holds_honest_bots_up_in_its_worst_round_is_a_fault() -> None:
    fine = Outcome({"browse": turns(1.2), "watch": turns(1.9, 1.1, 1.2)}, memory=100)
    assert faults(fine) == []
    slow = Outcome({"browse": turns(2.5, 1.0, 1.1)}, memory=100)
    assert [each.partition(":")[0] for each in faults(slow)] == ["browse"]


def test_the_kinds_near_the_bound_have_more_rounds_and_not_all_where_they_are_many() -> None:
    assert near(Outcome({"a": turns(1.4), "b": turns(1.6), "c": turns(3.0)}, memory=1)) == ["c", "b"]
    many = Outcome({str(number): turns(2.0 + number) for number in range(40)}, memory=1)
    assert near(many) == [str(number) for number in range(39, 39 - MOST_NEAR, -1)]


def test_memory_that_grows_is_a_fault_and_so_is_a_kind_that_was_not_sent() -> None:
    assert "memory" in faults(Outcome({"browse": turns(1.0, memory=120)}, memory=100))[0]
    assert "nothing was sent" in faults(Outcome({"browse": turns(1.0, sent=0)}, memory=100))[0]
