"""Matches, bots and events in the words of a title, for those who meet a link to the page before they open it."""

from __future__ import annotations

from arena.games import catalogue
from arena.protocol.codes import EndReason
from arena.protocol.record import Result
from arena.protocol.values import Players

GAMES = {name: game.title for name, game in catalogue.GAMES.items()}
"""What people call the games of the project; any other goes by its name."""

_REASONS = {
    EndReason.ELIMINATION: "no territory left",
    EndReason.ARMIES: "enough armies",
    EndReason.BOTH_ARMIES: "both reached the winning total",
    EndReason.PLY_LIMIT: "the ply limit",
    EndReason.LINE: "three in a line",
    EndReason.ADJUDICATED: "by adjudication",
    EndReason.TIMEOUT: "out of time",
    EndReason.NO_SHOW: "not ready in time",
}
"""What says more than the name of a reason."""


def played(game: str, map: str, time_control: str) -> str:
    """What is played, where, and under which clock."""
    return ", ".join(each for each in (f"{GAMES.get(game, game)} {map}".strip(), time_control) if each)


def ended(players: Players, result: Result) -> str:
    """Who won and why, in a few words."""
    if result.reason is EndReason.SERVER_FAULT:
        return "void"
    why = (
        "repetition"
        if result.by_repetition
        else _REASONS.get(result.reason, result.reason.value.replace("_", " "))
    )
    winner = {"maxie": players.maxie, "minnie": players.minnie, None: ""}[result.winner]
    return f"{winner} won: {why}" if winner else f"draw: {why}"
