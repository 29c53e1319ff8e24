"""Titles of bots, maps, events and matches, the same as on the page (`page/js/text.js`)."""

from __future__ import annotations

import re

from arena.games import catalogue
from arena.protocol.codes import EndReason
from arena.protocol.messages import View
from arena.protocol.record import Result
from arena.protocol.values import Players
from arena.server.core.settings import HOUSE_PREFIX

GAMES = {name: game.title for name, game in catalogue.GAMES.items()}
"""Titles of the built-in games. Other games are shown by name."""

_REASONS = {
    EndReason.ARMIES: "goal reached",
    EndReason.BOTH_ARMIES: "both reached the goal",
    EndReason.PLY_LIMIT: "move limit",
    EndReason.LINE: "three in a row",
    EndReason.ADJUDICATED: "adjudication",
    EndReason.TIMEOUT: "time ran out",
    EndReason.NO_SHOW: "no-show",
}
"""Texts for end reasons whose names need an explanation."""


def make_bot_title(name: str) -> str:
    """Return a bot's name as a title: House AlphaBeta for house-alphabeta; other names stay as they are."""
    engine = name.removeprefix(HOUSE_PREFIX)
    if engine in ("", name):
        return name
    engine = engine.replace("alphabeta", "alphaBeta").replace("-", " ")
    return f"House {engine[0].upper()}{engine[1:]}"


def make_bot_titles(players: Players) -> tuple[str, str]:
    """Return the names of both players as titles, Maxie's first."""
    return make_bot_title(players.maxie), make_bot_title(players.minnie)


def make_map_title(name: str) -> str:
    """Return a map's name as a title: Italy for italy, USA for usa."""
    if re.fullmatch(r"[a-z]{1,3}[0-9]*", name):
        return name.upper()
    return name if ":" in name else name[:1].upper() + name[1:]


def make_event_title(name: str) -> str:
    """Return an event's name as a title: Open pool for serve; other names stay as they are."""
    return "Open pool" if name == "serve" else name


def make_match_title(game: str, map: str, time_control: str) -> str:
    """Return the title of a match: its game, map and time control, separated by commas."""
    title = make_map_title(map) if map and game == "riskless" else f"{GAMES.get(game, game)} {map}".strip()
    return ", ".join(each for each in (title, time_control) if each)


def make_live_match_title(view: View) -> str:
    """Return the title of a match in progress: its game, map and time control, separated by commas."""
    return make_match_title(view.game, str(view.setup.get("map", "")), str(view.time_control))


def make_result_title(players: Players, result: Result) -> str:
    """Return the result of a match in a few words: the winner and the reason."""
    if result.reason is EndReason.SERVER_FAULT:
        return "void"
    why = (
        "repetition"
        if result.by_repetition
        else _REASONS.get(result.reason, result.reason.value.replace("_", " "))
    )
    winner = {"maxie": players.maxie, "minnie": players.minnie, None: ""}[result.winner]
    return f"{make_bot_title(winner)} won: {why}" if winner else f"draw: {why}"
