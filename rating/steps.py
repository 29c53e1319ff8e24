"""What a rated match does to the ratings of its two bots: Glicko-2, per game, a match at a time. Pure.

Each match is rated when it has come in, on the ratings that both had before it. A bot's deviation grows with
the days since its last rated match of the game: a day is one rating period, and periods may be fractions.
So ratings are a function of the finished rated matches in the order in which they came in, and of
nothing else: whoever counts them, and in however many goes, gets the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from arena.protocol.codes import FORFEITS, EndReason
from arena.protocol.record import Record, Result
from arena.protocol.values import Players, Seat
from arena.rating.glicko import Rating, update

PERIOD_SECONDS = 24 * 3600
"""One rating period. At it, a new bot's volatility takes a deviation from 50 to 110 in about three months."""


class Outcome(StrEnum):
    """What a match was for one of its bots."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
    NONE = "none"
    """The match says nothing: the rating stays as it is."""


SCORES = {Outcome.WIN: 1.0, Outcome.DRAW: 0.5, Outcome.LOSS: 0.0}


class Meaning(StrEnum):
    """What an end means for the ratings, as docs/ratings.md tells it."""

    PLAYED = "a win and a loss, or a draw where nobody wins"
    FORFEITED = "a win and a loss; the loser's forfeits grow by one"
    CRASHED = "a win and a loss; the loser's crashes grow by one"
    MISSED = (
        "a win and a loss; whoever was not there has one forfeit more; where both were not, the ratings stay"
    )
    VOID = "counts for nobody"


def meaning(reason: EndReason) -> Meaning:
    """What a match that ended so means for the ratings of its bots."""
    if reason is EndReason.SERVER_FAULT:
        return Meaning.VOID
    if reason in (EndReason.NO_SHOW, EndReason.DISCONNECT):
        return Meaning.MISSED
    if reason is EndReason.CRASH:
        return Meaning.CRASHED
    return Meaning.FORFEITED if reason in FORFEITS else Meaning.PLAYED


def outcome(result: Result, seat: Seat) -> tuple[Outcome, bool]:
    """What a result is for the bot in a seat, and whether it forfeited."""
    means = meaning(result.reason)
    if means is Meaning.VOID:
        return Outcome.NONE, False
    if result.winner is None:
        return (Outcome.NONE, True) if means is Meaning.MISSED else (Outcome.DRAW, False)
    if result.winner == seat:
        return Outcome.WIN, False
    return Outcome.LOSS, means in (Meaning.FORFEITED, Meaning.MISSED)


class RatingStep(Struct, frozen=True):
    """A bot's rating in a game after one of its matches."""

    match: str
    seat: Seat
    game: str
    bot: str
    finished: str
    """When the match finished, in ISO 8601: UTC, to the millisecond."""
    outcome: Outcome
    forfeit: bool
    crash: bool
    """Whether it lost because it failed, which is no forfeit."""
    rating: float
    deviation: float
    volatility: float

    def after(self) -> Rating:
        return Rating(self.rating, self.deviation, self.volatility)


Key = tuple[str, str]
"""A game and a bot."""


class Known(Struct, frozen=True):
    """A bot's rating in a game, and when the match finished that made it."""

    rating: float
    deviation: float
    volatility: float
    finished: str

    def after(self) -> Rating:
        return Rating(self.rating, self.deviation, self.volatility)


class Ended(Struct, frozen=True):
    """The part of a record that counts for the ratings."""

    match: str
    game: str
    players: Players
    result: Result


class Rater:
    """Counts matches, which come in their order. It begins with what is known of each bot."""

    def __init__(self, last: Mapping[Key, RatingStep | Known] | None = None) -> None:
        self.last: dict[Key, RatingStep | Known] = dict(last or {})

    def count(self, record: Record | Ended, finished: str) -> tuple[RatingStep, RatingStep]:
        """The steps of one match: Maxie's and Minnie's."""
        maxie = self._before(record.game, record.players.maxie, finished)
        minnie = self._before(record.game, record.players.minnie, finished)
        return (
            self._step(record, finished, "maxie", maxie, minnie),
            self._step(record, finished, "minnie", minnie, maxie),
        )

    def _before(self, game: str, bot: str, finished: str) -> tuple[Rating, float]:
        """A bot's rating after its last match, and the periods since."""
        last = self.last.get((game, bot))
        if last is None:
            return Rating(), 0.0
        return last.after(), periods(last.finished, finished)

    def _step(
        self,
        record: Record | Ended,
        finished: str,
        seat: Seat,
        own: tuple[Rating, float],
        other: tuple[Rating, float],
    ) -> RatingStep:
        what, forfeit = outcome(record.result, seat)
        rating, passed = own
        if what is Outcome.NONE:
            # Time that passes without a result makes less certain all the same.
            rating = rating.aged(passed)
        else:
            rating = update(rating, [(other[0].aged(other[1]), SCORES[what])], periods=passed)
        bot = record.players.maxie if seat == "maxie" else record.players.minnie
        step = RatingStep(
            match=record.match,
            seat=seat,
            game=record.game,
            bot=bot,
            finished=finished,
            outcome=what,
            forfeit=forfeit,
            crash=what is Outcome.LOSS and meaning(record.result.reason) is Meaning.CRASHED,
            rating=rating.rating,
            deviation=rating.deviation,
            volatility=rating.volatility,
        )
        self.last[record.game, bot] = step
        return step


def periods(earlier: str, later: str) -> float:
    """The rating periods between two times, none where they are the wrong way round."""
    passed = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return max(0.0, passed.total_seconds() / PERIOD_SECONDS)
