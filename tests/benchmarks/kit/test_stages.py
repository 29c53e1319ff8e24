"""A profile's stacks, sorted by what the server does in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kit.stages import ABOUT, LOOP, OTHER, RULES, STAGES, by_stage, shares

ROOT = Path(__file__).parents[3]
RUN = "Runner.run (asyncio/runners.py:118)"
READ = "Connection.data_received (server/net/connection.py:175)"
JUDGE = "Room._judge (server/rooms/room.py:254)"


def test_the_innermost_function_of_the_servers_says_what_a_library_is_busy_with() -> None:
    folded = "\n".join(
        [
            f"thread (7): MainThread;{RUN} 1",
            f"thread (7): MainThread;{RUN};{READ};Frame.parse (websockets/frames.py:3) 2",
            f"thread (7): MainThread;{RUN};{READ};{JUDGE};Referee.handle (match/referee.py:9) 3",
            f"thread (7): MainThread;{RUN};{READ};{JUDGE};Riskless.successor.<locals>.<listcomp> (games/riskless.py:1) 2",
            f"thread (7): MainThread;{RUN};Connection.send (server/net/connection.py:9);Frame.serialize (websockets/frames.py:1) 2",
            "thread (8): arena-writer;Worker._run (server/store/journal/thread.py:37) 50",
            "thread (8): arena-writer;Worker._run (server/store/journal/thread.py:38);execute_for_all (server/store/sqlite.py:1) 6",
        ]
    )
    assert shares(folded) == {
        7: {LOOP: 0.1, "read": 0.2, "referee": 0.5, "write": 0.2},
        8: {"commit": 1.0},
    }
    found = by_stage(folded, {7: 50.0, 8: 20.0, 9: 3.0})
    assert {stage: each for stage, each in found.items() if each} == pytest.approx(
        {LOOP: 5.0, "read": 10.0, "referee": 25.0, "write": 10.0, "commit": 20.0, OTHER: 3.0}
    )


def test_every_rule_names_something_that_there_is() -> None:
    for rule, stage in RULES.items():
        path, _, function = rule.partition(":")
        assert (ROOT / path).exists(), rule
        assert stage in STAGES
        if function:
            assert f"def {function}(" in (ROOT / path).read_text(encoding="utf-8"), rule
    assert set(ABOUT) == set(STAGES)


def test_all_time_is_told() -> None:
    assert sum(by_stage("", {1: 2.0, 2: 5.0}).values()) == 7.0
