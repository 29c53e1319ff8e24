"""A ladder with a database, killed with -9 and started again: the processes, the store and the file."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from arena.protocol import record as records
from testkit.ladder_kills import KillableLadder
from tests.server.fleets import all_gone, bot

KILLS, ROUNDS = 2, 20


def test_a_killed_event_ends_as_if_it_had_never_been_killed(mark: str, tmp_path: Path) -> None:
    bots = "".join(
        f"[[bots]]\nname = {name!r}\ncommand = {json.dumps(list(bot(name).command))}\n" for name in "ab"
    )
    (tmp_path / "ladder.toml").write_text(
        f'event = "kills"\ngame = "tictactoe"\ntime_control = "60+1"\nrounds = {ROUNDS}\nopenings = 3\n{bots}'
    )
    runner = KillableLadder(tmp_path, ("ladder.toml",))
    unbroken = runner.play_to_end("unbroken")
    dice = Random(1)
    kept: set[str] = set()
    for _ in range(KILLS):
        runner.resume_and_kill("killed", dice.uniform(0, 0.05))
        now = runner.load_finished_match_ids("killed")
        assert kept < now, "nothing is lost, and it goes on"
        kept = now
        assert all_gone(mark), "bots die with their ladder"
    told = runner.play_to_end("killed")
    assert told["table"] == unbroken["table"]
    everything = runner.load_finished_match_ids("killed")
    assert len(everything) == told["matches"] == 2 * ROUNDS
    lines = [record.match for record in records.read_records(tmp_path / "killed.jsonl")]
    assert len(lines) == len(set(lines))
    assert set(lines) == everything
