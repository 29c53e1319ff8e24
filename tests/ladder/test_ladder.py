from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from arena.cores import list_usable_cores
from arena.ladder.commands.results import ReportFiles, report_results
from arena.ladder.plan import BotPlan
from tests.ladder.test_ladder_run import ladder
from tests.server.fleets import bot


def test_concurrency_follows_the_cores_but_not_beyond_the_matches(tmp_path: Path) -> None:
    few = ladder(tmp_path / "r", bot("a"), bot("b"), concurrency=9)
    assert (few.total_matches, few.concurrency) == (2, 2)
    many = ladder(tmp_path / "r", bot("a"), bot("b"), rounds=500)
    assert (many.total_matches, many.concurrency) == (1000, len(list_usable_cores()))
    assert list_usable_cores()


def test_what_an_event_is_known_by_tells_which_openings_it_has(tmp_path: Path) -> None:
    base = ladder(tmp_path / "r", bot("a"), bot("b"))
    listed = tmp_path / "mine.txt"
    listed.write_text("b2, a1\n")

    def known(**changes: Any) -> object:
        return replace(base, plan=replace(base.plan, **changes)).make_settings_for_resume_check()["openings"]

    assert known(openings=4) == 4
    # Without a map, or on a map without shipped openings, the identity is that of 0 random plies.
    assert known() == known(game="riskless", maps=("path4", "ring:5")) == known(openings=0) == 0
    one, two = known(game="riskless", maps=("m2",)), known(game="riskless", maps=("m2", "m1"))
    assert len({one, two, known(openings=listed), 0}) == 4
    before = known(openings=listed)
    listed.write_text("b2, a3\n")
    assert known(openings=listed) != before


def test_an_edited_bot_makes_another_plan(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("first")
    bots = (BotPlan("mine", f"{file}:Mine"), BotPlan("greedy", "greedy"))
    base = ladder(tmp_path / "r", *bots)
    before = base.make_settings_for_resume_check()
    assert before["files"].keys() == {"mine"}
    assert "files" not in base.make_settings_for_resume_check(includes_file_digests=False)
    assert base.make_settings_for_resume_check() == before
    file.write_text("second")
    assert base.make_settings_for_resume_check()["files"] != before["files"]
    assert "files" not in ladder(tmp_path / "s", bot("a"), bot("b")).make_settings_for_resume_check()


def test_the_printed_location_counts_the_event_apart_from_what_the_file_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = ladder(tmp_path / "r", bot("a"), bot("b"))
    report_results(one, (), {}, ReportFiles())
    assert capsys.readouterr().err.splitlines()[0] == f"0 matches are in {tmp_path / 'r'}"
    one.other_events_record_count = 3
    report_results(one, (), {}, ReportFiles())
    assert (
        capsys.readouterr().err.splitlines()[0]
        == f"0 matches are in {tmp_path / 'r'}, after 3 that were there before"
    )


def test_a_ladder_stopped_before_a_match_has_ended_names_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped = ladder(tmp_path / "r", bot("a"), bot("b"))
    stopped.mark_stopped_early()
    with pytest.raises(typer.Exit):
        report_results(stopped, (), {}, ReportFiles())
    assert capsys.readouterr().err.splitlines()[0] == "stopped before a match ended: no match is recorded"
