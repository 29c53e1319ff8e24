"""`arena check --game`: random matches check the rules of a user's game, and each broken rule is reported."""

from __future__ import annotations

import json
from pathlib import Path

from arena.games.rule_check import RULE_DESCRIPTIONS
from tests.bots.command_line import arena
from tests.games.own import nim


def test_a_correct_game_passes_every_check(tmp_path: Path) -> None:
    result = arena("check", "--game", f"{nim(tmp_path)}:Nim", "--matches", "5")
    assert result.code == 0, result
    assert result.stdout.count("passed") == len(RULE_DESCRIPTIONS)
    assert "nim: no fault was found in 5 random matches" in result.stdout


def test_an_incorrect_game_fails_with_the_fault_and_the_moves_to_it(tmp_path: Path) -> None:
    file = nim(tmp_path, ("return None if position.left else", "return None if position.left > 2 else"))
    result = arena("check", "--game", str(file), "--json", str(tmp_path / "found.json"))
    assert result.code == 1
    assert result.stderr == f"arena: 1 of {len(RULE_DESCRIPTIONS)} checks failed: end\n"
    results = {
        each["check"]: each for each in json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    }
    assert set(results) == set(RULE_DESCRIPTIONS)
    assert results["end"]["verdict"] == "failed"
    assert "it must be empty when the match is over" in results["end"]["why"]
    assert results["end"]["moves"]
    completed = arena("check", "--game", str(file))
    assert "end: after " in completed.stdout


def test_an_invalid_game_is_bad_usage(tmp_path: Path) -> None:
    result = arena("check", "--game", str(tmp_path / "none.py"))
    assert result.code == 2
    assert result.stderr.startswith("arena: --game: ")
    assert result.stderr.count("\n") == 1


def test_a_ply_limit_shorter_than_random_matches_gives_a_warning(tmp_path: Path) -> None:
    file = nim(tmp_path, ('name = "nim"', 'name = "nim"\n    ply_limit = 2'))
    result = arena("check", "--game", str(file), "--matches", "5")
    assert result.code == 0, result
    assert "plies, but a match is a draw after 2: raise ply_limit" in result.stderr
