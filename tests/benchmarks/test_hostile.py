from __future__ import annotations

import msgspec
import pytest

from arena.protocol.codec import encode_message
from arena.protocol.messages import Challenged
from arena.protocol.timecontrol import TimeControl
from arena.server.core.limits import ServerLimits
from arena.server.edge.connection import WEBSOCKET_CLOSE_TIMEOUT_SECONDS
from arena.server.edge.message_costs import MESSAGE_COSTS_US
from arena.server.edge.session import MAX_MESSAGE_BURST_SECONDS
from arena.server.web.routes import ROUTES
from benchmarks.hostile.honest import HonestFigures, compute_median_batch_p99
from benchmarks.hostile.kinds import (
    ALL_ATTACKS_KIND,
    ATTACKER_COUNT,
    HELLO_TIMEOUT_SECONDS,
    REQUEST_KINDS,
    SILENT_CONTROL_KIND,
)
from benchmarks.hostile.rounds import (
    MAX_ATTACKER_CONNECTION_SECONDS,
    RequestKindMeasurements,
    RoundResults,
    list_faults,
)
from benchmarks.hostile.stranger import (
    MAX_MESSAGE_BURST,
    MESSAGES_PER_SECOND,
    TrafficCounts,
)
from benchmarks.kit.client import ServerMessage
from benchmarks.kit.measure import compute_quantile


def test_every_kind_of_message_and_every_get_that_has_a_cost_is_sent() -> None:
    known = {str(kind.__struct_config__.tag) for kind in MESSAGE_COSTS_US}
    known |= {f"{'POST' if route.is_post else 'GET'} {path}" for path, route in ROUTES.items()}
    assert {kind.request_name for kind in REQUEST_KINDS.values() if not kind.is_attack} == known | {
        SILENT_CONTROL_KIND
    }


def test_strangers_keep_within_the_limit_of_messages() -> None:
    limits = ServerLimits()
    assert MAX_MESSAGE_BURST_SECONDS * limits.messages_per_second > MAX_MESSAGE_BURST
    assert limits.messages_per_second > MESSAGES_PER_SECOND


def play_rounds(
    *ratios: float, overall_p99: float = 1.0, memory: int = 100, sent: int = 10
) -> RequestKindMeasurements:
    """Return rounds of a kind: a quiet p99 of 2 ms, and a hostile one of so many times as much."""
    return RequestKindMeasurements(
        [HonestFigures(2.0, 4.0, 0.2)] * len(ratios),
        [HonestFigures(2.0 * ratio, 4.0 * overall_p99, 0.4) for ratio in ratios],
        list(range(len(ratios))),
        [TrafficCounts(request_count=sent, answer_count=sent)] * len(ratios),
        [(100, memory)] * len(ratios),
        [10] * len(ratios),
    )


def list_kind_faults(rounds: RequestKindMeasurements) -> list[str]:
    return rounds.list_faults("browse")


def test_a_kind_that_delays_honest_bots_in_its_median_or_in_two_rounds_is_a_fault() -> None:
    assert list_kind_faults(play_rounds(1.2)) == []
    assert list_kind_faults(play_rounds(2.5, 1.1, 1.2)) == [], "one round may have met a pause of the machine"
    assert list_kind_faults(play_rounds(1.6, 1.5, 1.2)) == [
        "p99 is 1.50 (1.20 to 1.60, n = 3) times the quiet one"
    ]
    assert list_kind_faults(play_rounds(2.4, 1.1, 1.2, 2.1, 1.3)) == [
        "p99 is 2.10 times the quiet one or more in two rounds"
    ]


def test_a_round_is_compared_with_the_median_of_the_quiet_periods_around_it() -> None:
    quiet = [HonestFigures(p99, 2 * p99, 0.2) for p99 in [*[1.0] * 20, 9.0, *[2.0] * 20]]
    rounds = RequestKindMeasurements(quiet, [HonestFigures(2.4, 9.6, 0.4)] * 3, quiet_indexes=[3, 20, 40])
    assert rounds.compute_hostile_to_quiet_ratio().values == pytest.approx([2.4, 1.2, 1.2])
    assert rounds.compute_hostile_to_quiet_ratio("overall_p99_ms").values == pytest.approx([4.8, 2.4, 2.4])
    assert rounds.median_quiet_p99_ms == 2.0


def test_only_the_control_may_send_nothing() -> None:
    rounds = play_rounds(1.1, sent=0)
    assert list_faults(RoundResults({SILENT_CONTROL_KIND: rounds})) == []
    assert list_faults(RoundResults({"browse": rounds})) == ["browse: nothing was sent"]


def test_a_pause_of_the_machine_decides_no_percentile_but_slow_moves_throughout_do() -> None:
    quiet = [float(number % 10) for number in range(1000)]
    assert compute_median_batch_p99(quiet) == 9.0
    assert compute_median_batch_p99([*quiet[:500], *12 * [50.0], *quiet[500:]]) == 9.0
    assert compute_quantile([*quiet[:500], *12 * [50.0], *quiet[500:]], 0.99) == 50.0
    assert (
        compute_median_batch_p99([30.0 if number % 50 == 7 else each for number, each in enumerate(quiet)])
        == 30.0
    )
    assert compute_median_batch_p99([1.0, 5.0]) == 1.0, "fewer moves than a batch"


def test_pauses_in_every_round_are_a_fault() -> None:
    once = play_rounds(1.0, 1.0)
    once.hostile_periods[0] = HonestFigures(2.0, 100.0, 0.4)
    assert list_kind_faults(once) == []
    assert list_kind_faults(play_rounds(1.0, 1.0, overall_p99=2.1)) == [
        "p99 of all moves is 2.10 times the quiet one or more"
    ]


def test_names_that_stay_memory_that_grows_and_requests_that_were_not_sent_are_faults() -> None:
    stays = play_rounds(1.0)
    stays.stored_session_counts = [200, 15_020]
    assert list_kind_faults(stays) == ["15020 sessions are in the store"]
    assert list_kind_faults(play_rounds(1.0, memory=120)) == ["memory is 1.20 times what it was before"]
    assert list_kind_faults(play_rounds(1.0, sent=0)) == ["nothing was sent"]


def test_attackers_have_time_to_be_told_that_they_are_late() -> None:
    # Who never says hello is told so in time, and has as long again as a closing handshake may take.
    assert MAX_ATTACKER_CONNECTION_SECONDS > HELLO_TIMEOUT_SECONDS + WEBSOCKET_CLOSE_TIMEOUT_SECONDS


def test_an_attack_that_is_not_cut_off_is_a_fault() -> None:
    cut = TrafficCounts(
        request_count=20,
        lost_connection_count=ATTACKER_COUNT,
        longest_connection_seconds=MAX_ATTACKER_CONNECTION_SECONDS,
    )
    late = TrafficCounts(
        request_count=20,
        lost_connection_count=ATTACKER_COUNT - 1,
        longest_connection_seconds=MAX_ATTACKER_CONNECTION_SECONDS + 0.1,
    )
    attacked = play_rounds(1.0)
    attacked.traffic_counts = [cut]
    assert list_faults(RoundResults({"attack: frames": attacked})) == []
    attacked.traffic_counts = [cut, late]
    assert list_faults(RoundResults({"attack: frames": attacked})) == [
        "attack: frames: a connection lasted 8.1 s",
        "attack: frames: only 15 connections were cut off",
    ]
    assert list_faults(RoundResults({ALL_ATTACKS_KIND: attacked})) == [
        f"{ALL_ATTACKS_KIND}: only 15 connections were cut off"
    ]
    assert list_faults(RoundResults({"browse": attacked})) == []


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
    assert msgspec.msgpack.decode(encode_message(challenge), type=ServerMessage).challenge == "c1"
