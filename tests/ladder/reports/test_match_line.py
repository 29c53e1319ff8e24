import pytest

from arena.ladder.reports.match_line import in_words
from arena.protocol.codes import EndReason
from arena.protocol.record import FORMAT, Record, RecordedMove, Result
from arena.protocol.values import Players, Seat


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
