"""One-line results of a ladder: a finished match, the number of draws, and a warning about too many draws."""

from __future__ import annotations

from arena.ladder.ladder import Ladder
from arena.maps.game_on_map import MAPS_WITH_FEW_DRAWS, has_maps
from arena.protocol.adjudication import REPETITION_DETAIL_PREFIX
from arena.protocol.codes import FORFEIT_REASONS
from arena.protocol.record import Record
from arena.rating.breakdown import DrawCounts, count_draws, count_draws_by_map
from arena.rating.standings import is_void, list_losers


def format_match_line(record: Record) -> str:
    """Return a finished match in one line, such as `greedy beats random on m2 in 41 plies (elimination)`."""
    loser_names = list_losers(record)
    maxie, minnie = record.players.maxie, record.players.minnie
    map_text = f" on {record.setup['map']}" if record.setup.get("map") else ""
    reason = (
        REPETITION_DETAIL_PREFIX
        if record.result.ended_by_repetition
        else record.result.reason.value.replace("_", " ")
    )
    detail = (
        f": {record.result.detail}"
        if record.result.detail and record.result.reason in FORFEIT_REASONS
        else ""
    )
    if is_void(record):
        result_text = f"{maxie} against {minnie}{map_text} is void"
        detail = f": {record.result.detail}"
    elif len(loser_names) == 1:
        winner = minnie if loser_names[0] == maxie else maxie
        plies = len(record.moves)
        result_text = (
            f"{winner} beats {loser_names[0]}{map_text} in {plies} {'ply' if plies == 1 else 'plies'}"
        )
    else:
        result_text = (
            f"{maxie} and {minnie}{map_text} both lose"
            if loser_names
            else f"{maxie} and {minnie} draw{map_text}"
        )
    return f"{result_text} ({reason}{detail})"


def describe_draws(draws: DrawCounts) -> str:
    """Return text such as `drawn: 3 of 12 matches (25%), 2 of them by repetition`."""
    repetition_text = f", {draws.repetition} of them by repetition" if draws.repetition else ""
    return f"drawn: {draws.drawn} of {draws.matches} matches ({draws.drawn_share:.0%}){repetition_text}"


def make_draws_warning(ladder: Ladder) -> str | None:
    """Return a one-line warning if over half of the matches were drawn; None otherwise, or if the event was stopped."""
    draws = count_draws(ladder.records)
    if ladder.is_stopped or not draws.has_too_many_draws:
        return None
    share = f"{draws.drawn} of {draws.matches} matches were drawn"
    conclusion = "so the table says little about strength"
    if not has_maps(ladder.plan.game):
        return f"{share}, {conclusion}; with `--openings N`, matches begin after N random plies"
    maps = [
        name for name, map_draws in count_draws_by_map(ladder.records).items() if map_draws.has_too_many_draws
    ]
    map_options = [f"`--map {name}`" for name in MAPS_WITH_FEW_DRAWS if name not in maps]
    advice = (
        f"most matches are decided with {' or '.join(map_options[:2])}"
        if map_options
        else "`--openings N` may help"
    )
    return f"{share} (over half on {', '.join(maps)}), {conclusion}; {advice}"
