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
from arena.server.core.settings import PoolGame

MAX_PAIRS = 50_000
"""Maximum number of pairs of bots to remember. The least recently used pair is forgotten first."""


@dataclass(frozen=True, slots=True)
class NextMatch:
    """Next match of two bots: its game, its opening, and the bot that plays Maxie (the first player)."""

    game: PoolGame
    opening: Opening
    maxie: str


@dataclass(slots=True)
class _PairHistory:
    """History of two bots: the facts that determine the seats, game and opening of their next match."""

    maxie_counts: dict[str, int] = field(default_factory=dict)
    """Number of matches in which each of the two bots was Maxie (the first player), by name of the bot."""
    pair_count: int = 0
    """Number of pairs of matches that the two bots have begun."""
    first_match: NextMatch | None = None
    """First match of the current pair of matches, until the second one begins; None between pairs."""
    last_end: int | None = None
    """End time of the last match of the two bots, in ns; None if none has ended."""


class PairingHistory:
    """Pairing history of the bots of one arena. Both orders of two names mean the same pair of bots."""

    def __init__(self, salt: str) -> None:
        """Start without matches. `salt` determines the game and the opening of the first match between any two bots."""
        self._salt = salt
        self._histories = BoundedDict[tuple[str, str], _PairHistory](MAX_PAIRS)
        """History of each pair of bots by their sorted names, least recently used first."""

    def count_matches(self, a: str, b: str) -> int:
        """Return the number of matches that two bots have begun."""
        history = self._histories.get((a, b) if a < b else (b, a))
        return 0 if history is None else sum(history.maxie_counts.values())

    def assign_seats(self, a: str, b: str) -> tuple[str, str]:
        """Return two bots as (Maxie, Minnie). Maxie, the first player, is the bot that was Maxie less often; on a tie, `a`."""
        maxie_counts = self._find_or_add_history(a, b).maxie_counts
        return (a, b) if maxie_counts.get(a, 0) <= maxie_counts.get(b, 0) else (b, a)

    def record_start(self, maxie: str, minnie: str) -> None:
        maxie_counts = self._find_or_add_history(maxie, minnie).maxie_counts
        maxie_counts[maxie] = maxie_counts.get(maxie, 0) + 1

    def record_end(self, a: str, b: str, now: int) -> None:
        self._find_or_add_history(a, b).last_end = now

    def find_last_match_end(self, a: str, b: str) -> int | None:
        """Return the end time of the last finished match of two bots, in ns; None if none has ended."""
        history = self._histories.get((a, b) if a < b else (b, a))
        return None if history is None else history.last_end

    def choose_next_match(self, maxie: str, minnie: str, games: Sequence[PoolGame]) -> NextMatch:
        """Choose the next match of two bots, record the choice, and return the match.

        If the two have played only the first match of a pair, and its game is one of `games`, the next match is the
        second of that pair, with the same opening and swapped seats. Otherwise, it is the first of a new pair, with
        `maxie` and `minnie` in these seats, the next game of `games` in turn, and the next opening of that game.

        games  games that both bots play, in a fixed order
        """
        history = self._find_or_add_history(maxie, minnie)
        first, history.first_match = history.first_match, None
        if first is not None and first.game in games:
            return NextMatch(first.game, first.opening, minnie if first.maxie == maxie else maxie)
        game_index = self._compute_first_game_index(maxie, minnie) + history.pair_count
        game = games[game_index % len(games)]
        opening = game.openings[game_index // len(games) % len(game.openings)]
        history.pair_count += 1
        history.first_match = NextMatch(game, opening, maxie)
        return history.first_match

    def _find_or_add_history(self, a: str, b: str) -> _PairHistory:
        names = (a, b) if a < b else (b, a)
        history = self._histories.get(names, _PairHistory())
        self._histories[names] = history
        return history

    def _compute_first_game_index(self, a: str, b: str) -> int:
        """Return a number, derived from the salt and the two names, that selects the first game and opening of two bots."""
        text = json.dumps([self._salt, *sorted((a, b))])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
