"""Pairings of one round of a Swiss event.

Bots with equal points meet, and two bots meet again only if the round cannot be paired otherwise. The groups of equal
points are paired from the top. In a group the first half meets the second, each in order.

If a group cannot be paired, as few bots as possible, the lowest ones, move down to the next group and meet the first
bots there.

With an odd number of bots, one has a bye: the lowest of the bots with the fewest idle rounds (byes and absences). The bots that
move down, and the bot with the bye, are chosen so that all other bots can be paired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, groupby, islice
from typing import NamedTuple

from arena.rating.matching import find_maximum_matching

MAX_FLOATER_COMBINATIONS = 500
"""Maximum number of sets of floaters to try for a group of bots with equal points.

Floaters are bots that move down to the next group, because the whole group cannot be paired. If the round cannot be paired
with any of the sets tried, the whole group moves down.
"""


class SwissRound(NamedTuple):
    """Pairings of one round of a Swiss event, and the bot without an opponent, if any."""

    bot_pairs: list[tuple[str, str]]
    """Pairs of bots that meet, from the top of the event's table; the first bot has more points, or else the better seed."""
    bye_bot: str | None
    """Bot that has a bye (no opponent) in this round; None for an even number of bots."""


def pair_swiss_round(
    bots: Sequence[str],
    points_by_bot: Mapping[str, float],
    count_meetings: Callable[[str, str], int],
    idle_round_counts: Mapping[str, int],
) -> SwissRound:
    """Return the pairings of one round of a Swiss event.

    bots               bots to pair, the best seed first
    points_by_bot      points of each bot
    count_meetings     returns the number of times that two bots have met
    idle_round_counts  number of rounds in which each bot did not play
    """
    sorted_bots = sorted(bots, key=lambda bot: -points_by_bot[bot])
    max_meetings = 0
    while True:
        pairer = _RoundPairer(sorted_bots, count_meetings, max_meetings)
        if len(sorted_bots) % 2 == 0:
            if pairer.can_pair_all(sorted_bots):
                return SwissRound(pairer.pair_all(sorted_bots, points_by_bot), None)
        else:
            for bye_bot in sorted(
                sorted_bots, key=lambda bot: (idle_round_counts[bot], -sorted_bots.index(bot))
            ):
                paired_bots = [bot for bot in sorted_bots if bot != bye_bot]
                if pairer.can_pair_all(paired_bots):
                    return SwissRound(pairer.pair_all(paired_bots, points_by_bot), bye_bot)
        max_meetings += 1


class _RoundPairer:
    """Pairer of the bots of one round, in which two bots may meet if they have met at most `max_meetings` times before."""

    def __init__(
        self, bots: Sequence[str], count_meetings: Callable[[str, str], int], max_meetings: int
    ) -> None:
        self._barred_opponents = {
            bot: {other for other in bots if other != bot and count_meetings(bot, other) > max_meetings}
            for bot in bots
        }
        """Opponents that each bot has met too often to meet again."""
        self._max_barred_count = max(map(len, self._barred_opponents.values()), default=0)

    def may_meet(self, a: str, b: str) -> bool:
        return b not in self._barred_opponents[a]

    def can_pair_all(self, bots: Sequence[str]) -> bool:
        """Return True if the bots can be divided into pairs of bots that may meet."""
        return len(bots) % 2 == 0 and self._count_min_unpaired(bots) == 0

    def _count_min_unpaired(self, bots: Sequence[str]) -> int:
        """Return the number of `bots` that stay unpaired when as many as possible are paired."""
        # If each bot may meet at least half of the others, at most one stays unpaired (Dirac 1952).
        if len(bots) > 2 * (self._max_barred_count + 1):
            return len(bots) % 2
        return len(bots) - len(find_maximum_matching(bots, self.may_meet))

    def pair_all(self, bots: Sequence[str], points_by_bot: Mapping[str, float]) -> list[tuple[str, str]]:
        """Return pairs of all bots, which must be sorted by points, highest first. The caller checks `can_pair_all` before."""
        pairs: list[tuple[str, str]] = []
        groups = [list(group) for _, group in groupby(bots, key=points_by_bot.__getitem__)]
        floaters_from_above: list[str] = []
        for number, group in enumerate(groups):
            bots_of_group = floaters_from_above + group
            floaters = self._choose_floaters(bots_of_group, *groups[number + 1 :])
            remaining = [bot for bot in bots_of_group if bot not in floaters]
            pairs += self._pair_group(remaining, sum(bot in floaters_from_above for bot in remaining))
            floaters_from_above = floaters
        return pairs

    def _choose_floaters(self, group: list[str], *lower_groups: list[str]) -> list[str]:
        """Return the bots of a group (equal points) that must move down to the next group: as few and as low as possible.

        lower_groups  groups below this one, from the top

        Among choices of equal size, prefer the one after which the fewest bots move down from the next group.
        """
        lower_bots = [bot for group in lower_groups for bot in group]
        attempts = 0
        for count in range(self._count_min_unpaired(group), len(group), 2):
            options: list[tuple[int, list[str]]] = []
            for floaters in islice(combinations(reversed(group), count), MAX_FLOATER_COMBINATIONS - attempts):
                attempts += 1
                ordered_floaters = list(reversed(floaters))
                if self.can_pair_all(
                    [bot for bot in group if bot not in ordered_floaters]
                ) and self.can_pair_all(ordered_floaters + lower_bots):
                    next_group = ordered_floaters + lower_groups[0] if lower_groups else ordered_floaters
                    options.append((self._count_min_unpaired(next_group), ordered_floaters))
                    if options[-1][0] == len(next_group) % 2:
                        break
            if options:
                return min(options, key=lambda option: option[0])[1]
        return group

    def _pair_group(self, bots: list[str], floater_count: int) -> list[tuple[str, str]]:
        """Return pairs of all bots of a group: bots of equal points, and floaters, which moved down from a higher group.

        bots           bots of the group, the floaters first
        floater_count  number of floaters
        """
        pairs: list[tuple[str, str]] = []
        unpaired = list(bots)
        while unpaired:
            highest_bot = unpaired.pop(0)
            floater_count -= 1
            # Bots that moved down meet the first bots of this group; the others meet the bot half a group below.
            start = floater_count if floater_count >= 0 else len(unpaired) // 2
            for opponent in unpaired[start:] + unpaired[:start][::-1]:
                other_bots = [bot for bot in unpaired if bot != opponent]
                if self.may_meet(highest_bot, opponent) and self.can_pair_all(other_bots):
                    break
            else:
                raise AssertionError(
                    f"no opponent is left for {highest_bot}: check can_pair_all before pair_all"
                )
            if opponent in unpaired[: max(0, floater_count)]:
                floater_count -= 1
            pairs.append((highest_bot, opponent))
            unpaired = other_bots
        return pairs
