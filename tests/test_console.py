"""The consoles of the commands print text as it is, and a table for a pipe as Markdown."""

from __future__ import annotations

import pytest

from arena.console import err, out, print_table

NAME = "[red]fox[/red] :dog: " + 200 * "x"


def test_brackets_and_colons_of_a_name_stay_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    out.print(NAME)
    err.print(NAME)
    assert capsys.readouterr() == (f"{NAME}\n", f"{NAME}\n")


def test_a_table_without_a_terminal_is_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    print_table({"bot": "left", "points": "right"}, [[NAME, "1"]])
    heading, rule, row = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in heading.strip("|").split("|")] == ["bot", "points"]
    assert set(rule) <= set("|-: ")
    assert [cell.strip() for cell in row.strip("|").split("|")] == [NAME, "1"]
