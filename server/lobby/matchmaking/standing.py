"""How a bot stands with the matchmaker, in a word and in one line for its owner."""

from __future__ import annotations

from collections.abc import Iterable

from arena.protocol.messages import StandingState
from arena.server.lobby.matchmaking.matchmaker import Offer
from arena.server.rooms.member import Member

MOST_SHOWN = 3
"""Courses of a pool that are named."""


def pool_refusal(member: Member, offer: Offer) -> str | None:
    """Why the matchmaker has nothing of this offer for a bot, as one clause; None where it has."""
    if member.quota == 0:
        return "it takes no more matches"
    if not member.takes.pool:
        return "it plays only by challenge"
    refusals = [member.takes.refusal(each.game, each.time_control) for each in offer.courses]
    return None if None in refusals else refusals[0]


def standing(
    member: Member, connected: Iterable[Member], offer: Offer | None, *, draining: bool
) -> tuple[StandingState, str]:
    """The state of a bot among those that are connected, and what its owner is told."""
    playing = len(member.matches)
    if member.quota == 0:
        return "finishing", f"takes no more matches; {playing} in play"
    if draining:
        return "idle", "the server is about to stop, and begins no new matches"
    if playing:
        return "playing", f"{playing} of at most {member.capacity} matches in play"
    if member.suspended:
        return "suspended", f"gets no matches: {member.suspended}"
    if offer is None:
        return "idle", "here bots play only by challenge, and nobody has challenged it"
    plays = " or ".join(map(str, offer.courses[:MOST_SHOWN])) + (
        " …" if len(offer.courses) > MOST_SHOWN else ""
    )
    why = pool_refusal(member, offer)
    if why is not None:
        return "idle", f"the pool plays {plays}, and {why}: it waits for a challenge"
    others = sum(each is not member and pool_refusal(each, offer) is None for each in connected)
    if not others:
        return "waiting", f"in the pool for {plays}: nobody to play yet"
    return "waiting", f"in the pool for {plays}, with {others} other bot{'s' if others > 1 else ''}"
