"""The end of a benchmark that looks for faults: each is shown, or counted, and any fails it."""

import pytest

from benchmarks.kit.faults import SHOWN, report


def test_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([]) == 0
    assert capsys.readouterr().out == "0 faults\n"


def test_many_faults_are_counted_and_the_first_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([f"number {each}" for each in range(SHOWN + 5)]) == 1
    *shown, count = capsys.readouterr().out.splitlines()
    assert shown == [f"FAULT number {each}" for each in range(SHOWN)]
    assert count == f"{SHOWN + 5} faults"
