"""Matchmaking status of a bot: a state and a line of text for its owner."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from arena.protocol.messages import MatchmakingState, Standing
from arena.server.core.bot import LobbyBot
from arena.server.core.lobby import DRAINING_REFUSAL_REASON, Lobby
from arena.server.core.matchmaker import find_pool_exclusion_reason
from arena.server.core.settings import CoreSettings, GameAtTimeControl, Pool

MAX_GAMES_NAMED_IN_STATUS = 3
"""Maximum number of games to list in the text of a bot's status. An ellipsis stands for further ones."""


def send_matchmaking_status(
    bot: LobbyBot, lobby: Lobby, suspension_reason: str, event_entry_description: str = ""
) -> None:
    """Send a bot the `standing` message: its matchmaking status, the number of matches that it still wants, and its ratings.

    suspension_reason        reason for the bot's suspension; empty if it is not suspended
    event_entry_description  short description of the event that the bot has entered; empty if none
    """
    ratings = {game: rating.rating for game, rating in bot.ratings_by_game.items()}
    deviations = {game: rating.deviation for game, rating in bot.ratings_by_game.items()}
    status = _describe_matchmaking_state(bot, lobby, suspension_reason, event_entry_description)
    lobby.send_to_bot(bot, Standing(*status, bot.match_quota, ratings or UNSET, deviations or UNSET))


def _describe_matchmaking_state(
    bot: LobbyBot, lobby: Lobby, suspension_reason: str, event_entry_description: str
) -> tuple[MatchmakingState, str]:
    match_count, pool = len(bot.seats_by_match_id), lobby.settings.pool
    if bot.match_quota == 0:
        return "finishing", f"takes no more matches; {match_count} in play"
    if lobby.is_draining:
        return "idle", DRAINING_REFUSAL_REASON
    if match_count:
        return "playing", f"{match_count} of at most {bot.match_capacity} matches in play"
    if suspension_reason:
        return "suspended", f"gets no matches: {suspension_reason}"
    if event_entry_description:
        return "waiting", event_entry_description
    if lobby.settings.external_event_name:
        return _describe_event_state(bot, lobby.settings)
    if pool is None:
        return "idle", "bots play here only by challenge, and nobody has challenged it"
    return _describe_pool_state(bot, lobby, pool)


def _describe_event_state(bot: LobbyBot, settings: CoreSettings) -> tuple[MatchmakingState, str]:
    if settings.external_event_entrants is None:
        return "waiting", f"the event {settings.external_event_name} has yet to begin"
    if bot.name in settings.external_event_entrants:
        return (
            "waiting",
            f"in the event {settings.external_event_name}: its next match is due when both bots are free",
        )
    return (
        "idle",
        f"the event {settings.external_event_name} began without it: it gets no match here unless it is challenged",
    )


def _describe_pool_state(bot: LobbyBot, lobby: Lobby, pool: Pool) -> tuple[MatchmakingState, str]:
    why = find_pool_exclusion_reason(bot, pool)
    if why is not None:
        pool_games_text = _format_game_list(pool.games)
        return "idle", f"the pool plays {pool_games_text}, and {why}: only challenges give it matches"
    games = tuple(filter(bot.preferences.accepts_pool_game, pool.games))
    accepted_pool = replace(pool, games=games)
    other_count = sum(
        other is not bot and find_pool_exclusion_reason(other, accepted_pool) is None
        for other in lobby.list_connected_bots()
    )
    pool_games_text = _format_game_list(games)
    if not other_count:
        return (
            "waiting",
            f"in the pool for {pool_games_text}: nobody to play yet{_describe_house_engines(lobby)}",
        )
    return (
        "waiting",
        f"in the pool for {pool_games_text}, with {other_count} other bot{'s' if other_count > 1 else ''}",
    )


def _format_game_list(games: Sequence[GameAtTimeControl]) -> str:
    return " or ".join(map(str, games[:MAX_GAMES_NAMED_IN_STATUS])) + (
        " …" if len(games) > MAX_GAMES_NAMED_IN_STATUS else ""
    )


def _describe_house_engines(lobby: Lobby) -> str:
    """Return a hint on how to play the server's own engines, for the end of a bot's status line; empty without engines."""
    names = [engine.bot_name for engine in lobby.settings.house_engines]
    if not names:
        return ""
    easy_engine = "house-greedy" if "house-greedy" in names else names[0]
    return f"; with --challenge {easy_engine} it plays the server's own bot meanwhile"
