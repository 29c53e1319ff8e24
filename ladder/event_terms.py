"""Terms (settings) shared by all matches of a ladder, and the time limit of a match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from arena.games.core import AnyGame
from arena.ladder.event_openings import ListedOpenings, Openings
from arena.match.terms import MatchTerms, SearchThreadLimits
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result
from arena.protocol.timecontrol import TimeControl, TimeOdds
from arena.protocol.values import Players
from arena.rating.pairing import Pairing

MATCH_TIME_LIMIT_MARGIN_SECONDS = 60.0
"""Seconds by which a match may exceed the time that its clocks allow. Then the match is stopped, and is void (it does not
count).
"""
ASSUMED_MAX_MATCH_PLIES = 1000
"""Number of plies from which the time limit of a match is computed if its game has no ply limit (maximum length)."""


@dataclass(frozen=True)
class EventTerms:
    """Settings that all matches of a ladder (local tournament) share, such as game, maps and time control."""

    event_name: str
    games_by_start_position: Sequence[AnyGame]
    """Start positions, each given by a game with its setup, such as Riskless on one map.

    `MatchPair.start_position_index` is an index into this sequence.
    """
    time_control: TimeControl
    margin_ms: int
    ready_timeout_ms: int
    openings: Openings = field(default_factory=ListedOpenings)
    adjudication: Adjudication | None = None
    time_control_by_bot: Mapping[str, str] = field(default_factory=dict)
    """Time control of each bot that does not use `time_control`, by the bot's name in the plan."""

    def make_match_terms(
        self,
        match_id: str,
        pairing: Pairing,
        thread_limits: SearchThreadLimits,
        players: Players | None = None,
    ) -> MatchTerms:
        """Return the terms of one match.

        match_id       id of the match
        pairing        bots, seats and start position of the match
        thread_limits  maximum number of search threads of each bot
        players        names under which the two bots are connected; None for their names in the plan
        """
        return MatchTerms(
            match=match_id,
            event=self.event_name,
            game=self.games_by_start_position[pairing.pair.start_position_index],
            players=players or Players(pairing.maxie, pairing.minnie),
            time_control=self.time_control,
            time_odds=TimeOdds(
                self.time_control_by_bot.get(pairing.maxie, ""),
                self.time_control_by_bot.get(pairing.minnie, ""),
            ),
            margin_ms=self.margin_ms,
            ready_ms=self.ready_timeout_ms,
            thread_limits=thread_limits,
            opening=self.openings.get_opening(pairing.pair.round, pairing.pair.start_position_index),
            adjudication=self.adjudication,
        )


def make_unplayed_record(terms: MatchTerms, result: Result) -> Record:
    """Return the record of a match without moves that begins and ends now."""
    return terms.make_record(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), [], result)


def make_void_record(terms: MatchTerms, reason: str) -> Record:
    """Return the record of a void match (one that does not count), without moves, that begins and ends now.

    reason  explanation for people why the match is void
    """
    return make_unplayed_record(terms, Result(None, EndReason.SERVER_FAULT, reason))


def compute_max_match_seconds(terms: MatchTerms) -> float:
    """Return the longest duration that the clocks of a match allow, in seconds."""
    ply_limit = terms.game.setup().get("ply_limit")
    plies = ply_limit if isinstance(ply_limit, int) else ASSUMED_MAX_MATCH_PLIES
    clocks = plies * terms.margin_ms
    for control in (terms.get_time_control("maxie"), terms.get_time_control("minnie")):
        # Each player has half of the plies, or one more.
        moves_of_player = (plies + 1) // 2
        clocks += (
            moves_of_player * control.base_ms
            if control.per_move
            else control.base_ms + moves_of_player * control.increment_ms
        )
    return (terms.ready_ms + clocks) / 1000
