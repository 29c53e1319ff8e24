import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.games.core import Player
from arena.match.clock import NS_PER_MS, MatchClock
from arena.protocol.timecontrol import TimeControl

times = st.integers(0, 10_000)
players = st.sampled_from(list(Player))


def make_clock(time_control: TimeControl, margin_ms: int, total_ms: int = 0) -> MatchClock:
    """Return the clock of a match in which both players have the same time control."""
    return MatchClock.make_initial(time_control, time_control, margin_ms, total_ms)


@given(st.integers(1, 10_000), times, times, players, st.integers(0, 20_000))
def test_a_move_within_clock_and_margin_is_charged_and_credited(
    base: int, increment: int, margin: int, player: Player, spent: int
) -> None:
    clock = make_clock(TimeControl(base, increment), margin)
    if spent > base + margin:
        with pytest.raises(ValueError, match="time spent on a move must be"):
            clock.deduct_move_time(player, spent * NS_PER_MS)
        return
    after = clock.deduct_move_time(player, spent * NS_PER_MS)
    assert after.get_time_left_ns(player) == (max(0, base - spent) + increment) * NS_PER_MS
    assert after.get_time_left_ns(player.opponent) == clock.get_time_left_ns(player.opponent)


@given(st.integers(1, 1000), times, players, st.integers(0, 500))
def test_a_time_for_each_move_never_changes(base: int, margin: int, player: Player, spent: int) -> None:
    clock = make_clock(TimeControl(base, 0, per_move=True), margin)
    if spent <= base + margin:
        assert clock.deduct_move_time(player, spent * NS_PER_MS) == clock


CONTROLS = st.builds(TimeControl, st.integers(1, 1000), st.integers(0, 100)) | st.builds(
    TimeControl, st.integers(1, 1000), st.just(0), st.just(value=True)
)


@given(CONTROLS, CONTROLS, st.integers(0, 2000), st.lists(st.integers(0, 1000), max_size=20))
def test_with_time_odds_each_clock_goes_as_if_both_players_had_its_control(
    maxie: TimeControl, minnie: TimeControl, total: int, spent: list[int]
) -> None:
    both = MatchClock.make_initial(maxie, minnie, 100, total)
    alone = {
        Player.MAXIE: make_clock(maxie, 100, total),
        Player.MINNIE: make_clock(minnie, 100, total),
    }
    for ply, ms in enumerate(spent):
        player = list(Player)[ply % 2]
        took = min(ms * NS_PER_MS, both.get_max_move_time_ns(player))
        both, alone[player] = (
            both.deduct_move_time(player, took),
            alone[player].deduct_move_time(player, took),
        )
        assert {each: both.get_time_left_ns(each) for each in Player} == {
            each: alone[each].get_time_left_ns(each) for each in Player
        }


@given(players, st.integers(0, 1200 * NS_PER_MS))
@example(Player.MAXIE, 1)
@example(Player.MINNIE, 1)
@example(Player.MAXIE, 1000 * NS_PER_MS)
@example(Player.MINNIE, 1000 * NS_PER_MS)
def test_shown_clocks_run_only_for_the_mover_round_down_and_stop_at_0(mover: Player, running: int) -> None:
    clock = make_clock(TimeControl(1000, 0), 100)
    seen = clock.make_clocks_message(mover, running)
    shown_ms = {Player.MAXIE: seen.maxie_ms, Player.MINNIE: seen.minnie_ms}
    assert shown_ms == {mover: max(0, 1000 * NS_PER_MS - running) // NS_PER_MS, mover.opponent: 1000}


@given(
    st.booleans(),
    st.integers(1, 2_000),
    st.integers(1, 1_000),
    st.integers(0, 300),
    st.integers(0, 50),
    st.lists(st.tuples(players, st.integers(0, 400)), max_size=40),
)
def test_in_a_bounded_match_no_player_spends_more_than_the_bound_and_a_margin_per_move(
    per_move: bool,
    total: int,
    base: int,
    increment: int,
    margin: int,
    moves: list[tuple[Player, int]],
) -> None:
    control = TimeControl(base, 0, per_move=True) if per_move else TimeControl(base, increment)
    bounded, free = make_clock(control, margin, total), make_clock(control, margin)
    spent = dict.fromkeys(Player, 0)
    for number, (player, takes) in enumerate(moves, 1):
        assert bounded.get_time_left_ns(player) == min(
            free.get_time_left_ns(player), max(0, total - spent[player]) * NS_PER_MS
        )
        if takes * NS_PER_MS > bounded.get_max_move_time_ns(player):
            with pytest.raises(ValueError, match="time spent on a move must be"):
                bounded.deduct_move_time(player, takes * NS_PER_MS)
            return
        spent[player] += takes
        bounded, free = (
            bounded.deduct_move_time(player, takes * NS_PER_MS),
            free.deduct_move_time(player, takes * NS_PER_MS),
        )
        assert spent[player] <= total + number * margin
