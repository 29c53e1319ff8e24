"""Pairing history: for any two bots, the number of their matches, their seats, and their next game and opening.

Two bots play in pairs of matches: both have the same game and opening, with the seats swapped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from arena.protocol.values import Opening
from arena.server.core.bounded_dict import BoundedDict
from arena.server.core.settings import GameAtTimeControl

MAX_REMEMBERED_PAIRS = 50_000
"""Maximum number of pairs of bots to remember. The least recently used pair is forgotten first."""


@dataclass(frozen=True, slots=True)
class NextMatch:
    """Next match of two bots: its game, its opening, and the bot that plays Maxie (the first player)."""

    game: GameAtTimeControl
    opening: Opening
    maxie_name: str


@dataclass(slots=True)
class _PairHistory:
    """History of two bots: the facts that determine the seats, game and opening of their next match."""

    maxie_count_by_bot: dict[str, int] = field(default_factory=dict)
    """Number of matches in which each of the two bots was Maxie (the first player), by name of the bot."""
    begun_match_pair_count: int = 0
    """Number of pairs of matches (same opening, swapped seats) that the two bots have begun."""
    first_match_awaiting_second: NextMatch | None = None
    """First match of two that belong together, until the second one begins (same opening, swapped seats); otherwise None."""
    last_match_end_ns: int | None = None
    """End time (monotonic ns) of the last finished match of the two bots; None if none has ended."""


class PairingHistory:
    """Earlier matches of all bots of one server, by pair of bots. Both orders of two names mean the same pair."""

    def __init__(self, choice_seed: str) -> None:
        """Start without matches. `choice_seed` determines the game and the opening of the first match between any two bots."""
        self._choice_seed = choice_seed
        self._histories_by_pair = BoundedDict[tuple[str, str], _PairHistory](MAX_REMEMBERED_PAIRS)
        """History of each pair of bots by their sorted names, least recently used first."""

    def count_matches_between(self, bot_name_a: str, bot_name_b: str) -> int:
        """Return the number of matches that two bots have begun."""
        history = self._histories_by_pair.get(_make_pair_key(bot_name_a, bot_name_b))
        return 0 if history is None else sum(history.maxie_count_by_bot.values())

    def assign_seats(self, bot_name_a: str, bot_name_b: str) -> tuple[str, str]:
        """Return two bots as (Maxie, Minnie), so that the one that was Maxie less often moves first; on a tie, `bot_name_a`."""
        maxie_count_by_bot = self._find_or_add_pair(bot_name_a, bot_name_b).maxie_count_by_bot
        return (
            (bot_name_a, bot_name_b)
            if maxie_count_by_bot.get(bot_name_a, 0) <= maxie_count_by_bot.get(bot_name_b, 0)
            else (bot_name_b, bot_name_a)
        )

    def record_match_start(self, maxie_name: str, minnie_name: str) -> None:
        maxie_count_by_bot = self._find_or_add_pair(maxie_name, minnie_name).maxie_count_by_bot
        maxie_count_by_bot[maxie_name] = maxie_count_by_bot.get(maxie_name, 0) + 1

    def record_match_end(self, bot_name_a: str, bot_name_b: str, now_ns: int) -> None:
        self._find_or_add_pair(bot_name_a, bot_name_b).last_match_end_ns = now_ns

    def find_last_match_end_ns(self, bot_name_a: str, bot_name_b: str) -> int | None:
        """Return the end time (monotonic ns) of the last finished match of two bots; None if none has ended."""
        history = self._histories_by_pair.get(_make_pair_key(bot_name_a, bot_name_b))
        return None if history is None else history.last_match_end_ns

    def choose_next_match(
        self, maxie_name: str, minnie_name: str, games: Sequence[GameAtTimeControl]
    ) -> NextMatch:
        """Choose the next match of two bots, record the choice, and return the match.

        Two matches belong together: the second has the same opening and swapped seats. If a second match is outstanding,
        and its game is one of `games`, it is chosen. Otherwise a new first match is chosen: `maxie_name` and `minnie_name`
        have these seats, and the next game of `games` and its next opening are used in turn.

        games  games that both bots play, in a fixed order
        """
        history = self._find_or_add_pair(maxie_name, minnie_name)
        first, history.first_match_awaiting_second = history.first_match_awaiting_second, None
        if first is not None and first.game in games:
            return NextMatch(
                first.game, first.opening, minnie_name if first.maxie_name == maxie_name else maxie_name
            )
        game_index = self._compute_first_game_index(maxie_name, minnie_name) + history.begun_match_pair_count
        game = games[game_index % len(games)]
        opening = game.openings[game_index // len(games) % len(game.openings)]
        history.begun_match_pair_count += 1
        history.first_match_awaiting_second = NextMatch(game, opening, maxie_name)
        return history.first_match_awaiting_second

    def _find_or_add_pair(self, bot_name_a: str, bot_name_b: str) -> _PairHistory:
        key = _make_pair_key(bot_name_a, bot_name_b)
        history = self._histories_by_pair.get(key, _PairHistory())
        self._histories_by_pair[key] = history
        return history

    def _compute_first_game_index(self, bot_name_a: str, bot_name_b: str) -> int:
        """Return an int, always the same for `choice_seed` and the two names, that selects the bots' first game and opening."""
        text = json.dumps([self._choice_seed, *_make_pair_key(bot_name_a, bot_name_b)])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def _make_pair_key(bot_name_a: str, bot_name_b: str) -> tuple[str, str]:
    return (bot_name_a, bot_name_b) if bot_name_a < bot_name_b else (bot_name_b, bot_name_a)
