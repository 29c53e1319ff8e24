import csv
import io

import pytest
from msgspec.structs import replace
from rich.console import Console

from arena.ladder.reports.standings import CPU_LEGEND, make_extra_columns, print_standings
from arena.match.replay import compute_mean_cpu_ms_by_bot
from arena.protocol.codes import EndReason
from arena.protocol.record import Record, RecordedMove
from arena.protocol.values import Thinking
from arena.rating.standings import StandingsRow, format_standings_csv
from tests.server.matches import record

ROWS = [
    StandingsRow("anna", 16, 12.5, 12, 1, 3, 212.4, 130.6, 0, 0, 0, 0, 0),
    StandingsRow("[bert] the second of that very long name", 16, 3.5, 3, 1, 12, -212.4, 130.6, 0, 2, 0, 1, 0),
]


def render_table(width: int, *, terminal: bool) -> list[str]:
    file = io.StringIO()
    print_standings(ROWS, Console(file=file, width=width, force_terminal=terminal, color_system=None))
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 78, 80, 120])
def test_on_a_terminal_it_says_all_in_whatever_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal has 80 columns, even if another width is given
    text = "\n".join(render_table(width, terminal=True))
    for said in ("anna", "12.5", "+212", "-212", "131", "games", "points", "gone", "[bert]"):
        assert said in text
    if width >= 78:
        assert max(map(len, text.splitlines()[:-1])) <= width
        assert "illegal" not in text.splitlines()[0], "no column of zeros"


def test_bots_of_equal_rank_share_its_number() -> None:
    file = io.StringIO()
    rows = [replace(ROWS[0], rank=1), replace(ROWS[1], rank=1), replace(ROWS[0], bot="carl", rank=3)]
    print_standings(rows, Console(file=file, width=200))
    assert [line.split("|")[1].strip() for line in file.getvalue().splitlines()[2:5]] == ["1", "1", "3"]


def measured(maxie: str, minnie: str, *used: float | None) -> Record:
    moves = [
        RecordedMove(cell, 1.0, None if ms is None else Thinking(cpu_ms=ms)) for cell, ms in enumerate(used)
    ]
    return replace(record(maxie=maxie, minnie=minnie, winner=None, reason=EndReason.BOARD_FULL), moves=moves)


def test_cpu_time_is_the_mean_of_the_moves_for_which_it_was_measured() -> None:
    records = [measured("anna", "bert", 10, None, 20, None), measured("bert", "anna", None, 60, None, None)]
    assert compute_mean_cpu_ms_by_bot(records) == {"anna": 30}
    file = io.StringIO()
    print_standings(ROWS, Console(file=file, width=40), make_extra_columns(records, []))
    lines = file.getvalue().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:4]]
    assert [cells[row][-1] for row in (0, 2, 3)] == ["CPU ms", "30.0", "-"]
    assert lines[-1] == CPU_LEGEND
    columns = {each.csv_name: each.cell_by_bot for each in make_extra_columns(records, [])}
    told = list(csv.DictReader(io.StringIO(format_standings_csv(ROWS, columns))))
    assert [each["cpu_ms"] for each in told] == ["30.0", ""]
