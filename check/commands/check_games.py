"""Implementation of `arena check --game`, which checks a game against the rules that every game must follow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct, field

from arena.console import CommandError, UsageError, err, out, print_table, write_json
from arena.games.catalogue import CATALOGUE
from arena.games.core import GameError
from arena.games.rule_check import RULE_DESCRIPTIONS, RuleViolation, check_rules

MAX_SHOWN_MOVES = 12
"""Maximum number of moves printed for a violation of a rule: the last moves before the violation. The output of --json has
all.
"""


class RuleCheckResult(Struct, frozen=True):
    """Result of checking one rule of one game."""

    game: str
    check: str
    verdict: str
    """`passed` if no random match broke the rule; otherwise `failed`."""
    requirement: str = field(name="asked")
    """Behaviour that the rule requires of a game, in one line."""
    violation_text: str = field(name="why", default="")
    """Description of the violation that was found; empty if there is none."""
    moves: list[str] = []
    """Moves from the start of the match to the violation, as text; empty if there is no violation."""


def check_games(game_specs: Sequence[str], match_count: int, seed: int, json: Path | None) -> None:
    """Check by random matches whether each game follows the rules that every game must follow, and print the findings.

    game_specs   games, as names or FILE.py:Class
    match_count  number of random matches for each game
    seed         seed of the random moves
    json         file to write the findings to, as JSON; None to print a table instead

    Raises CommandError if a game breaks a rule, and UsageError for an unknown game.
    """
    findings = [finding for spec in game_specs for finding in _check_game(spec, match_count, seed)]
    if json is not None:
        write_json(findings, json)
    else:
        rows = [
            (finding.check, finding.verdict, finding.violation_text or finding.requirement)
            for finding in findings
        ]
        print_table({"check": "left", "verdict": "left", "what": "left"}, rows)
        for finding in findings:
            if finding.moves:
                out.print(f"{finding.check}: after {_format_last_moves(finding.moves)}")
    failed_findings = [finding for finding in findings if finding.verdict == "failed"]
    if failed_findings:
        failed_names = ", ".join(finding.check for finding in failed_findings)
        raise CommandError(f"{len(failed_findings)} of {len(findings)} checks failed: {failed_names}")
    games = " and ".join(dict.fromkeys(finding.game for finding in findings))
    out.print(f"{games}: no fault was found in {match_count} random matches")


def _check_game(game_spec: str, match_count: int, seed: int) -> list[RuleCheckResult]:
    try:
        game: Any = CATALOGUE.load_game_class(game_spec).from_setup({})
    except GameError as error:
        raise UsageError(f"--game: {error}") from None
    match_lengths: list[int] = []
    violations = check_rules(game, Random(seed).randrange, match_count, match_lengths.append)
    violations_by_rule = {violation.rule: violation for violation in violations}
    if game.is_ply_limit_reached(max(match_lengths, default=0)):
        err.print(
            f"{game_spec}: warning: a random match took {max(match_lengths):,} plies, but a match is a draw after {game.ply_limit:,}:"
            " raise ply_limit, or let the rules end matches sooner"
        )
    return [
        _make_rule_check_result(game.name, rule, requirement, violations_by_rule.get(rule))
        for rule, requirement in RULE_DESCRIPTIONS.items()
    ]


def _make_rule_check_result(
    game: str, rule: str, requirement: str, violation: RuleViolation | None
) -> RuleCheckResult:
    if violation is None:
        return RuleCheckResult(game, rule, "passed", requirement)
    return RuleCheckResult(game, rule, "failed", requirement, violation.reason, list(violation.moves))


def _format_last_moves(moves: Sequence[str]) -> str:
    last_moves = ", ".join(moves[-MAX_SHOWN_MOVES:])
    return f"{len(moves)} moves: … {last_moves}" if len(moves) > MAX_SHOWN_MOVES else last_moves
