from hypothesis import given
from hypothesis import strategies as st

from arena.bots.client.state.reconnection import (
    MAX_RECONNECT_PAUSE_SECONDS,
    compute_max_reconnect_pause_seconds,
    should_reconnect,
)
from arena.protocol.codes import ErrorCode
from tests.properties import examples

TRIES = st.integers(0, 10**6)
GRACES = st.floats(0, 3600)


@examples(100)
@given(TRIES, st.booleans(), st.booleans(), GRACES)
def test_pauses_grow_up_to_a_bound(tries: int, stopped: bool, playing: bool, grace: float) -> None:
    now = compute_max_reconnect_pause_seconds(
        tries, is_server_stopping=stopped, is_playing=playing, reconnect_grace_seconds=grace
    )
    later = compute_max_reconnect_pause_seconds(
        tries + 1, is_server_stopping=stopped, is_playing=playing, reconnect_grace_seconds=grace
    )
    assert 0 < now <= later <= min(2 * now, MAX_RECONNECT_PAUSE_SECONDS)


@examples(100)
@given(TRIES, st.booleans(), st.floats(1, 3600))
def test_a_client_with_matches_tries_at_least_three_times_within_the_grace(
    tries: int,
    stopped: bool,
    grace: float,
) -> None:
    assert (
        3
        * compute_max_reconnect_pause_seconds(
            tries, is_server_stopping=stopped, is_playing=True, reconnect_grace_seconds=grace
        )
        <= grace + 1e-9
    )


def test_without_matches_the_pause_grows_to_a_minute() -> None:
    assert (
        compute_max_reconnect_pause_seconds(
            30, is_server_stopping=True, is_playing=False, reconnect_grace_seconds=30
        )
        == 60
    )


def test_permanent_errors_end_the_reconnection() -> None:
    final = {
        ErrorCode.BAD_TOKEN,
        ErrorCode.BAD_NAME,
        ErrorCode.REPLACED,
        ErrorCode.BAD_MESSAGE,
        ErrorCode.NOT_A_PLAYER,
        ErrorCode.EVENT_OVER,
    }
    assert not any(should_reconnect(code, was_welcomed=True) for code in final)
    assert should_reconnect(ErrorCode.SHUTTING_DOWN, was_welcomed=False)
    assert should_reconnect(ErrorCode.NAME_TAKEN, was_welcomed=True)
    assert should_reconnect(ErrorCode.RATE_LIMITED, was_welcomed=True)
    assert not should_reconnect(ErrorCode.NAME_TAKEN, was_welcomed=False)
