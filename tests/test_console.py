"""arena.console: text is printed unchanged, and a table as Markdown unless the output is a wide terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from arena.console import err, out, print_table

NAME = "[red]fox[/red] :dog: " + 900 * "x"


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


@pytest.mark.parametrize(("width", "is_drawn"), [(80, True), (25, False)])
def test_a_terminal_folds_text_and_shows_numbers_whole(
    width: int, is_drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")  # rich gives a dumb terminal 80 columns, whatever COLUMNS says
    terminal = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    monkeypatch.setattr("arena.console.out", terminal)
    print_table({"name": "left", "tries": "right", "sha256": "left"}, [["fox", "12 of 1,000", 64 * "f"]])
    output = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "12 of 1,000" in output
    assert output.count("f") == 66
    assert ("|" not in output) is is_drawn
    assert max(map(len, output.splitlines())) <= width or not is_drawn
