from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result
from arena.protocol.values import Players, Seat
from arena.rating.pairing import MatchPair, Pairing
from arena.rating.pentanomial import estimate_elo_difference
from arena.rating.rater import FinishedMatch
from arena.rating.standings import (
    compute_pair_scores,
    list_losers,
    make_standings,
    make_standings_from_counts,
    replace_elo_by_difference,
)
from tests.server.matches import record as make_finished_record


def make_record(maxie: str, minnie: str, winner: Seat | None, reason: EndReason = EndReason.LINE) -> Record:
    return make_finished_record("m", maxie=maxie, minnie=minnie, winner=winner, reason=reason)


BOTS = ("a", "b", "c")
WINNERS: Sequence[Seat | None] = ("maxie", "minnie", None)
RECORDS = st.lists(
    st.builds(
        lambda two, winner, reason: make_record(two[0], two[1], winner, reason),
        st.permutations(BOTS).map(lambda bots: bots[:2]),
        st.sampled_from(WINNERS),
        st.sampled_from(EndReason),
    )
)


@given(RECORDS)
def test_bots_of_equal_results_share_a_rank(records: list[Record]) -> None:
    rows = make_standings(BOTS, records)
    results = [(round(row.elo), row.points) for row in rows]
    assert [row.rank for row in rows] == [1 + sum(other > each for other in results) for each in results]
    assert results == sorted(results, reverse=True)


@given(RECORDS)
def test_the_table_adds_up(records: list[Record]) -> None:
    rows = {row.bot: row for row in make_standings(BOTS, records)}
    assert set(rows) == set(BOTS)
    valid = [each for each in records if each.result.reason is not EndReason.SERVER_FAULT]
    empty = [each for each in valid if each.result.reason is EndReason.NO_SHOW and each.result.winner is None]
    assert sum(row.games for row in rows.values()) == 2 * len(valid)
    assert sum(row.points for row in rows.values()) == len(valid) - len(empty)
    for row in rows.values():
        assert row.games == row.wins + row.draws + row.losses
        assert row.points == row.wins + row.draws / 2
        faults = row.crashes + row.time_forfeits + row.illegal_moves + row.disconnects + row.other_forfeits
        assert 0 <= faults <= row.losses
    order = [(round(row.elo), row.points) for row in make_standings(BOTS, records)]
    assert order == sorted(order, reverse=True)


@given(RECORDS)
def test_void_matches_change_nothing(records: list[Record]) -> None:
    valid = [each for each in records if each.result.reason is not EndReason.SERVER_FAULT]
    assert make_standings(BOTS, records) == make_standings(BOTS, valid)


@given(RECORDS)
def test_the_order_of_records_does_not_matter(records: list[Record]) -> None:
    assert make_standings(BOTS, records) == make_standings(BOTS, records[::-1])


def test_losers_of_a_match() -> None:
    assert list_losers(make_record("a", "b", "maxie")) == ("b",)
    assert list_losers(make_record("a", "b", "minnie")) == ("a",)
    assert list_losers(make_record("a", "b", None)) == ()
    assert list_losers(make_record("a", "b", None, EndReason.NO_SHOW)) == ("a", "b")
    assert list_losers(make_record("a", "b", None, EndReason.SERVER_FAULT)) == ()


@pytest.mark.parametrize(
    ("reason", "column"),
    [
        (EndReason.CRASH, "crashes"),
        (EndReason.TIMEOUT, "time_forfeits"),
        (EndReason.ILLEGAL_MOVE, "illegal_moves"),
        (EndReason.DISCONNECT, "disconnects"),
        (EndReason.NO_SHOW, "other_forfeits"),
        (EndReason.PROTOCOL_ERROR, "other_forfeits"),
        (EndReason.RESIGNATION, None),
        (EndReason.LINE, None),
    ],
)
def test_each_kind_of_forfeit_has_its_column_in_the_losers_row(reason: EndReason, column: str | None) -> None:
    rows = {row.bot: row for row in make_standings(BOTS, [make_record("a", "b", "minnie", reason)])}
    columns = ("crashes", "time_forfeits", "illegal_moves", "disconnects", "other_forfeits")
    assert [getattr(rows["a"], name) for name in columns] == [int(name == column) for name in columns]
    assert all(getattr(rows["b"], name) == 0 for name in columns)
    assert (rows["a"].losses, rows["b"].wins) == (1, 1)


def test_a_match_without_players_is_lost_by_both_and_not_rated() -> None:
    rows = make_standings(BOTS, [make_record("a", "b", None, EndReason.NO_SHOW)] * 4)
    by_name = {row.bot: row for row in rows}
    assert by_name["a"].losses == by_name["b"].losses == 4
    assert [row.elo for row in rows] == [0, 0, 0]


def make_result(
    number: int, leg: int, maxie: str, minnie: str, winner: Seat | None, reason: EndReason = EndReason.LINE
) -> tuple[Pairing, Record]:
    pair = MatchPair(number, 0, 0, *sorted((maxie, minnie)))
    return Pairing(pair, leg, maxie, minnie), make_record(maxie, minnie, winner, reason)


def test_pairs_have_a_score_if_both_matches_count() -> None:
    games = [
        make_result(0, 0, "a", "b", "maxie"),
        make_result(1, 0, "a", "b", None),
        make_result(0, 1, "b", "a", "minnie"),
        make_result(1, 1, "b", "a", "maxie"),
        make_result(2, 0, "a", "b", "maxie"),  # the other match of this pair is void
        make_result(2, 1, "b", "a", None, EndReason.SERVER_FAULT),
        make_result(3, 0, "a", "b", "maxie"),  # the other match of this pair was never played
        make_result(4, 0, "b", "c", "maxie"),  # a pair of other bots
        make_result(4, 1, "c", "b", "maxie"),
    ]
    assert compute_pair_scores("a", games) == [2, 0.5]
    assert compute_pair_scores("b", games) == [0, 1.5, 1]


@pytest.mark.parametrize("pairs", [(3, 1, 4, 1, 5), (0, 0, 0, 0, 7), (2, 0, 0, 0, 2)])
def test_the_elo_of_two_bots_differs_as_in_their_pairs(pairs: tuple[int, ...]) -> None:
    found = estimate_elo_difference(pairs)
    rows = replace_elo_by_difference(make_standings(["a", "b"], []), "a", found)
    elo = {row.bot: row.elo for row in rows}
    assert found is not None
    assert elo["a"] - elo["b"] == pytest.approx(found.elo)
    assert elo["a"] + elo["b"] == 0
    assert rows[0].elo >= rows[1].elo
    assert {row.elo_error for row in rows} == {found.elo_error / 2}


def test_without_an_elo_difference_the_table_is_unchanged() -> None:
    rows = make_standings(["a", "b"], [])
    assert replace_elo_by_difference(rows, "a", None) == rows


def test_a_walkover_counts_for_points_but_not_for_elo() -> None:
    walkover = FinishedMatch("1", "tictactoe", Players("a", "b"), Result("maxie", EndReason.NO_SHOW))
    played = FinishedMatch("2", "tictactoe", Players("a", "b"), Result(None, EndReason.BOARD_FULL))
    rows = {row.bot: row for row in make_standings_from_counts(["a", "b"], [(walkover, 9), (played, 4)])}
    assert (rows["a"].points, rows["b"].points) == (11, 2)
    assert rows["b"].other_forfeits == 9
    assert rows["a"].elo == pytest.approx(rows["b"].elo)
