"""Matchmaking status of a bot: a state and a line of text for its owner."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from arena.protocol.messages import Standing, StandingState
from arena.server.core.bot import LobbyBot
from arena.server.core.lobby import DRAINING_REASON, Lobby
from arena.server.core.matchmaker import find_pool_exclusion_reason
from arena.server.core.settings import CoreSettings, Pool, PoolGame

MAX_LISTED_GAMES = 3
"""Maximum number of games that the line of text names."""


def send_standing(bot: LobbyBot, lobby: Lobby, suspended: str, entered: str = "") -> None:
    """Send a bot its matchmaking status.

    suspended  reason for the bot's suspension; empty if it is not suspended
    entered    short description of the event that the bot has entered; empty if none
    """
    ratings = {game: each.rating for game, each in bot.ratings.items()}
    deviations = {game: each.deviation for game, each in bot.ratings.items()}
    status = _describe_matchmaking_state(bot, lobby, suspended, entered)
    lobby.send(bot, Standing(*status, bot.quota, ratings or UNSET, deviations or UNSET))


def _describe_matchmaking_state(
    bot: LobbyBot, lobby: Lobby, suspended: str, entered: str
) -> tuple[StandingState, str]:
    playing, pool = len(bot.matches), lobby.settings.pool
    if bot.quota == 0:
        return "finishing", f"takes no more matches; {playing} in play"
    if lobby.draining:
        return "idle", DRAINING_REASON
    if playing:
        return "playing", f"{playing} of at most {bot.capacity} matches in play"
    if suspended:
        return "suspended", f"gets no matches: {suspended}"
    if entered:
        return "waiting", entered
    if lobby.settings.event:
        return _describe_event_state(bot, lobby.settings)
    if pool is None:
        return "idle", "bots play here only by challenge, and nobody has challenged it"
    return _describe_pool_state(bot, lobby, pool)


def _describe_event_state(bot: LobbyBot, settings: CoreSettings) -> tuple[StandingState, str]:
    if settings.entrants is None:
        return "waiting", f"the event {settings.event} has yet to begin"
    if bot.name in settings.entrants:
        return "waiting", f"in the event {settings.event}: its next match is due when both bots are free"
    return (
        "idle",
        f"the event {settings.event} began without it: it gets no match here unless it is challenged",
    )


def _describe_pool_state(bot: LobbyBot, lobby: Lobby, pool: Pool) -> tuple[StandingState, str]:
    why = find_pool_exclusion_reason(bot, pool)
    if why is not None:
        pool_games_text = _list_games(pool.games)
        return "idle", f"the pool plays {pool_games_text}, and {why}: only challenges give it matches"
    games = tuple(filter(bot.preferences.accepts, pool.games))
    accepted_pool = replace(pool, games=games)
    others = sum(
        each is not bot and find_pool_exclusion_reason(each, accepted_pool) is None
        for each in lobby.list_connected_bots()
    )
    pool_games_text = _list_games(games)
    if not others:
        return "waiting", f"in the pool for {pool_games_text}: nobody to play yet{_describe_house(lobby)}"
    return "waiting", f"in the pool for {pool_games_text}, with {others} other bot{'s' if others > 1 else ''}"


def _list_games(games: Sequence[PoolGame]) -> str:
    return " or ".join(map(str, games[:MAX_LISTED_GAMES])) + (" …" if len(games) > MAX_LISTED_GAMES else "")


def _describe_house(lobby: Lobby) -> str:
    """Return a hint on how to play the server's own engines, to append to a line; empty if the server has none."""
    names = [each.name for each in lobby.settings.house]
    if not names:
        return ""
    easy = "house-greedy" if "house-greedy" in names else names[0]
    return f"; with --challenge {easy} it plays the server's own bot meanwhile"
