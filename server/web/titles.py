"""Titles of bots, maps, events and matches, equal to those that the web page shows (`page/js/text.js`)."""

from __future__ import annotations

import re

from arena.games import catalogue
from arena.protocol.codes import EndReason
from arena.protocol.messages import View
from arena.protocol.record import Result
from arena.protocol.values import Players
from arena.server.core.settings import HOUSE_PREFIX

GAME_TITLES = {name: game.title for name, game in catalogue.GAMES.items()}
"""Titles of the built-in games, by name. The title of any other game is its name."""

MAP_TITLES = {"m1": "Ring of six", "m2": "Grid of sixteen", "path4": "Path of four"}
"""Titles of the maps whose names would say nothing to a reader, by name."""

_REASONS = {
    EndReason.ARMIES: "goal reached",
    EndReason.BOTH_ARMIES: "both reached the goal",
    EndReason.PLY_LIMIT: "move limit",
    EndReason.LINE: "three in a row",
    EndReason.ADJUDICATED: "adjudication",
    EndReason.TIMEOUT: "time ran out",
    EndReason.NO_SHOW: "no-show",
}
"""Texts for end reasons whose names alone would not be clear. Other reasons are shown by name."""


def make_bot_title(name: str) -> str:
    """Return the title of a bot: `House AlphaBeta` for the server's own `house-alphabeta`, the name for other bots."""
    engine = name.removeprefix(HOUSE_PREFIX)
    if engine in ("", name):
        return name
    engine = engine.replace("alphabeta", "alphaBeta").replace("-", " ")
    return f"House {engine[0].upper()}{engine[1:]}"


def make_bot_titles(players: Players) -> tuple[str, str]:
    """Return the titles of both players, Maxie's first."""
    return make_bot_title(players.maxie), make_bot_title(players.minnie)


def make_map_title(name: str) -> str:
    """Return the title of a map: `Italy` for `italy`, `USA` for `usa`. A name with a colon, as `ring:8`, is kept."""
    if name in MAP_TITLES:
        return MAP_TITLES[name]
    if re.fullmatch(r"[a-z]{1,3}[0-9]*", name):
        return name.upper()
    return name if ":" in name else name[:1].upper() + name[1:]


def make_event_title(name: str) -> str:
    """Return the title of an event: `Open pool` for `serve`, a server's open pool; its name for any other event."""
    return "Open pool" if name == "serve" else name


def make_match_title(game: str, map: str, time_control: str) -> str:
    """Return the title of a match, as in `USA, 10+0.1`. For games other than Riskless, it begins with the game's title.

    map, time_control: empty to leave them out
    """
    title = (
        make_map_title(map) if map and game == "riskless" else f"{GAME_TITLES.get(game, game)} {map}".strip()
    )
    return ", ".join(each for each in (title, time_control) if each)


def make_live_match_title(view: View) -> str:
    """Return the title of a match in progress, in the form of `make_match_title`."""
    return make_match_title(view.game, str(view.setup.get("map", "")), str(view.time_control))


def make_result_title(players: Players, result: Result) -> str:
    """Return the result of a match in a few words, as in `House AlphaBeta won: goal reached` or `draw: move limit`."""
    if result.reason is EndReason.SERVER_FAULT:
        return "void"
    why = (
        "repetition"
        if result.by_repetition
        else _REASONS.get(result.reason, result.reason.value.replace("_", " "))
    )
    winner = {"maxie": players.maxie, "minnie": players.minnie, None: ""}[result.winner]
    return f"{make_bot_title(winner)} won: {why}" if winner else f"draw: {why}"
