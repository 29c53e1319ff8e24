"""A bot's standing with the matchmaker, in a word and in one line for its owner."""

from __future__ import annotations

from arena.protocol.messages import Standing, StandingState
from arena.server.core.bot import Bot
from arena.server.core.lobby import Lobby
from arena.server.core.matchmaker import pool_refusal
from arena.server.core.settings import PoolSettings

MOST_SHOWN = 3
"""Games of a pool that are named."""


def tell_standing(bot: Bot, lobby: Lobby, suspended: str) -> None:
    """Tell a bot its standing. `suspended`: reason of its suspension, empty where it is not suspended."""
    lobby.send(bot, Standing(*_state(bot, lobby, suspended), bot.quota))


def _state(bot: Bot, lobby: Lobby, suspended: str) -> tuple[StandingState, str]:
    playing, pool = len(bot.matches), lobby.settings.pool
    if bot.quota == 0:
        return "finishing", f"takes no more matches; {playing} in play"
    if lobby.draining:
        return "idle", "the server is about to stop, and begins no new matches"
    if playing:
        return "playing", f"{playing} of at most {bot.capacity} matches in play"
    if suspended:
        return "suspended", f"gets no matches: {suspended}"
    if pool is None:
        return "idle", "here bots play only by challenge, and nobody has challenged it"
    return _waiting(bot, lobby, pool)


def _waiting(bot: Bot, lobby: Lobby, pool: PoolSettings) -> tuple[StandingState, str]:
    plays = " or ".join(map(str, pool.games[:MOST_SHOWN])) + (" …" if len(pool.games) > MOST_SHOWN else "")
    why = pool_refusal(bot, pool)
    if why is not None:
        return "idle", f"the pool plays {plays}, and {why}: it waits for a challenge"
    others = sum(each is not bot and pool_refusal(each, pool) is None for each in lobby.connected())
    if not others:
        return "waiting", f"in the pool for {plays}: nobody to play yet"
    return "waiting", f"in the pool for {plays}, with {others} other bot{'s' if others > 1 else ''}"
