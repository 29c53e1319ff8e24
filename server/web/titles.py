"""Titles of bots, maps, tournaments and matches, equal to those that the web page shows (`page/js/text.js`)."""

from __future__ import annotations

import re

from arena.games import catalogue
from arena.protocol.codes import EndReason
from arena.protocol.messages import View
from arena.protocol.record import Result
from arena.protocol.values import Players
from arena.server.core.settings import HOUSE_ENGINE_NAME_PREFIX, OPEN_POOL_EVENT_NAME

GAME_TITLE_BY_NAME = {name: game.title for name, game in catalogue.BUILT_IN_GAMES.items()}
"""Titles of the built-in games, by name. The title of any other game is its name."""

MAP_TITLE_BY_NAME = {"m1": "Ring of six", "m2": "Grid of sixteen", "path4": "Path of four"}
"""Titles of the maps whose names do not describe them, by name."""

_WIN_TEXT_BY_END_REASON = {
    EndReason.ELIMINATION: "by elimination",
    EndReason.ARMIES: "by reaching the goal",
    EndReason.LINE: "with three in a row",
    EndReason.ADJUDICATED: "by adjudication",
    EndReason.RESIGNATION: "by resignation",
    EndReason.TIMEOUT: "on time",
    EndReason.BREAKTHROUGH: "with a breakthrough",
    EndReason.NO_MOVES: "because {loser} cannot move",
    EndReason.CRASH: "because {loser} crashed",
    EndReason.ILLEGAL_MOVE: "because {loser} made an illegal move",
    EndReason.DISCONNECT: "because {loser} lost the connection",
    EndReason.PROTOCOL_ERROR: "because {loser} broke the protocol",
    EndReason.NO_SHOW: "because {loser} did not show up",
}
"""Texts that follow the words `NAME won`, by end reason. Any other reason, as of a custom game, follows after a colon."""
_DRAW_TEXT_BY_END_REASON = {
    EndReason.BOTH_ARMIES: "as both reached the goal",
    EndReason.PLY_LIMIT: "at the move limit",
    EndReason.BOARD_FULL: "with a full board",
    EndReason.ADJUDICATED: "by adjudication",
    EndReason.NO_SHOW: "because nobody showed up",
}
"""Texts that follow the word `draw`, by end reason."""


def make_bot_title(name: str) -> str:
    """Return the title of a bot: `House AlphaBeta` for the server's own `house-alphabeta`, the name for other bots."""
    engine = name.removeprefix(HOUSE_ENGINE_NAME_PREFIX)
    if engine in ("", name):
        return name
    engine = engine.replace("alphabeta", "alphaBeta").replace("-", " ")
    return f"House {engine[0].upper()}{engine[1:]}"


def make_bot_titles(players: Players) -> tuple[str, str]:
    """Return the titles of both players, Maxie's first."""
    return make_bot_title(players.maxie), make_bot_title(players.minnie)


def make_map_title(name: str) -> str:
    """Return the title of a map: `Italy` for `italy`, `USA` for `usa`. A name with a colon (`ring:8`) is its own title."""
    if name in MAP_TITLE_BY_NAME:
        return MAP_TITLE_BY_NAME[name]
    if re.fullmatch(r"[a-z]{1,3}[0-9]*", name):
        return name.upper()
    return name if ":" in name else name[:1].upper() + name[1:]


def make_event_title(name: str) -> str:
    """Return the title of a tournament or ladder: its name, or `Open pool` for the matches that a server pairs by itself."""
    return "Open pool" if name == OPEN_POOL_EVENT_NAME else name


def make_match_title(game: str, map: str, time_control: str) -> str:
    """Return the title of a match, as in `USA, 10+0.1`. For games other than Riskless, it begins with the game's title.

    map, time_control: empty to leave them out
    """
    title = (
        make_map_title(map)
        if map and game == "riskless"
        else f"{GAME_TITLE_BY_NAME.get(game, game)} {map}".strip()
    )
    return ", ".join(text for text in (title, time_control) if text)


def make_live_match_title(view: View) -> str:
    """Return the title of a match in progress, in the form of `make_match_title`."""
    return make_match_title(view.game, str(view.setup.get("map", "")), str(view.time_control))


def make_result_title(players: Players, result: Result) -> str:
    """Return the result of a match in a few words, as in `House AlphaBeta won on time` or `draw by repetition`."""
    if result.reason is EndReason.SERVER_FAULT:
        return "void"
    names = dict(zip(("maxie", "minnie"), make_bot_titles(players), strict=True))
    reason_texts = _WIN_TEXT_BY_END_REASON if result.winner else _DRAW_TEXT_BY_END_REASON
    reason_text = "by repetition" if result.ended_by_repetition else reason_texts.get(result.reason, "")
    if result.winner is None:
        winner_text, loser = "draw", ""
    else:
        winner_text = f"{names.pop(result.winner)} won"
        (loser,) = names.values()
    return (
        f"{winner_text} {reason_text.replace('{loser}', loser)}"
        if reason_text
        else f"{winner_text}: {result.reason.value.replace('_', ' ')}"
    )
