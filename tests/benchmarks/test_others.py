from __future__ import annotations

from dataclasses import replace

from benchmarks.engine.others import EXAMPLES, OURS, PLAYED_BY, claim_of, row_of
from rating.standings import Row

ROW = Row("C", 4, 1.0, 1, 0, 3, -134.4, 30.0, 0, 0, 0, 0, 0)


def test_every_bot_says_what_it_is_and_the_files_that_it_names_are_there() -> None:
    assert set(OURS) < set(PLAYED_BY)
    for what in PLAYED_BY.values():
        if what.startswith("`"):
            assert (EXAMPLES.parent / what.split("`")[1]).is_file()
    assert row_of(ROW)[:1] + row_of(ROW)[2:] == ["C", "1", "4", "-134", "30"]


def test_the_weaker_of_ours_is_held_against_the_strongest_of_others() -> None:
    rows = [replace(ROW, bot="alphabeta", elo=500.0), replace(ROW, bot="jamboree:threads=1", elo=300.0)]
    rows += [ROW, replace(ROW, bot="easyAI", elo=-200.0, elo_error=40.0)]
    assert claim_of(rows).endswith("*Found:* +434 ± 42.")
    assert "strongest of others (C)" in claim_of(rows)
