from __future__ import annotations

import msgspec
import pytest

from arena.protocol.codec import encode
from arena.protocol.messages import Challenged
from arena.protocol.timecontrol import TimeControl
from arena.server.edge.connection import CLOSE_SECONDS
from arena.server.edge.costs import MESSAGE_COSTS
from arena.server.edge.limits import HostLimits
from arena.server.web.routes import ROUTES
from benchmarks.hostile.honest import WindowFigures, median_percentile_99_of_runs
from benchmarks.hostile.kinds import (
    ALL_ATTACKS,
    ATTACKERS,
    CONNECTIONS,
    CONTROL_KINDS,
    HELLO_SECONDS,
    KINDS,
    MESSAGES,
    choose_control,
)
from benchmarks.hostile.rounds import (
    MAX_REPEATED_KINDS,
    MAX_SECONDS,
    KindRounds,
    RoundResults,
    attack_seconds,
    list_faults,
    list_kinds_over_bound,
)
from benchmarks.hostile.stranger import (
    MESSAGES_AT_ONCE,
    MESSAGES_PER_SECOND,
    StrangerMessage,
    TrafficCounts,
)
from benchmarks.kit.measure import percentile


def test_every_kind_of_message_and_every_get_that_has_a_cost_is_sent() -> None:
    known = {str(kind.__struct_config__.tag) for kind in MESSAGE_COSTS}
    known |= {f"{'POST' if route.is_post else 'GET'} {path}" for path, route in ROUTES.items()}
    assert {kind.request for kind in KINDS.values() if not kind.is_attack} == known


def test_strangers_keep_within_the_limit_of_messages() -> None:
    limits = HostLimits()
    assert limits.message_burst > MESSAGES_AT_ONCE
    assert limits.messages_per_second > MESSAGES_PER_SECOND


def test_each_kind_has_a_control_that_connects_or_stays_connected_as_it_does() -> None:
    for kind in KINDS.values():
        assert bool(CONTROL_KINDS[choose_control(kind)].role) is bool(kind.role)


def turns(*ratios: float, memory: int = 100, sent: int = 1, whole: float = 1.0) -> KindRounds:
    quiet = WindowFigures(2.0, 4.0, 1.0, 0.2)
    return KindRounds(
        [quiet] * len(ratios),
        [WindowFigures(2.0 * ratio, 4.0 * whole, ratio, 0.4) for ratio in ratios],
        [TrafficCounts(sent=sent, answered=sent)] * len(ratios),
        [(100, memory)] * len(ratios),
        [10] * len(ratios),
    )


def test_a_kind_that_holds_honest_bots_up_in_its_worst_round_or_its_median_is_a_fault() -> None:
    fine = RoundResults({"browse": turns(1.2), "watch": turns(1.9, 1.1, 1.2)}, memory=100)
    assert list_faults(fine) == []
    slow = RoundResults({"browse": turns(2.1, 1.0, 1.1), "watch": turns(1.6, 1.5, 1.2)}, memory=100)
    assert [each.partition(":")[0] for each in list_faults(slow)] == ["browse", "watch"]


def test_a_kind_is_compared_with_its_own_control_but_never_gains_by_one_that_costs_nothing() -> None:
    controls = {CONNECTIONS: turns(1.5, 1.6, 1.4, sent=10), MESSAGES: turns(0.5)}
    outcome = RoundResults(
        {"GET /": turns(2.4, sent=20), "GET /tv/": turns(2.5, sent=5), "browse": turns(1.2)},
        controls,
        memory=100,
    )
    assert outcome.ratio("GET /").median == pytest.approx(2.4)
    assert outcome.ratio_over_control("GET /").median == pytest.approx(1.6)
    assert outcome.ratio_over_control("GET /tv/").median == pytest.approx(2.0), "it has half as many requests"
    assert outcome.ratio_over_control("browse").median == pytest.approx(1.2)
    assert outcome.worst_ratio_over_control("GET /") == pytest.approx(1.5), (
        "the worst round is compared with the worst of the control"
    )
    assert [each.partition(":")[0] for each in list_faults(outcome)] == ["GET /", "GET /tv/"]


def test_the_kinds_over_a_bound_have_more_rounds_and_not_all_where_they_are_many() -> None:
    some = {"a": turns(1.4), "b": turns(1.6), "c": turns(3.0), "d": turns(1.0, whole=2.5)}
    assert list_kinds_over_bound(RoundResults(some, memory=1), "abcd") == ["c", "d", "b"]
    many = RoundResults({str(number): turns(2.0 + number) for number in range(40)}, memory=1)
    assert list_kinds_over_bound(many, many.rounds) == [
        str(number) for number in range(39, 39 - MAX_REPEATED_KINDS, -1)
    ]


def test_a_pause_of_the_machine_decides_no_percentile_but_slow_moves_throughout_do() -> None:
    quiet = [float(number % 10) for number in range(1000)]
    assert median_percentile_99_of_runs(quiet) == 9.0
    assert median_percentile_99_of_runs([*quiet[:500], *12 * [50.0], *quiet[500:]]) == 9.0
    assert percentile([*quiet[:500], *12 * [50.0], *quiet[500:]], 0.99) == 50.0
    assert (
        median_percentile_99_of_runs(
            [30.0 if number % 50 == 7 else each for number, each in enumerate(quiet)]
        )
        == 30.0
    )
    assert median_percentile_99_of_runs([1.0, 5.0]) == 1.0, "fewer moves than a run"


def test_pauses_in_every_round_are_a_fault() -> None:
    recurring, once = turns(1.0, 1.0, whole=2.1), turns(1.0, 1.0)
    once.hostile[0] = WindowFigures(2.0, 100.0, 1.0, 0.4)
    assert list_faults(RoundResults({"browse": once}, memory=100)) == []
    told = "browse: p99 of all moves is 2.10 times the control's in each round"
    assert list_faults(RoundResults({"browse": recurring}, memory=100)) == [told]


def test_names_that_stay_in_the_store_are_a_fault() -> None:
    stays = turns(1.0)
    stays.sessions = [200, 15_020]
    assert list_faults(RoundResults({"names": stays}, memory=100)) == [
        "names: 15020 sessions are in the store"
    ]


def test_memory_that_grows_is_a_fault_and_so_is_a_kind_that_was_not_sent() -> None:
    assert "memory" in list_faults(RoundResults({"browse": turns(1.0, memory=120)}, memory=100))[0]
    assert "nothing was sent" in list_faults(RoundResults({"browse": turns(1.0, sent=0)}, memory=100))[0]


@pytest.mark.parametrize("seconds", [0.5, 1.0, 3.0, 10.0])
def test_an_attack_lasts_until_its_slowest_can_have_been_cut_off(seconds: float) -> None:
    # Who never says hello is told so in time, and has as long again as a closing handshake may take.
    assert attack_seconds("attack: slow-loris", seconds) > HELLO_SECONDS + CLOSE_SECONDS
    assert min(attack_seconds(kind, seconds) for kind in ("attack: never-reading", ALL_ATTACKS)) > MAX_SECONDS
    assert all(attack_seconds(kind, seconds) > seconds for kind in KINDS if KINDS[kind].is_attack)


def test_an_attack_that_is_not_cut_off_is_a_fault() -> None:
    cut = TrafficCounts(sent=20, lost=ATTACKERS, longest=MAX_SECONDS)
    late = TrafficCounts(sent=20, lost=ATTACKERS - 1, longest=MAX_SECONDS + 0.1)
    attacked = turns(1.0)
    attacked.tallies = [cut]
    assert list_faults(RoundResults({ALL_ATTACKS: attacked}, memory=100)) == []
    attacked.tallies = [cut, late]
    assert list_faults(RoundResults({ALL_ATTACKS: attacked}, memory=100)) == [
        "attack: all at once: a connection lasted 8.1 s",
        "attack: all at once: only 15 connections were cut off",
    ]


def test_a_stranger_reads_a_challenge_without_a_seat() -> None:
    challenge = Challenged(
        "c1",
        "a",
        "b",
        "tictactoe",
        "",
        TimeControl(60_000, 1_000, per_move=False),
        None,
        rated=False,
        expires_ms=1,
    )
    assert msgspec.msgpack.decode(encode(challenge), type=StrangerMessage).challenge == "c1"
