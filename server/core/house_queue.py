"""Queue of challenges to the server's own engines, in which the owners of the challenging bots take turns.

A challenge waits here until it is offered to its engine, which then accepts it. Each match of an engine takes one of a fixed
number of slots. No owner can occupy all slots; neither can all guests together, nor all bots with a token together. The owner
with the fewest slots is first; ties go to the owner that has waited longest for a turn. A bot that asks for many or long
matches therefore delays nobody else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from arena.server.core.guests import MAX_GUEST_MATCHES_PER_ADDRESS
from arena.server.core.service_order import ServiceOrder

MAX_SLOT_SHARE_PER_REQUESTER_GROUP = Fraction(3, 4)
"""Largest share of the slots (parallel matches of house engines) for all guests (clients without a token) together.

All bots with a token together may take the same share.
"""
MAX_SLOT_SHARE_PER_OWNER = Fraction(1, 2)
"""Largest share of the slots (parallel matches of house engines) for the bots of one owner.

Guests at one address get `MAX_GUEST_MATCHES_PER_ADDRESS` instead.
"""
MAX_QUEUED_CHALLENGES = 200
"""Maximum number of waiting challenges. If one more arrives, the challenge that would be offered last is refused."""


class HouseMatchRequester(NamedTuple):
    """Bots that share one limit of matches with house engines: the bots of one owner, or all guests at one address."""

    owner_or_address: str
    """Name of the bots' owner, or the address of the guests."""
    is_guest: bool


class _WaitingChallenge(NamedTuple):
    engine_name: str
    requester: HouseMatchRequester


class HouseChallengeQueue:
    """Queue of the challenges to house engines, the bots that the server itself runs.

    A *slot* stands for one match that house engines may play in parallel. A challenge waits in the queue for a slot,
    keeps it while the engine is asked to accept, and passes it to the match.
    """

    def __init__(self) -> None:
        self._waiting_challenges: dict[str, _WaitingChallenge] = {}
        """Engine and requester of each waiting challenge, by challenge id, in order of arrival."""
        self._used_slots: dict[str, HouseMatchRequester] = {}
        """Requester of each taken slot, by the id of the offered challenge, or of its match once the match has begun."""
        self._service_order: ServiceOrder[HouseMatchRequester] = ServiceOrder()

    def __len__(self) -> int:
        return len(self._waiting_challenges)

    def enqueue_challenge(
        self, challenge_id: str, engine_name: str, requester: HouseMatchRequester
    ) -> str | None:
        """Queue a challenge. If more than MAX_QUEUED_CHALLENGES then wait, return the id of one to refuse; otherwise None.

        The challenge to refuse is the one that would be offered to its engine last: the new one or an earlier one.

        challenge_id  id of the challenge
        engine_name   name of the challenged engine's bot
        requester     group of bots whose slots are counted together with the challenger's
        """
        self._waiting_challenges[challenge_id] = _WaitingChallenge(engine_name, requester)
        return (
            self._list_challenges_in_service_order()[-1]
            if len(self._waiting_challenges) > MAX_QUEUED_CHALLENGES
            else None
        )

    def forget_challenge_or_match(self, challenge_or_match_id: str) -> None:
        """Forget the closed challenge or finished match with this id, and free its slot (place for one parallel match)."""
        self._waiting_challenges.pop(challenge_or_match_id, None)
        self._used_slots.pop(challenge_or_match_id, None)

    def pass_slot_to_match(self, challenge_id: str, match_id: str) -> None:
        """Let the match of an offered challenge take over the challenge's slot (place for a parallel match).

        The arguments are ids.
        """
        requester = self._used_slots.pop(challenge_id, None)
        if requester is not None:
            self._used_slots[match_id] = requester

    def take_slot_for_match(self, match_id: str, requester: HouseMatchRequester) -> None:
        """Take a slot (parallel match), counted for `requester`, for the match `match_id`, which continues after a restart."""
        self._used_slots[match_id] = requester

    def pop_next_offers(
        self,
        total_slots: int,
        free_slots_by_engine: Mapping[str, int],
        try_reserve_match_start: Callable[[str], bool],
    ) -> list[tuple[str, str]]:
        """Take slots for the challenges that can be offered to their engines now. Return (challenge id, engine name) of each.

        total_slots              maximum number of matches that all house engines together play in parallel
        free_slots_by_engine     number of further matches that can be offered to each engine, by name; unanswered
                                 offers are already subtracted
        try_reserve_match_start  function that takes the id of a challenge. If the challenge's match may begin now, the
                                 function counts the match against the rate limits, and returns True

        O(m n log n) for m offered challenges of n waiting ones.
        """
        free_slots_left = dict(free_slots_by_engine)
        offers: list[tuple[str, str]] = []
        while any(count > 0 for count in free_slots_left.values()):
            challenge = next(
                (
                    challenge
                    for challenge in self._list_challenges_in_service_order()
                    if free_slots_left.get(self._waiting_challenges[challenge].engine_name, 0) > 0
                    and not self._has_used_full_share(
                        self._waiting_challenges[challenge].requester, total_slots
                    )
                    and try_reserve_match_start(challenge)
                ),
                None,
            )
            if challenge is None:
                break
            waiting_challenge = self._waiting_challenges.pop(challenge)
            free_slots_left[waiting_challenge.engine_name] -= 1
            self._used_slots[challenge] = waiting_challenge.requester
            self._service_order.record_service(waiting_challenge.requester)
            offers.append((challenge, waiting_challenge.engine_name))
        return offers

    def requeue_challenge(self, challenge_id: str, engine_name: str) -> None:
        """Return an offered challenge to the queue, and free its slot for a match, because its engine has disconnected."""
        requester = self._used_slots.pop(challenge_id, None)
        if requester is not None:
            self._waiting_challenges[challenge_id] = _WaitingChallenge(engine_name, requester)

    def list_queue_places(self) -> dict[str, int]:
        """Return the place of each waiting challenge among those to the same engine, from 1, by challenge id."""
        place_counts: Counter[str] = Counter()
        places: dict[str, int] = {}
        for challenge in self._list_challenges_in_service_order():
            engine = self._waiting_challenges[challenge].engine_name
            place_counts[engine] += 1
            places[challenge] = place_counts[engine]
        return places

    def _list_challenges_in_service_order(self) -> list[str]:
        """Return the ids of the waiting challenges in the order in which they will be offered.

        Requesters with few slots (parallel matches) come first. A requester's second challenge is ranked as if the first one
        already had a slot.
        """
        slots = Counter(self._used_slots.values())
        ranks: dict[str, tuple[int, int]] = {}
        for challenge, (_, requester) in self._waiting_challenges.items():
            ranks[challenge] = slots[requester], self._service_order.get_last_service_number(requester)
            slots[requester] += 1
        return sorted(self._waiting_challenges, key=ranks.__getitem__)

    def _has_used_full_share(self, requester: HouseMatchRequester, total_slots: int) -> bool:
        max_slots = (
            MAX_GUEST_MATCHES_PER_ADDRESS
            if requester.is_guest
            else max(1, int(total_slots * MAX_SLOT_SHARE_PER_OWNER))
        )
        max_group_slots = max(1, int(total_slots * MAX_SLOT_SHARE_PER_REQUESTER_GROUP))
        requesters = list(self._used_slots.values())
        return (
            requesters.count(requester) >= max_slots
            or sum(other.is_guest == requester.is_guest for other in requesters) >= max_group_slots
        )
