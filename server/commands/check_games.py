"""`arena check --game`: are the rules of a game what rules must be?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

from arena.console import Failure, Misuse, out, write_json
from arena.games.catalogue import KNOWN
from arena.games.core import GameError
from arena.games.trial import RULES, Fault, try_rules
from arena.server.commands.output import print_table

LAST = 12
"""Moves of the way to a fault that are shown in the table; --json has all of them."""


class Finding(Struct, frozen=True):
    """What was found of one rule of one game."""

    game: str
    check: str
    verdict: str
    asked: str
    """What the rule asks of a game."""
    why: str = ""
    moves: list[str] = []
    """The moves from the start that lead to the fault."""


def check_games(specs: Sequence[str], matches: int, seed: int, json: Path | None) -> None:
    """Try the rules of these games and show what was found. Raises Failure where one is wrong, Misuse where none is named."""
    findings = [finding for spec in specs for finding in _check(spec, matches, seed)]
    if json is not None:
        write_json(findings, json)
    else:
        rows = [(each.check, each.verdict, each.why or each.asked) for each in findings]
        print_table({"check": "left", "verdict": "left", "what": "left"}, rows)
        for each in findings:
            if each.moves:
                _say(f"{each.check}: after {_way(each.moves)}")
    failed = [each for each in findings if each.verdict == "failed"]
    if failed:
        names = ", ".join(each.check for each in failed)
        raise Failure(f"{len(failed)} of {len(findings)} checks failed: {names}")
    games = " and ".join(dict.fromkeys(each.game for each in findings))
    _say(f"{games}: {matches} random matches, and nothing wrong was found")


def _check(spec: str, matches: int, seed: int) -> list[Finding]:
    try:
        made: Any = KNOWN.look(spec).from_setup({})
    except GameError as error:
        raise Misuse(f"--game: {error}") from None
    faults: dict[str, Fault] = {each.rule: each for each in try_rules(made, Random(seed).randrange, matches)}
    return [
        Finding(made.name, rule, "failed", asked, faults[rule].why, list(faults[rule].moves))
        if rule in faults
        else Finding(made.name, rule, "passed", asked)
        for rule, asked in RULES.items()
    ]


def _way(moves: Sequence[str]) -> str:
    shown = ", ".join(moves[-LAST:])
    return f"{len(moves)} moves: … {shown}" if len(moves) > LAST else shown


def _say(line: str) -> None:
    out.print(line, markup=False, highlight=False, soft_wrap=True)
