"""Ratings of bots by Glicko-2, updated after each match.

Each match counts in two categories: its game as a whole, and the combination of game, map and time control. A match is
rated when it arrives, with the ratings that both bots had before.

A bot's deviation grows with the days since the bot's last rated match of the category: a day is one rating period, and
periods may be fractions.

Ratings depend only on the finished rated matches and the order of their arrival. Counting the matches in other batches
gives the same ratings.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.protocol.record import Record, Result
from arena.protocol.values import Players, Seat
from arena.rating.glicko import GlickoRating, update_rating

RATING_PERIOD_SECONDS = 24 * 3600
"""Length of a rating period, in seconds.

With this length, the deviation of an inactive bot grows from 50 to 110 in three months, at a new bot's volatility.
"""


class RatedOutcome(StrEnum):
    """Outcome of a match for one of its two bots, as it counts for the bot's rating."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
    NONE = "none"
    """The match does not count: the bot keeps its rating, and only the deviation grows, as it does without a match."""


SCORE_BY_OUTCOME = {RatedOutcome.WIN: 1.0, RatedOutcome.DRAW: 0.5, RatedOutcome.LOSS: 0.0}
"""Score of a bot, as Glicko-2 uses it, for each outcome of a rated match."""


class RatingEffect(StrEnum):
    """Effect of a match on the ratings and statistics of its bots. Each value is the effect's text in docs/ratings.md."""

    RESULT_ONLY = "a win and a loss, or a draw if nobody wins"
    RESULT_AND_FORFEIT = "a win and a loss, and a forfeit for the loser"
    RESULT_AND_CRASH = "a win and a loss, and a crash for the loser"
    FORFEIT_BY_ABSENCE = (
        "a win and a loss, and a forfeit for each absent bot; if both were absent, the ratings do not change"
    )
    NO_EFFECT = "does not count"


def get_rating_effect(reason: EndReason) -> RatingEffect:
    """Return the effect on the ratings of a match that ends for `reason`, such as a resignation."""
    if reason is EndReason.SERVER_FAULT:
        return RatingEffect.NO_EFFECT
    if reason in (EndReason.NO_SHOW, EndReason.DISCONNECT):
        return RatingEffect.FORFEIT_BY_ABSENCE
    if reason is EndReason.CRASH:
        return RatingEffect.RESULT_AND_CRASH
    return RatingEffect.RESULT_AND_FORFEIT if reason in FORFEIT_REASONS else RatingEffect.RESULT_ONLY


class BotOutcome(NamedTuple):
    """Outcome of a match for one of its bots, and whether the bot forfeited the match."""

    outcome: RatedOutcome
    is_forfeit: bool


def get_bot_outcome(result: Result, seat: Seat) -> BotOutcome:
    """Return the outcome of a match for the bot in a seat."""
    effect = get_rating_effect(result.reason)
    if effect is RatingEffect.NO_EFFECT:
        return BotOutcome(RatedOutcome.NONE, is_forfeit=False)
    if result.winner is None:
        is_absence = effect is RatingEffect.FORFEIT_BY_ABSENCE
        return BotOutcome(RatedOutcome.NONE if is_absence else RatedOutcome.DRAW, is_forfeit=is_absence)
    if result.winner == seat:
        return BotOutcome(RatedOutcome.WIN, is_forfeit=False)
    return BotOutcome(
        RatedOutcome.LOSS,
        is_forfeit=effect in (RatingEffect.RESULT_AND_FORFEIT, RatingEffect.FORFEIT_BY_ABSENCE),
    )


class RatingCategory(NamedTuple):
    """Group of matches that share a rating: all matches of a game in a season, or only those on one map and time control."""

    game: str
    map: str = ""
    """Name of the map; empty if the category covers all maps, and for a game without maps."""
    time_control: str = ""
    """Time control; empty if the category covers all time controls."""
    season: int = 1
    """Number of the season. Each season begins with new ratings."""


def make_rating_categories(
    game: str, map: str, time_control: str, season: int
) -> tuple[RatingCategory, RatingCategory]:
    """Return the categories in which a match counts: its game as a whole, and its game on its map and time control."""
    return RatingCategory(game, season=season), RatingCategory(game, map, time_control, season)


class CurrentRating(Struct, frozen=True):
    """Rating of a bot in a category (a game, or a game on one map and time control) after the bot's last match there."""

    rating: float
    deviation: float
    volatility: float
    finished: str
    """End time of the bot's last match in the category: ISO 8601, UTC, to the millisecond."""

    def to_glicko_rating(self) -> GlickoRating:
        return GlickoRating(self.rating, self.deviation, self.volatility)


class RatingStep(CurrentRating, frozen=True):
    """Rating of a bot in a category (a game, or a game on one map and time control) after a match, and the match's outcome."""

    match: str
    seat: Seat
    game: str
    map: str
    time_control: str
    season: int
    bot: str
    outcome: RatedOutcome
    forfeit: bool
    crash: bool
    """True if the bot lost by a crash. Crashes are counted apart from forfeits."""

    @property
    def category(self) -> RatingCategory:
        return RatingCategory(self.game, self.map, self.time_control, self.season)


RatingKey = tuple[RatingCategory, str]
"""Key under which the rater keeps a bot's current rating: the category of the rating, and the name of the bot."""


class FinishedMatch(Struct, frozen=True):
    """Finished match: only the fields of its record that the ratings need."""

    match: str
    game: str
    players: Players
    result: Result


AnyFinishedMatch = Record | FinishedMatch
"""A finished match: its whole record, or only the fields that ratings need."""


class Rater:
    """Current ratings of all bots, updated match by match in the order of arrival."""

    def __init__(self, current_ratings: Mapping[RatingKey, CurrentRating] | None = None) -> None:
        self.current_ratings: dict[RatingKey, CurrentRating] = dict(current_ratings or {})

    def rate_match(
        self, record: AnyFinishedMatch, end_time: str, category: RatingCategory | None = None
    ) -> tuple[RatingStep, RatingStep]:
        """Rate a match in a category, and return the rating steps of its two bots, Maxie's first.

        end_time  end of the match: ISO 8601, UTC
        category  category in which the match counts; by default its game as a whole
        """
        category = category or RatingCategory(record.game)
        maxie_rating = self._get_rating_and_idle_periods(category, record.players.maxie, end_time)
        minnie_rating = self._get_rating_and_idle_periods(category, record.players.minnie, end_time)
        return (
            self._make_rating_step(record, end_time, category, "maxie", maxie_rating, minnie_rating),
            self._make_rating_step(record, end_time, category, "minnie", minnie_rating, maxie_rating),
        )

    def _get_rating_and_idle_periods(
        self, category: RatingCategory, bot: str, end_time: str
    ) -> tuple[GlickoRating, float]:
        """Return a bot's current rating, and the number of rating periods from the bot's last match to `end_time`.

        A bot without a match has the rating of a new player, and 0 periods.
        """
        last_rating = self.current_ratings.get((category, bot))
        if last_rating is None:
            return GlickoRating(), 0.0
        return last_rating.to_glicko_rating(), count_rating_periods(last_rating.finished, end_time)

    def _make_rating_step(
        self,
        record: AnyFinishedMatch,
        end_time: str,
        category: RatingCategory,
        seat: Seat,
        bot_rating_and_idle_periods: tuple[GlickoRating, float],
        opponent_rating_and_idle_periods: tuple[GlickoRating, float],
    ) -> RatingStep:
        outcome, forfeit = get_bot_outcome(record.result, seat)
        rating, idle_periods = bot_rating_and_idle_periods
        if outcome is RatedOutcome.NONE:
            # Time without a result still increases the deviation.
            rating = rating.after_inactivity(idle_periods)
        else:
            rating = update_rating(
                rating,
                [
                    (
                        opponent_rating_and_idle_periods[0].after_inactivity(
                            opponent_rating_and_idle_periods[1]
                        ),
                        SCORE_BY_OUTCOME[outcome],
                    )
                ],
                periods=idle_periods,
            )
        bot = record.players.get_bot_name(seat)
        step = RatingStep(
            match=record.match,
            seat=seat,
            game=category.game,
            map=category.map,
            time_control=category.time_control,
            season=category.season,
            bot=bot,
            finished=end_time,
            outcome=outcome,
            forfeit=forfeit,
            crash=outcome is RatedOutcome.LOSS
            and get_rating_effect(record.result.reason) is RatingEffect.RESULT_AND_CRASH,
            rating=rating.rating,
            deviation=rating.deviation,
            volatility=rating.volatility,
        )
        self.current_ratings[category, bot] = step
        return step


def count_rating_periods(earlier: str, later: str) -> float:
    """Return the number of rating periods between two ISO 8601 times; 0 if `later` is before `earlier`."""
    elapsed = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return max(0.0, elapsed.total_seconds() / RATING_PERIOD_SECONDS)
