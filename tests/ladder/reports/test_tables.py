import io
from pathlib import Path

import pytest
from rich.console import Console

from ladder.event import Ladder
from ladder.file import LadderPlan, engine_bot
from ladder.reports.tables import LEGEND, in_words, show, watching
from protocol.codes import EndReason
from protocol.messages import Players, Seat
from protocol.record import FORMAT, Record, RecordedMove, Result
from rating.pairing import round_robin
from rating.standings import Row, table
from tests.server.matches import game_of


def record(winner: Seat | None, reason: EndReason, detail: str = "", map: str | None = None) -> Record:
    return Record(
        format=FORMAT,
        match="m",
        event="e",
        game="tictactoe",
        setup={"map": map} if map else {},
        players=Players("anna", "[bert]"),
        time_control="1+0",
        started="2026-11-20T12:00:00Z",
        moves=[RecordedMove(cell, 1.0) for cell in range(3)],
        result=Result(winner, reason, detail),
    )


@pytest.mark.parametrize(
    ("finished", "words"),
    [
        (record("maxie", EndReason.LINE, "three in a line"), "anna beats [bert] in 3 plies (line)"),
        (record("minnie", EndReason.ARMIES, map="m2"), "[bert] beats anna on m2 in 3 plies (armies)"),
        (record(None, EndReason.BOARD_FULL), "anna and [bert] draw (board full)"),
        (
            record("maxie", EndReason.TIMEOUT, "9 ms late"),
            "anna beats [bert] in 3 plies (timeout: 9 ms late)",
        ),
        (record(None, EndReason.NO_SHOW, "nobody"), "anna and [bert] both lose (no show: nobody)"),
        (record(None, EndReason.SERVER_FAULT, "a bug"), "anna against [bert] is void (server fault: a bug)"),
    ],
)
def test_a_match_in_words(finished: Record, words: str) -> None:
    assert in_words(finished) == words


ROWS = [
    Row("anna", 16, 12.5, 12, 1, 3, 212.4, 130.6, 0, 0, 0, 0),
    Row("[bert] the second of that very long name", 16, 3.5, 3, 1, 12, -212.4, 130.6, 2, 0, 1, 0),
]


def shown(width: int, *, terminal: bool) -> list[str]:
    file = io.StringIO()
    show(ROWS, Console(file=file, width=width, force_terminal=terminal, color_system=None))
    return file.getvalue().splitlines()


def test_without_a_terminal_the_table_is_markdown_and_nothing_is_cut() -> None:
    lines = shown(40, terminal=False)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0][:8] == ["#", "bot", "games", "points", "won", "drawn", "lost", "Elo"]
    assert cells[0][8:] == ["± 95 %", "time", "illegal", "gone", "other"]
    assert cells[2] == ["1", "anna", "16", "12.5", "12", "1", "3", "+212", "131", "0", "0", "0", "0"]
    assert cells[3][1] == ROWS[1].bot
    assert lines[4] == LEGEND


@pytest.mark.parametrize("width", [40, 78, 80, 120])
def test_on_a_terminal_it_says_all_in_whatever_width(width: int) -> None:
    text = "\n".join(shown(width, terminal=True))
    for said in ("anna", "12.5", "+212", "-212", "131", "games", "points", "illegal", "[bert]"):
        assert said in text
    if width >= 78:
        assert max(map(len, text.splitlines()[:-1])) <= width


def test_the_legend_comes_only_where_it_says_something() -> None:
    file = io.StringIO()
    show(ROWS[:1], Console(file=file))
    assert LEGEND not in file.getvalue()


def ladder() -> Ladder:
    plan = LadderPlan((engine_bot("anna"), engine_bot("[bert]")), rounds=1)
    return Ladder(plan, [game_of()], Path("unused.jsonl"))


def play(played: Ladder, console: Console) -> None:
    with watching(played, console) as display:
        for pairing in round_robin(played.bots, 1, 1, 0)[0].matches():
            finished = record("maxie", EndReason.LINE)
            played.played.append((pairing, finished))
            display.played(played, finished)
            display.notice("bot [bert] crashed\n    [red]why")


def test_progress_without_a_terminal_is_a_line_a_match() -> None:
    file = io.StringIO()
    play(ladder(), Console(file=file, width=20))
    assert file.getvalue() == "".join(
        f"{number}/2 anna beats [bert] in 3 plies (line)\nbot [bert] crashed\n    [red]why\n"
        for number in (1, 2)
    )


def test_progress_on_a_terminal_is_a_table_and_a_bar() -> None:
    file = io.StringIO()
    played = ladder()
    play(played, Console(file=file, width=100, force_terminal=True, color_system=None))
    text = file.getvalue()
    assert "2/2" in text
    assert "bot [bert] crashed" in text
    assert f"{table(played.bots, played.records)[0].elo:+.0f}" in text
