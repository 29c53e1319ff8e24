"""Solved values of a match's moves, as `arena replay` and `arena analyse` print them."""

from __future__ import annotations

import json
from pathlib import Path

from arena.bots.review.review import probe_tablebase, review_by_tablebase
from arena.games.riskless import Riskless
from arena.maps.loader import load_map
from arena.match.replay import verify_record
from arena.protocol.record import format_record_line
from arena.solved.move_quality import MoveQuality
from tests.bots.command_line import arena, fails
from tests.ladder.reports.test_blunders import count_by_comparison, make_record


def test_each_review_names_the_better_move() -> None:
    record = make_record("path4", 30)
    moves = review_by_tablebase(verify_record(record))
    assert moves is not None
    assert sum(each.quality is not MoveQuality.KEPT for each in moves) == sum(
        count_by_comparison(record).values()
    )
    assert [each.ply for each in moves] == list(range(len(record.moves)))
    assert all(each.best_move != each.move for each in moves if each.quality is not MoveQuality.KEPT)
    assert review_by_tablebase(verify_record(make_record("m2", 4))) is None


def test_the_moves_of_a_solved_position_begin_with_the_best() -> None:
    game = Riskless(load_map("path4"))
    solved = probe_tablebase(game, game.start())
    assert solved is not None
    assert (solved.result, solved.plies_to_end) == ("loss", 16)
    assert solved.moves_with_results[0][1] == "loss in 16 plies"
    assert len(solved.moves_with_results) == len(game.moves(game.start()))
    other = Riskless(load_map("world"))
    assert probe_tablebase(other, other.start()) is None


def write_record(tmp_path: Path, map: str) -> Path:
    file = tmp_path / "match.jsonl"
    file.write_text(
        format_record_line(make_record(map, 30 if map == "path4" else 4)) + "\n", encoding="utf-8"
    )
    return file


def test_replay_reviews_by_the_tablebase_alone_or_with_a_search(tmp_path: Path) -> None:
    file = write_record(tmp_path, "path4")
    alone = arena("replay", file, "--analyse", "perfect")
    assert alone.code == 0, alone.stderr
    assert "lost the win" in alone.stdout
    rows = json.loads(arena("replay", file, "--analyse", "perfect", "--json", "-").stdout)
    beside = json.loads(arena("replay", file, "--analyse", "alphabeta", "--depth", "2", "--json", "-").stdout)
    assert [row["truth"] for row in beside["moves"]] == rows
    assert "by the solved table" in arena("replay", file, "--analyse", "alphabeta", "--depth", "2").stdout


def test_replay_reports_a_map_without_a_tablebase(tmp_path: Path) -> None:
    fails("arena solve m2", 2, "replay", write_record(tmp_path, "m2"), "--analyse", "perfect")
    fails("--svg draws", 2, "replay", write_record(tmp_path, "path4"), "--analyse", "perfect", "--svg", "-")


def test_analyse_shows_the_solved_value_of_each_move() -> None:
    row = json.loads(arena("analyse", "--map", "path4", "--depth", "2", "--json", "-").stdout)
    assert row["truth"]["value"] == "loss"
    assert json.loads(arena("analyse", "--map", "m2", "--depth", "1", "--json", "-").stdout)["truth"] is None
