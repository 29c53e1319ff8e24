import io
from pathlib import Path

import pytest
from rich.console import Console

from arena.ladder.ladder import Ladder
from arena.ladder.plan import LadderPlan, make_engine_bot_plan
from arena.ladder.reports.display import open_display
from arena.protocol.codes import EndReason
from arena.rating.standings import make_standings
from tests.rating.pairs import make_round_robin
from tests.server.matches import game_of, record


def ladder() -> Ladder:
    plan = LadderPlan((make_engine_bot_plan("anna"), make_engine_bot_plan("[bert]")), rounds=1)
    return Ladder(plan, [game_of()], Path("unused.jsonl"))


def play(played: Ladder, console: Console) -> None:
    with open_display(played, console, lambda _ladder: "") as display:
        for pairing in make_round_robin(played.bot_names, 1, 1, 0)[0].make_pairings():
            finished = record(minnie="[bert]", moves=range(3), winner="maxie", reason=EndReason.LINE)
            played.add_match(pairing, finished)
            display.show_match(played, finished)
            display.show_notice("bot [bert] crashed\n    [red]why")


def test_progress_without_a_terminal_is_a_line_a_match() -> None:
    file = io.StringIO()
    play(ladder(), Console(file=file, width=20))
    assert file.getvalue() == "".join(
        f"{number}/2 anna beats [bert] in 3 plies (line)\nbot [bert] crashed\n    [red]why\n"
        for number in (1, 2)
    )


def test_progress_on_a_terminal_is_a_table_and_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal has no bars
    file = io.StringIO()
    finished_ladder = ladder()
    play(finished_ladder, Console(file=file, width=100, force_terminal=True, color_system=None))
    text = file.getvalue()
    assert "2/2" in text
    assert "bot [bert] crashed" in text
    assert f"{make_standings(finished_ladder.bot_names, finished_ladder.records)[0].elo:+.0f}" in text
