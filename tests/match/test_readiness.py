from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import Player
from arena.match.clock import NS_PER_MS
from arena.match.readiness import PlayerReadiness
from tests.server.matches import terms

MAXIE, MINNIE = Player
READY, GRACE = 1000 * NS_PER_MS, 5000 * NS_PER_MS


def make_readiness(*, ready: int = 1000, grace: int = 5000) -> PlayerReadiness:
    readiness = PlayerReadiness(terms(ready=ready, grace=grace))
    readiness.record_ready_request(7)
    return readiness


def test_nobody_is_ready_and_no_time_runs_before_the_players_are_asked() -> None:
    readiness = PlayerReadiness(terms())
    assert not readiness.mark_ready(MAXIE)
    readiness.expect_reconnections(3)
    readiness.record_reconnection(MAXIE, 4)
    assert (readiness.is_ready_requested, readiness.ready_deadline_ns, readiness.unready_players) == (
        False,
        None,
        [MAXIE, MINNIE],
    )


def test_a_player_is_ready_once_and_not_after_it_is_forgotten() -> None:
    made = make_readiness()
    assert made.ready_deadline_ns == 7 + READY
    assert [made.mark_ready(MAXIE), made.mark_ready(MAXIE)] == [True, False]
    assert made.unready_players == [MINNIE]
    made.mark_unready(MAXIE)
    assert made.unready_players == [MAXIE, MINNIE]


def test_after_a_restart_an_absent_player_has_its_grace_and_then_the_whole_ready_time() -> None:
    made = make_readiness()
    made.mark_ready(MINNIE)
    made.expect_reconnections(100)
    made.record_reconnection(MINNIE, 100)
    assert made.ready_deadline_ns == 100 + GRACE
    made.record_reconnection(MAXIE, 90 + GRACE)
    assert made.ready_deadline_ns == 90 + GRACE + READY
    # After a later disconnection, the player gets no more time.
    made.record_reconnection(MAXIE, 95 + GRACE)
    assert made.ready_deadline_ns == 90 + GRACE + READY


def test_the_disconnection_of_a_ready_player_does_not_lengthen_the_wait() -> None:
    made = make_readiness()
    made.mark_ready(MAXIE)
    made.expect_reconnections(100)
    made.record_reconnection(MINNIE, 200)
    assert MAXIE in made.players_to_reconnect
    assert made.ready_deadline_ns == 200 + READY


@given(
    st.lists(
        st.tuples(st.sampled_from(["back", "away"]), st.sampled_from(Player), st.integers(0, 9)), max_size=20
    ),
    st.integers(1, 9),
    st.integers(0, 9),
)
def test_each_player_has_its_whole_time_after_it_could_last_get_ready(
    happens: list[tuple[str, Player, int]], ready: int, grace: int
) -> None:
    made = make_readiness(ready=ready, grace=grace)
    now, since, away = 7, dict.fromkeys(Player, 7), set[Player]()
    for what, player, later in happens:
        now += later * NS_PER_MS
        if what == "away":
            made.expect_reconnections(now)
            away, since = set(Player), dict.fromkeys(Player, now)
        else:
            made.record_reconnection(player, now)
            if player in away:
                away.discard(player)
                since[player] = now
    assert made.ready_deadline_ns is not None
    for player in Player:
        assert (player in made.players_to_reconnect) is (player in away)
        assert (
            made.ready_deadline_ns
            >= since[player] + (max(ready, grace) if player in away else ready) * NS_PER_MS
        )
