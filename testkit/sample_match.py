"""Generated match of Riskless, finished and with the bots' analysis, to fill stores without playing."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from arena.games.core import Player
from arena.maps.game_on_map import make_game_on_map
from arena.match.clock import NS_PER_MS
from arena.match.referee import SEAT_BY_PLAYER, Referee
from arena.match.referee_events import (
    MatchOpened,
    MoveReceived,
    PlayerReady,
    PlayerResigned,
    RefereeEvent,
    TurnStarted,
    encode_journal_row,
)
from arena.match.terms import MatchTerms, encode_terms
from arena.protocol.record import RECORD_FORMAT, Record, Result
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players, Thinking

MAX_MAIN_LINE_MOVES = 8
"""Maximum number of moves in a generated main line, the line of play that a bot expects."""


class SampleMatch(NamedTuple):
    """Generated match, with all data that a store holds about it."""

    terms: MatchTerms
    record: Record
    journal_rows: list[str]
    """Journal of the match: one row for each event, in the order of the events."""


def make_sample_match(ply_count: int, seed: int, map: str = "m2") -> SampleMatch:
    """Return a random match on the map, in which the player to move resigns after `ply_count` plies.

    The same arguments give the same match.
    """
    game: Any = make_game_on_map("riskless", map)
    rng = random.Random(seed)
    while True:
        position: Any = game.start()
        moves: list[Any] = []
        while len(moves) < ply_count and game.outcome(position) is None:
            move = rng.choice(game.moves(position))
            moves.append(move)
            position = game.play(position, move)
        if len(moves) == ply_count and game.outcome(position) is None:
            return _record_match(game, moves, game.player(position), rng, seed)


def _record_match(game: Any, moves: list[Any], loser: Player, rng: random.Random, seed: int) -> SampleMatch:
    terms = MatchTerms(
        match=f"{seed:032x}",
        event="serve",
        game=game,
        players=Players("alphabeta", "jamboree"),
        time_control=TimeControl.parse("10+0.1"),
        margin_ms=100,
        ready_ms=30_000,
        grace_ms=30_000,
        rated=True,
    )
    referee, journal_rows = Referee(terms), []
    now = rng.randrange(10**12, 10**14)

    def apply_event(event: RefereeEvent, after_ns: int, turn: tuple[int, TurnStarted] | None = None) -> None:
        nonlocal now
        now += after_ns
        referee.handle_event(event, now)
        if not isinstance(event, TurnStarted):
            journal_rows.append(encode_journal_row(now, event, turn))

    apply_event(MatchOpened(), 0)
    for player in Player:
        apply_event(PlayerReady(player), rng.randrange(NS_PER_MS, 100 * NS_PER_MS))
    moves_data = [game.move_to_data(move) for move in moves]
    for ply, move in enumerate(moves_data):
        turn_started = TurnStarted(ply, rng.randrange(200_000, 400_000))
        apply_event(turn_started, rng.randrange(NS_PER_MS // 10, NS_PER_MS))
        turn = now, turn_started
        thinking = Thinking(
            depth=rng.randrange(6, 13),
            value=float(rng.randrange(-800, 800)),
            nodes=rng.randrange(1_000, 900_000),
            # Both bots expect exactly the moves that follow, as far as they look ahead.
            line=moves_data[ply : ply + rng.randrange(1, MAX_MAIN_LINE_MOVES + 1)],
        )
        player = list(Player)[ply % 2]
        move_received = MoveReceived(player, ply, move, thinking)
        apply_event(move_received, rng.randrange(20 * NS_PER_MS, 150 * NS_PER_MS), turn)
    apply_event(PlayerResigned(loser), NS_PER_MS)
    result = referee.result
    if result is None:
        raise AssertionError("the match is not over, although a player has resigned")
    record = Record(
        RECORD_FORMAT,
        terms.match,
        terms.event,
        game.name,
        game.setup(),
        terms.players,
        str(terms.time_control),
        "2026-10-20T12:00:00Z",
        referee.moves,
        Result(SEAT_BY_PLAYER[result.winner] if result.winner else None, result.reason, result.detail),
    )
    return SampleMatch(terms, record, journal_rows)


def make_terms_json(match: SampleMatch) -> str:
    """Return the terms of the match, such as players and time control, in the JSON format of the store."""
    return encode_terms(match.terms)
