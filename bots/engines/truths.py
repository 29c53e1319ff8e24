"""What `truth` makes of a search on a solved map: the moves of the root that are worth searching."""

from __future__ import annotations

from typing import Any

from arena.bots.api.options import LEAVES, BadSpec, Spec
from arena.bots.compiled.limits import MOST_TABLE, table_bytes
from arena.games.core import Game
from arena.solved.header import BadTable
from arena.solved.solution import Solution, solution_of


def solution_for(spec: Spec, game: Game[Any, Any]) -> Solution | None:
    """The solution that an engine looks into; None where it was not told to, or there is none. Raises BadSpec for a damaged file."""
    if spec.values.get("truth", "no") == "no":
        return None
    try:
        return solution_of(game)
    except BadTable as error:
        raise BadSpec(f"{spec.name}: {error}") from None


def without_truth(spec: Spec, solution: Solution | None, game: Game[Any, Any], most: int = MOST_TABLE) -> str:
    """Why an engine that was told to look into a table searches without it, in one line; empty where it does not.

    most   bytes of a table that leaves are looked up in
    """
    told = spec.values.get("truth", "no")
    if told == "no":
        return ""
    if solution is None:
        name = game.setup().get("map", game.name)
        return f"{spec.name} searches without truth: there is no table of {name}"
    size = table_bytes(solution.table)
    if told in LEAVES and size > most:
        return (
            f"{spec.name} looks up no leaves: the table takes {size:,} bytes of memory unpacked, and {most:,} "
            "are the most"
        )
    return ""
