"""Who waits for a match from the matchmaker, the longest first.

Of thousands of bots few come free, come or go from one look to the next. Only those are looked at, and the few
that are kept for a time by a suspension or by the time that they have to answer a challenge.
"""

from __future__ import annotations

from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matchmaking.answer_window import AnswerWindow
from arena.server.lobby.matchmaking.challenges import Challenges
from arena.server.lobby.matchmaking.matchmaker import Offer
from arena.server.lobby.matchmaking.suspension import Suspensions
from arena.server.rooms.member import Member


class Waiting:
    """The members of a lobby whom the present offer is for. Times are arguments: seconds, and ns of any clock."""

    def __init__(
        self, lobby: Lobby, suspensions: Suspensions, answer_window: AnswerWindow, challenges: Challenges
    ) -> None:
        self._lobby = lobby
        self._suspensions = suspensions
        self._answer_window = answer_window
        self._challenges = challenges
        self._offer: Offer | None = None
        self._waiting: dict[str, Member] = {}
        self._kept: dict[str, Member] = {}
        """Members that are suspended or left to answer a challenge, as far as is known."""

    def __contains__(self, name: str) -> bool:
        return name in self._waiting

    def names(self) -> list[str]:
        """The names of all who wait, whoever has waited longest first."""
        return list(self._waiting)

    def look(self, offer: Offer | None, now: float, now_ns: int) -> None:
        """Look at everybody who may have begun to wait, or may wait no longer."""
        if offer is not self._offer:
            self._offer = offer
            self._waiting.clear()
            self._kept = {member.name: member for member in self._lobby.connected()}
        kept, self._kept = self._kept, {}
        self._look_at([*kept.values(), *self._lobby.stirred()], now, now_ns)

    def follow(self, now: float, now_ns: int) -> None:
        """Look again a moment later, only at the members about whom something has changed since."""
        self._look_at(self._lobby.stirred(), now, now_ns)

    def served(self, name: str) -> None:
        """Take out a bot that has been given a match; where it takes more of them, it waits anew."""
        member = self._waiting.pop(name, None)
        if member is not None and member.free:
            self._waiting[name] = member

    def _look_at(self, members: list[Member], now: float, now_ns: int) -> None:
        if not members:
            return
        asked = self._challenges.asked
        for member in members:
            name = member.name
            if self._waits(member, asked, now, now_ns):
                if self._waiting.get(name) is not member:
                    self._waiting[name] = member
            else:
                self._waiting.pop(name, None)

    def _waits(self, member: Member, asked: set[str], now: float, now_ns: int) -> bool:
        self._kept.pop(member.name, None)
        if self._offer is None or member.connection is None:
            return False
        if member.suspended:
            if self._suspensions.holds(member.name, now):
                self._kept[member.name] = member
                return False
            member.suspend("")
        if not member.free or not member.takes.pool:
            return False
        if member.name in asked and self._answer_window.holds(member.name, now_ns):
            self._kept[member.name] = member
            return False
        return any(member.takes.refusal(each.game, each.time_control) is None for each in self._offer.courses)
