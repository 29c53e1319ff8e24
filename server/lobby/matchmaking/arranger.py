"""The arranger: it begins the matches that bots challenge each other to, and those of the matchmaker.

It decides and starts; nothing here waits for a match. Whether both players are free is looked at and
taken in one step, so two requests never pass one limit together.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic, monotonic_ns

import anyio
from anyio.lowlevel import checkpoint

from arena.games.core import Player
from arena.match.terms import Terms
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import Code
from arena.protocol.messages import (
    Accept,
    Challenge,
    Challenged,
    ChallengeOutcome,
    ChallengeOver,
    Decline,
    Standing,
    Withdraw,
)
from arena.protocol.values import Players
from arena.server.lobby.accounts import Refused
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matchmaking.answer_window import ANSWER_NS, AnswerWindow
from arena.server.lobby.matchmaking.challenged import game_of, terms_of
from arena.server.lobby.matchmaking.challenges import BadChallenge, Challenges, OpenChallenge
from arena.server.lobby.matchmaking.encounters import Encounters
from arena.server.lobby.matchmaking.house_challenges import WAIT_NS, HouseChallenges
from arena.server.lobby.matchmaking.matchmaker import UNRATED, Meetings, Offer
from arena.server.lobby.matchmaking.outcome import Outcome
from arena.server.lobby.matchmaking.standing import standing
from arena.server.lobby.matchmaking.suspension import Suspensions
from arena.server.lobby.matchmaking.waiting import Waiting
from arena.server.net.by_address.failed_logins import source
from arena.server.net.limits import HostLimits
from arena.server.rooms.member import Member

log = logging.getLogger("arena.arranger")

Start = Callable[[Terms], None]
"""Begins a match in the background."""

GATHER_SECONDS = 0.02
"""From a change to the look at who waits: bots that come free together are matched together, and looked at once."""


class Arranger:
    """Arranges matches on one server."""

    def __init__(
        self,
        lobby: Lobby,
        limits: HostLimits,
        start: Start,
        playing: Callable[[], int],
        *,
        rating: Callable[[str, str], float] = lambda _game, _name: UNRATED,
        offer: Offer | None = None,
        concurrency: int = 1,
        by_threads: bool = False,
        adjudication: Adjudication | None = None,
        answer_ns: int = ANSWER_NS,
        in_office: Callable[[], bool] = lambda: True,
        places: Callable[[], int] = lambda: 0,
    ) -> None:
        """Arrange matches among the bots of `lobby`, within `limits`.

        start         begins a match
        playing       says how many of the matches that were begun are not over, or what they weigh
        rating        says what a bot is rated in a game, both by name
        offer         what the matchmaker gives to whoever waits; None where bots play only by challenge
        concurrency   matches that the matchmaker may have in progress, or what they may weigh together; one always may be
        by_threads    whether a match weighs as many threads as that of its players asks for who asks for more; else 1
        adjudication  when matches are ended before their games end; None: never
        answer_ns     how long a challenged bot is left to answer
        in_office     says whether it is this one, of all in an arena, that arranges
        places        says how many matches the others of the arena may have in progress beside those
        """
        self._lobby = lobby
        self._start = start
        self._playing = playing
        self._rating = rating
        self._offer = offer
        self.concurrency = concurrency
        """Matches that the matchmaker may have in progress, or their weight."""
        self.by_threads = by_threads
        """Whether a match weighs as many threads as it needs."""
        self.adjudication = adjudication
        """Rules that end matches early, for matches that begin from now on."""
        self._most_territories = limits.territories
        self._draining = False
        self._in_office = in_office
        self._places = places
        self._challenges = Challenges(limits.open_challenges, limits.challenge_seconds, uuid.uuid4().hex[:8])
        self._suspensions = Suspensions()
        self._answer_window = AnswerWindow(answer_ns)
        self._meetings = Meetings()
        self._encounters = Encounters(uuid.uuid4().hex)
        self._rest_over: float | None = None
        """When the first two of those that wait may meet again, in monotonic seconds; None where none rest."""
        self._waiting = Waiting(lobby, self._suspensions, self._answer_window, self._challenges)
        self._house = HouseChallenges(lobby, self._challenges, monotonic_ns())

    @property
    def draining(self) -> bool:
        """Whether no new match is begun because the server is about to stop."""
        return self._draining

    def drain(self) -> None:
        """Begin no new match from now on."""
        self._draining = True

    def weigh(self, terms: Terms) -> int:
        """Return the weight of a match: the threads that it needs, or 1."""
        return terms.needed_threads if self.by_threads else 1

    def change_offer(self, offer: Offer | None, *, concurrency: int = 1, by_threads: bool = False) -> None:
        """Have the matchmaker give this from now on, while matches in progress weigh less than `concurrency`."""
        self._offer = offer
        self.concurrency = concurrency
        self.by_threads = by_threads
        self._lobby.stir()

    def came(self, member: Member, *, fresh: bool) -> None:
        """Tell a bot that has connected who challenges it; one that comes anew is suspended no more."""
        if fresh:
            self._suspensions.pardon(member.name)
            member.suspend("")
        # A house bot is told of a challenge when it is that one's turn.
        told = [] if member.name in self._lobby.house else self._challenges.listed(monotonic_ns())
        for challenge in told:
            if challenge.opponent == member.name:
                member.tell(challenge)
                self._answer_window.ask(member.name, monotonic_ns())
        member.change()

    def left(self, member: Member) -> None:
        """Close the challenges of a bot whose connection has ended; those to a house bot wait for it."""
        if member.name in self._lobby.house:
            self._house.left(member.name)
        else:
            self.close_of(member.name, f"{member.name} has left")
        self._answer_window.forget(member.name)
        if not member.matches:
            self._meetings.forget(member.name)

    def close_of(self, name: str, why: str) -> None:
        """Close the challenges that a bot opened or was asked."""
        for gone in self._challenges.drop_bot(name):
            self._over(gone, "withdrawn", why)

    def drop_all(self) -> list[Challenged]:
        """Have no challenges any more, since another server arranges; nobody is told of those that were open."""
        return [gone.message(monotonic_ns()) for gone in self._house.drop_all()]

    def resumed(self, terms: Terms) -> None:
        """Take note of a match that goes on from before the server was away."""
        self._house.resumed(terms)

    def ended(self, outcome: Outcome) -> None:
        """Take note of a match that is over, here or elsewhere; a bot that forfeits again and again is suspended."""
        self._house.ended(outcome.match)
        self._encounters.ended(outcome.players, monotonic())
        players, asked = outcome.players, self._challenges.asked
        for player, name in ((Player.MAXIE, players.maxie), (Player.MINNIE, players.minnie)):
            lost = outcome.winner != player.value
            why = self._suspensions.note(
                name, lost=lost, reason=outcome.reason, plies=outcome.plies, now=monotonic()
            )
            if name in asked:
                self._answer_window.ask(name, monotonic_ns())
            if (member := self._lobby.find(name)) is not None:
                member.suspend(why)
                member.change()
                if why and member.here:
                    self.tell_standing(member)
            if why:
                log.warning("suspended: %s", why, extra={"bot": name})

    def take_only(self, member: Member, quota: int) -> None:
        """Give a bot so many matches more; one that takes nothing more is asked nothing."""
        member.take_only(quota)
        if quota == 0:
            self.close_of(member.name, f"{member.name} takes no more matches")

    def tell_standing(self, member: Member) -> None:
        """Tell a bot how it stands."""
        stands = standing(member, self._lobby.connected(), self._offer, draining=self._draining)
        member.tell(Standing(*stands, member.quota))

    def listed(self) -> list[Challenged]:
        """The open challenges as a listing shows them, oldest first."""
        return self._challenges.listed(monotonic_ns())

    def handle(self, member: Member, message: Challenge | Accept | Decline | Withdraw) -> None:
        """Follow a message about a challenge. Raises Refused."""
        try:
            match message:
                case Challenge():
                    self._open(member, message)
                case Accept(id):
                    self._accept(member, id)
                case Decline(id, reason):
                    self._over(self._challenges.decline(member.name, id), "declined", reason)
                case Withdraw(id):
                    self._over(self._challenges.withdraw(member.name, id), "withdrawn")
        except BadChallenge as bad:
            raise Refused(bad.code, bad.detail) from None
        self._lobby.stir()

    def _open(self, member: Member, asked: Challenge) -> None:
        if self._draining:
            raise Refused(Code.SHUTTING_DOWN, "the server stops, and begins no new matches")
        self._challenges.check(member.name, asked)
        if member.guest:
            self._house.check_guest(member, asked, monotonic_ns())
        target = self._lobby.find(asked.opponent) if asked.opponent else None
        connected = target is not None and target.connection is not None
        in_house = asked.opponent in self._lobby.house
        if asked.opponent and not connected and not in_house:
            raise BadChallenge(Code.BAD_CHALLENGE, f"no bot called {asked.opponent!r:.70} is connected")
        game = game_of(asked, self._most_territories)
        if target is not None and connected:
            why = target.takes.refusal(game, asked.time_control)
            if why:
                raise BadChallenge(Code.BAD_CHALLENGE, f"{asked.opponent} does not play this: {why}")
            if target.quota == 0:
                raise BadChallenge(Code.BAD_CHALLENGE, f"{asked.opponent} takes no more matches")
        now = monotonic_ns()
        made = self._challenges.add(member.name, asked, game, now, lasts=WAIT_NS if in_house else None)
        told = made.message(now)
        member.tell(told)
        if in_house:
            self._wait_for_house(made, member)
        elif target is not None:
            target.tell(told)
            if target.free:
                self._answer_window.ask(target.name, now)
                target.change()

    def _wait_for_house(self, made: OpenChallenge, member: Member) -> None:
        refused = self._house.opened(made, member)
        closed = self._challenges.close(refused) if refused is not None else None
        if closed is not None:
            self._over(closed, "refused", "too many wait for the server's own bots: try again later")
        if not self._draining:
            self._house.look(monotonic_ns())

    def _accept(self, member: Member, id: str) -> None:
        if member.guest:
            raise BadChallenge(Code.BAD_CHALLENGE, "a guest takes no challenges; ask the host for a token")
        taken = self._challenges.accept(member.name, id)
        challenger = self._lobby.find(taken.challenger)
        busy = next((who for who in (challenger, member) if who is None or not who.free), member)
        if challenger is None or not challenger.free or not member.free:
            name = busy.name if busy is not None else taken.challenger
            self._over(taken, "refused", f"{name} plays as many matches as it takes", also=member)
            return
        maxie, minnie = self._seats(taken, member.name)
        terms = terms_of(
            taken, maxie, minnie, self._house.total_ms(taken, challenger), adjudication=self.adjudication
        )
        self._house.began(taken.id, terms.match)
        self._over(taken, "accepted", match=terms.match, also=member)
        self._meetings.note(maxie, minnie)
        self._start(terms)

    def _seats(self, taken: OpenChallenge, other: str) -> tuple[str, str]:
        if taken.asked.seat == "maxie":
            return taken.challenger, other
        if taken.asked.seat == "minnie":
            return other, taken.challenger
        return self._meetings.seats(taken.challenger, other)

    def _over(
        self,
        which: OpenChallenge,
        outcome: ChallengeOutcome,
        detail: str = "",
        *,
        match: str | None = None,
        also: Member | None = None,
    ) -> None:
        self._house.over(which.id)
        told = ChallengeOver(which.id, outcome, detail, match)
        for name in {which.challenger, which.asked.opponent} | ({also.name} if also else set()):
            if (member := self._lobby.find(name)) is not None:
                member.tell(told)
        self._lobby.stir()

    async def run(self) -> None:
        """Match whoever waits, and close challenges whose time is up, until cancelled."""
        while True:
            for gone in self._challenges.expire(monotonic_ns()):
                self._over(gone, "expired")
            seen = self._lobby.changes
            if self._in_office():
                if not self._draining:
                    self._house.look(monotonic_ns())
                await self._match_all()
            if self._lobby.changes == seen:
                with anyio.move_on_after(self._next_wake()):
                    await self._lobby.wait_change()
            await anyio.sleep(GATHER_SECONDS)

    async def _match_all(self) -> None:
        """Give a match to everybody who waits, as far as the limits go."""
        while True:
            offer = self._offer
            self._rest_over = None
            self._waiting.look(offer, monotonic(), monotonic_ns())
            if offer is None or not self._may_begin():
                return
            rating = partial(self._rating, offer.game.name)
            most = self.concurrency + self._places() - self._playing()
            names = self._waiting.names()
            # Two of hundreds are compared thousands of times, and what each of them plays is looked up once.
            allowed = partial(self._may_meet, offer, {name: self._courses(offer, name) for name in names})
            chosen = self._meetings.choose(names, rating, most, address=self._address, allowed=allowed)
            if not chosen:
                return
            for pair in chosen:
                self._waiting.follow(monotonic(), monotonic_ns())
                if self._offer is offer and all(name in self._waiting for name in pair):
                    if not self._may_begin(self._weight(pair)):
                        # Nobody else begins before it: else there might never be room for its threads.
                        return
                    self._begin(offer, pair)
                # So many may wait at once that the matches in progress would be held up.
                await checkpoint()

    def _address(self, name: str) -> str:
        member = self._lobby.find(name)
        return "" if member is None else source(member.address)

    def _may_begin(self, weight: int = 1) -> bool:
        if self._draining or not self._in_office():
            return False
        load = self._playing()
        return load == 0 or load + weight <= self.concurrency + self._places()

    def _weight(self, pair: tuple[str, str]) -> int:
        """What a match of two bots weighs: only one of them thinks at a time."""
        return max(1, *map(self._lobby.asks, pair)) if self.by_threads else 1

    def _courses(self, offer: Offer, name: str) -> frozenset[int]:
        """Which of the courses a bot plays."""
        member = self._lobby.find(name)
        return frozenset(
            place
            for place, each in enumerate(offer.courses)
            if member is None or member.takes.refusal(each.game, each.time_control) is None
        )

    def _may_meet(self, offer: Offer, courses: Mapping[str, frozenset[int]], a: str, b: str) -> bool:
        if courses[a].isdisjoint(courses[b]):
            return False
        until = self._encounters.rests_until(a, b, offer.pause) if offer.pause else None
        if until is None or until <= monotonic():
            return True
        self._rest_over = until if self._rest_over is None else min(self._rest_over, until)
        return False

    def _begin(self, offer: Offer, pair: tuple[str, str]) -> None:
        both = frozenset.intersection(*(self._courses(offer, name) for name in pair))
        match = self._encounters.next(*pair, [offer.courses[place] for place in sorted(both)])
        pair = (match.maxie, next(name for name in pair if name != match.maxie))
        self._meetings.note(*pair)
        self._meetings.served(*map(self._address, pair))
        terms = Terms(
            match=uuid.uuid4().hex,
            event=offer.event,
            game=match.course.game,
            opening=match.opening,
            players=Players(pair[0], pair[1]),
            time_control=match.course.time_control,
            margin_ms=offer.margin_ms,
            ready_ms=offer.ready_ms,
            adjudication=self.adjudication,
            rated=offer.rated,
        )
        self._start(terms)
        for name in pair:
            self._waiting.served(name)

    def _next_wake(self) -> float:
        """Seconds until a challenge expires, or a bot may be given a match that it was kept from."""
        wakes = [3600.0 if self._house.wake is None else self._house.wake]
        if (answered := self._answer_window.next_end(monotonic_ns())) is not None:
            wakes.append((answered - monotonic_ns()) / 1e9)
        if self._challenges.next_expiry is not None:
            wakes.append((self._challenges.next_expiry - monotonic_ns()) / 1e9)
        if self._rest_over is not None:
            wakes.append(self._rest_over - monotonic())
        if self._suspensions.next_return is not None:
            wakes.append(self._suspensions.next_return - monotonic())
        return max(0.01, min(wakes))
