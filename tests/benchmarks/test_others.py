from __future__ import annotations

from statistics import mean
from uuid import UUID

from arena.ladder.event import Ladder
from arena.ladder.plan import LadderPlan, engine_bot
from arena.protocol.codes import EndReason
from arena.rating.standings import Row
from benchmarks.engine.others import EXAMPLES, OURS, PLAYED_BY, against, mean_ms, row_of
from tests.ladder.pairs import round_robin
from tests.server.matches import game_of, record


def test_every_bot_says_what_it_is_and_the_files_that_it_names_are_there() -> None:
    assert OURS in PLAYED_BY
    for what in PLAYED_BY.values():
        if what.startswith("`"):
            assert (EXAMPLES.parent / what.split("`")[1]).is_file()
    line = row_of(Row("C", 4, 1.0, 1, 0, 3, -134.4, 30.0, 0, 0, 0, 0, 0))
    assert (line[0], line[2:]) == ("C", ["1", "4", "-134", "30"])


def test_what_ours_scored_against_each_of_the_others() -> None:
    plan = LadderPlan(tuple(map(engine_bot, (OURS, "C", "easyAI"))), game="tictactoe")
    ladder = Ladder(plan, [game_of()])
    ladder.begin(UUID(int=1))
    for pairing in (each for pair in round_robin(ladder.bots, 1, 1, 0) for each in pair.matches()):
        # Whoever is Maxie wins.
        names = {"maxie": pairing.maxie, "minnie": pairing.minnie}
        won = record("x", **names, moves=[0, 3, 1, 4, 2], winner="maxie", reason=EndReason.LINE)
        ladder.played.append((pairing, won))
    assert mean_ms(ladder.records, "C") == mean(move.ms for move in ladder.records[0].moves)
    assert against(ladder) == "1 of 2 against C, 1 of 2 against easyAI"
