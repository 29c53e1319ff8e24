"""How much of a ladder was drawn, in words, and what to do where that is too much."""

from __future__ import annotations

from arena.games.riskless import Riskless
from arena.ladder.event import Ladder
from arena.maps.setup import DECIDING
from arena.rating.draws import Draws, count_draws, draws_by_map


def draws_in_words(draws: Draws) -> str:
    """How many matches were drawn, and how many of these by repetition, on one line."""
    how = f", {draws.repetition} of them by repetition" if draws.repetition else ""
    return f"drawn: {draws.drawn} of {draws.matches} matches ({draws.share:.0%}){how}"


def warning_of_draws(ladder: Ladder) -> str | None:
    """What to do about a finished event of which over half was drawn, on one line; None for any other event."""
    draws = count_draws(ladder.records)
    if ladder.stopped or not draws.too_many:
        return None
    drawn = f"{draws.drawn} of {draws.matches} matches were drawn"
    little = "so that the table tells little of strength"
    if ladder.plan.game != Riskless.name:
        return f"{drawn}, {little}; `--openings N` lets matches begin after N random plies"
    maps = [name for name, each in draws_by_map(ladder.records).items() if each.too_many]
    others = [f"`--map {name}`" for name in DECIDING if name not in maps]
    advice = f"most are decided with {' or '.join(others[:2])}" if others else "`--openings N` may help"
    return f"{drawn} (over half on {', '.join(maps)}), {little}; {advice}"
