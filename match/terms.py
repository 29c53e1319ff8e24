"""Terms of a match: everything that is fixed before it begins, such as the players, the game and the time control."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from arena.games.catalogue import CATALOGUE, make_game
from arena.games.core import AnyGame, GameError
from arena.match.clock import MatchClock
from arena.protocol.adjudication import Adjudication
from arena.protocol.engines import EngineInfo, EnginesBySeat
from arena.protocol.record import RECORD_FORMAT, Record, RecordedMove, Result
from arena.protocol.timecontrol import TimeControl, TimeOdds
from arena.protocol.values import Opening, PlainData, Players, Seat


class SearchThreadLimits(Struct, frozen=True):
    """Maximum number of search threads of each player; None for a player whose engine may choose the number."""

    maxie: int | None = None
    minnie: int | None = None


class MatchTerms(Struct, frozen=True, kw_only=True):
    """Terms of a match: its players, game, time controls and rules."""

    match: str
    """Identifier of the match in all messages, the record and the journal: a UUID as 32 hexadecimal digits."""
    event: str
    """Identifier of the event (such as a tournament or a ladder run) to which the match belongs, as in the record."""
    game: AnyGame
    players: Players
    """Names under which the two bots are connected."""
    time_control: TimeControl
    time_odds: TimeOdds = TimeOdds()
    """Time control of each player who plays at a different time control than `time_control`."""
    margin_ms: int
    """Extra time allowed on each move for network delay, in ms. A player loses on time only after clock plus `margin_ms`."""
    ready_ms: int
    """Time within which both players must report that they are ready, before any clock starts, in ms."""
    grace_ms: int = 0
    """Time within which a disconnected player must reconnect, in ms. Set by the server."""
    thread_limits: SearchThreadLimits = SearchThreadLimits()
    """Limits of search threads set by the creator of the match, such as a tournament that assigns CPU cores to its bots."""
    engines: EnginesBySeat = EnginesBySeat()
    """Engines of the players, with their search threads. Set by the server."""
    opening: Opening = ()
    """Moves that the referee plays before the players begin, while no clock runs."""
    adjudication: Adjudication | None = None
    """Rules for ending the match early; None if it never ends early."""
    rated: bool = False
    """True if the result counts for the ratings."""
    total_ms: int = 0
    """Maximum thinking time of each player in the whole match, in ms, in addition to the clock; 0 for no limit."""

    def get_max_search_threads(self, seat: Seat) -> int:
        """Return the maximum number of search threads of a player, as sent in `start`.

        The number is that of the player's engine in `engines`, or else the limit in `thread_limits`; 1 if neither gives a
        number.
        """
        engine: EngineInfo | None = getattr(self.engines, seat)
        max_threads: int | None = getattr(self.thread_limits, seat)
        return (engine.threads if engine is not None else None) or max_threads or 1

    def get_time_control(self, seat: Seat) -> TimeControl:
        """Return the time control of a player. Raises protocol.timecontrol.BadTimeControl for invalid time odds."""
        return self.time_odds.get_time_control(seat, self.time_control)

    @property
    def time_odds_or_unset(self) -> TimeOdds | UnsetType:
        """Return the time odds for a message; UNSET if both players have the time control of the match."""
        return self.time_odds if self.time_odds != TimeOdds() else UNSET

    def make_initial_clock(self) -> MatchClock:
        """Return the clock of the match before its first ply."""
        maxie, minnie = self.get_time_control("maxie"), self.get_time_control("minnie")
        return MatchClock.make_initial(maxie, minnie, self.margin_ms, self.total_ms)

    def make_record(self, start_time: str, moves: list[RecordedMove], result: Result) -> Record:
        """Return the record of a match played under these terms.

        start_time: start of the match, ISO 8601, UTC, whole seconds
        """
        return Record(
            format=RECORD_FORMAT,
            match=self.match,
            event=self.event,
            game=self.game.name,
            setup=self.game.setup(),
            players=self.players,
            time_control=str(self.time_control),
            time_odds=self.time_odds,
            started=start_time,
            moves=moves,
            result=result,
            adjudication=self.adjudication,
            engines=self.engines if self.engines != EnginesBySeat() else None,
            rules=CATALOGUE.get_rules_digest(self.game),
        )

    @property
    def search_threads_needed(self) -> int:
        """Return the number of search threads that the match needs: the larger of the two players' numbers.

        The numbers are not added, because the players take turns.
        """
        return max(self.get_max_search_threads("maxie"), self.get_max_search_threads("minnie"))

    def with_engines(self, maxie: EngineInfo | None, minnie: EngineInfo | None) -> MatchTerms:
        """Return a copy of the terms with the engines of both players. No engine gets more threads than `thread_limits` allows.

        An engine is None if its bot sent no description.
        """
        limits = self.thread_limits
        engines = EnginesBySeat(_limit_threads(maxie, limits.maxie), _limit_threads(minnie, limits.minnie))
        return structs.replace(self, engines=engines)


class _GameJson(Struct, frozen=True):
    """JSON form of a game: its name and its setup data."""

    name: str
    setup: dict[str, PlainData]


def _limit_threads(engine: EngineInfo | None, max_threads: int | None) -> EngineInfo | None:
    if engine is None or engine.threads is None or max_threads is None:
        return engine
    return structs.replace(engine, threads=min(engine.threads, max_threads))


def encode_terms(terms: MatchTerms) -> str:
    """Return the terms as JSON for the store."""
    return msgspec.json.encode(terms, enc_hook=encode_game_hook).decode()


def decode_terms(terms_json: str) -> MatchTerms:
    """Return the terms in a string from `encode_terms`.

    Raises games.core.GameError if the game is unknown or cannot be set up, and msgspec.DecodeError for any other text.
    """
    try:
        return _decode_terms_json(terms_json)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, GameError):
            raise error.__cause__ from None
        raise


def encode_game_hook(game: AnyGame) -> _GameJson:
    """Return the JSON form of a game, as an `enc_hook` of msgspec."""
    return _GameJson(game.name, game.setup())


def decode_game_hook(_type: type, game_json: Any) -> AnyGame:
    """Return the game whose JSON form is `game_json`, as a `dec_hook` of msgspec.

    Raises games.core.GameError if the game is unknown.
    """
    game = msgspec.convert(game_json, _GameJson)
    return make_game(game.name, game.setup)


# Created at import, before there are threads: msgspec 0.22 crashes if two threads are the first to decode a type.
_decode_terms_json = msgspec.json.Decoder(MatchTerms, dec_hook=decode_game_hook).decode
msgspec.json.Decoder(_GameJson)  # the first decoder also prepares the type for `convert`
