from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.rating.breakdown import DrawCounts, count_draws, count_draws_by_map
from tests.server.matches import record

REPEATED = "repetition: the same position came up 3 times, with the same player to move"


def make_record(end: str, map: str = "") -> Record:
    """Return the record of a match that was won, drawn, drawn by repetition, lost by both players, or void."""
    winner = "maxie" if end == "won" else None
    reason = {
        "won": EndReason.ARMIES,
        "drawn": EndReason.PLY_LIMIT,
        "repeated": EndReason.ADJUDICATED,
        "lost": EndReason.NO_SHOW,
        "void": EndReason.SERVER_FAULT,
    }[end]
    made = record(winner=winner, reason=reason)  # type: ignore[arg-type]
    if end == "repeated":
        made = replace(made, result=replace(made.result, detail=REPEATED))
    return replace(made, setup={"map": map} if map else {})


@given(st.lists(st.sampled_from(["won", "drawn", "repeated", "lost", "void"])))
def test_draws_are_counted(ends: list[str]) -> None:
    counts = count_draws(map(make_record, ends))
    matches = len(ends) - ends.count("void")
    drawn = ends.count("drawn") + ends.count("repeated")
    assert counts == DrawCounts(matches, drawn, ends.count("repeated"))
    assert counts.has_too_many_draws == (matches > 0 and Fraction(drawn, matches) > Fraction(1, 2))


def test_draws_are_counted_for_each_map() -> None:
    records = [
        make_record("drawn", "m2"),
        make_record("won", "italy"),
        make_record("repeated", "m2"),
        make_record("won"),
    ]
    assert count_draws_by_map(records) == {
        "m2": DrawCounts(2, 2, 1),
        "italy": DrawCounts(1, 0, 0),
        "tictactoe": DrawCounts(1, 0, 0),
    }
