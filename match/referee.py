"""The referee of one match: what is legal, whose time ran out, who won. Pure: time is an argument.

`handle(event, now)` returns the effects; `next_deadline` says when to call with `DeadlineFell` if nothing else happens
first. `now` is monotonic nanoseconds and never goes back. A referee never sleeps, reads a clock, logs, or raises for a
player's fault: that is data. The same events at the same times give the same effects: so the journal is a full account
of a match. Its phases are getting ready, playing, and over; all but the last have a deadline, so every match ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from msgspec import UNSET

from arena.games.catalogue import KNOWN
from arena.games.core import MAXIE, BadData, GameError, IllegalMove, Player
from arena.match.adjudication import Adjudicator
from arena.match.clock import MS
from arena.match.events import (
    BrokeProtocol,
    DeadlineFell,
    Effect,
    Event,
    Finish,
    GotReady,
    Left,
    Moved,
    Opened,
    Resigned,
    Returned,
    ServerBack,
    ServerFailed,
    SessionLost,
    Tell,
    TurnLeft,
)
from arena.match.lag import LagBudget
from arena.match.readiness import Readiness
from arena.match.terms import Terms
from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import Accepted, End, Error, ServerMessage, Start, Turn
from arena.protocol.moves import MoveList
from arena.protocol.record import RecordedMove
from arena.protocol.values import Clocks, Seat

LATE_LIMIT = 50 * MS
"""Where the server was held up for longer than this, and than the margin, a flag is nobody's: the match is void."""

MAX_FAULTS = 16
"""Rejected messages that a player may send in one match; one more loses it."""

SEATS: dict[Player, Seat] = {Player.MAXIE: "maxie", Player.MINNIE: "minnie"}
"""The players' names on the wire."""


@dataclass
class Referee:
    """The state of one match. Only the room that owns it calls it."""

    terms: Terms
    revision: int = 0
    """Grows with every event that changed something: what did not change anything need not be kept."""
    moves: list[RecordedMove] = field(default_factory=list)
    result: Finish | None = None

    def __post_init__(self) -> None:
        self.position = self.terms.game.start()
        self.mover = self.terms.game.player(self.position)
        self._adjudicator = Adjudicator(self.terms.adjudication, self.terms.game)
        self._adjudicator.count(self.position)
        self._clock = self.terms.clock()
        self._accepted: list[Accepted] = []
        self._movers: list[Player] = []
        self._played = MoveList()
        """The moves as messages hold them."""
        self.readiness = Readiness(self.terms)
        self._playing = False
        self._left_at: dict[Player, int] = {}
        self._faults = dict.fromkeys(Player, 0)
        self._lag = dict.fromkeys(Player, LagBudget())
        self.turn_since: int | None = None  # when the turn left whose clock runs
        self._turn_lag = 0
        self._deadline: int | None = None
        self._deadline_of = -1  # the revision for which it was found
        self._play_opening()

    def _come_to(self, position: object) -> None:
        """Go on from a position that a move has led to."""
        self.position = position
        self.mover = self.terms.game.player(position)
        self._adjudicator.count(position)

    def _play_opening(self) -> None:
        """Raises games.core.GameError for an opening that cannot be played: a fault of the host's."""
        game = self.terms.game
        for ply, data in enumerate(self.terms.opening):
            position = game.play(self.position, game.move_from_data(data))
            self.moves.append(RecordedMove(data, 0.0, opening=True))
            self._movers.append(self.mover)
            self._played.append(data)
            left = self._clock.left(self.mover) // MS
            self._accepted.append(Accepted(self.terms.match, ply, 0.0, left))
            self._come_to(position)
        if self.moves and game.outcome(self.position) is not None:
            raise GameError("the opening leaves nothing to play: it ends the match")

    @property
    def over(self) -> bool:
        return self.result is not None

    @property
    def ply(self) -> int:
        """The ply to be played next."""
        return len(self.moves)

    @property
    def next_deadline(self) -> int | None:
        """When `DeadlineFell` is due, in ns; None when over or not yet opened."""
        if self._deadline_of != self.revision:  # it is asked for several times a move
            if self.turn_since is not None and not self._left_at and self.result is None:
                self._deadline = self._flag_falls(self.turn_since)  # as nearly always
            else:
                self._deadline = min([at for at, _ in self._deadlines()], default=None)
            self._deadline_of = self.revision
        return self._deadline

    def handle(self, event: Event, now: int) -> list[Effect]:
        """What follows from an event at `now`. Nothing follows once the match is over."""
        if self.result is not None:
            return []
        match event:
            case Moved():
                return self._move(event, now)
            case TurnLeft():
                return self._start_clock(event, now)
            case Opened():
                return self._open(now)
            case GotReady(player):
                return self._get_ready(player)
            case Resigned():
                return self._give_up(event, now)
            case Left(player):
                return self._leave(player, now)
            case Returned(player):
                return self._return(player, now)
            case SessionLost(player):
                return self._replace(player, now)
            case BrokeProtocol(player, detail):
                text = f"{self._who(player)} broke the protocol: {detail}"
                return self._finish(player.opponent, EndReason.PROTOCOL_ERROR, text, now)
            case DeadlineFell(server_late):
                return self._judge_deadline(server_late, now)
            case ServerBack():
                return self._go_on(now)
            case ServerFailed(detail):
                return self._finish(None, EndReason.SERVER_FAULT, detail, now)
            case _:
                assert_never(event)

    # getting ready

    def _open(self, now: int) -> list[Effect]:
        if self.readiness.asked:
            return []
        self.readiness.ask(now)
        self.revision += 1
        return [Tell(player, self._start_message(player)) for player in Player]

    def _get_ready(self, player: Player) -> list[Effect]:
        if self._playing or not self.readiness.get_ready(player):
            return []
        self.revision += 1
        if self.readiness.missing:
            return []
        self._playing = True
        return [self._turn(0)]

    # playing

    def _start_clock(self, turn: TurnLeft, now: int) -> list[Effect]:
        here = not self.readiness.awaits(self.mover)  # else the turn begins when its mover is back
        if here and self._playing and turn.ply == len(self.moves) and self.turn_since is None:
            self.turn_since = now
            self._turn_lag = turn.lag
            self.revision += 1
        return []

    def _move(self, event: Moved, now: int) -> list[Effect]:
        player, ply, next_ply = event.player, event.ply, len(self.moves)
        if not self._playing:
            return self._reject(
                player, Code.NOT_STARTED, "the match has not begun: both must be ready", ply, now
            )
        if ply < next_ply:
            return self._repeat(event, now)
        if ply > next_ply or player is not self.mover:
            detail = f"ply {ply} is not yours to play now: the match is at ply {next_ply}, and it is {self.mover}'s turn"
            return self._reject(player, Code.OUT_OF_TURN, detail, ply, now)
        # A move can arrive while its turn is still on the way out: it took no time.
        spent = max(0, now - self.turn_since) if self.turn_since is not None else 0
        credited, budget = self._lag[player].credit(self._turn_lag, spent)
        late = spent - credited - self._clock.allowed(player)
        if late > 0:
            return self._flag(player, f"the move came {late / MS:.1f} ms after the flag fell", now)
        try:
            move = self.terms.game.move_from_data(event.move)
            position = self.terms.game.play_on(self.position, move)
        except IllegalMove as error:
            return self._lose_by_move(event, str(error), now)
        except BadData as error:
            return self._lose_by_move(event, f"no move of {self.terms.game.name}: {error}", now)
        self._lag[player] = budget
        return self._accept(event, position, spent - credited, credited, now)

    def _accept(self, event: Moved, position: object, spent: int, credited: int, now: int) -> list[Effect]:
        game, player = self.terms.game, event.player
        self._come_to(position)
        self._clock = self._clock.spend(player, spent)
        self.turn_since = None
        ms, credited_ms = round(spent / MS, 3), round(credited / MS, 3) if credited else 0.0
        self.moves.append(RecordedMove(event.move, ms, event.thinking, credited_ms))
        self._movers.append(player)
        self._played.append(event.move)
        accepted = Accepted(self.terms.match, event.ply, ms, self._clock.left(player) // MS, credited_ms)
        self._accepted.append(accepted)
        self.revision += 1
        effects: list[Effect] = [Tell(player, accepted)]
        outcome = game.outcome(position)
        if outcome is not None:
            reason = EndReason.of(outcome.word)
            return effects + self._finish(outcome.winner, reason, reason.meaning, now)
        verdict = self._adjudicator.verdict(position, self.moves)
        if verdict is not None:
            return effects + self._finish(verdict.winner, EndReason.ADJUDICATED, verdict.detail, now)
        effects.append(self._turn(0))
        return effects

    def _repeat(self, event: Moved, now: int) -> list[Effect]:
        played = self.moves[event.ply].move
        if self._movers[event.ply] is event.player and played == event.move:
            return [Tell(event.player, self._accepted[event.ply])]
        detail = f"ply {event.ply} was played already, with {played!r}; the match is at ply {self.ply}"
        return self._reject(event.player, Code.STALE_PLY, detail, event.ply, now)

    def _reject(self, player: Player, code: Code, detail: str, ply: int, now: int) -> list[Effect]:
        self._faults[player] += 1
        self.revision += 1
        if self._faults[player] <= MAX_FAULTS:
            return [Tell(player, Error(code, detail, self.terms.match, ply))]
        code = Code.TOO_MANY_FAULTS
        detail = f"more than {MAX_FAULTS} rejected messages, the last: {detail}"
        told = Tell(player, Error(code, detail, self.terms.match, ply))
        text = f"{self._who(player)} sent {detail}"
        return [told, *self._finish(player.opponent, EndReason.PROTOCOL_ERROR, text, now)]

    def _lose_by_move(self, event: Moved, why: str, now: int) -> list[Effect]:
        where = self.terms.game.position_to_text(self.position)
        told = Tell(
            event.player, Error(Code.ILLEGAL_MOVE, f"{why}; position: {where}", self.terms.match, event.ply)
        )
        detail = f"{self._who(event.player)}, ply {event.ply}: {why}"
        return [told, *self._finish(event.player.opponent, EndReason.ILLEGAL_MOVE, detail, now)]

    def _give_up(self, event: Resigned, now: int) -> list[Effect]:
        crashed = event.reason == "crash"
        text = f"{self._who(event.player)} {'crashed' if crashed else 'resigned'}{event.why()}"
        reason = EndReason.CRASH if crashed else EndReason.RESIGNATION
        return self._finish(event.player.opponent, reason, text, now)

    # coming and going

    def _leave(self, player: Player, now: int) -> list[Effect]:
        if player not in self._left_at:
            self._left_at[player] = now
            self.revision += 1
        return []

    def _return(self, player: Player, now: int) -> list[Effect]:
        self.readiness.come_back(player, now)
        if self._left_at.pop(player, None) is not None:
            self.revision += 1
        if not self.readiness.asked:
            return []
        effects: list[Effect] = [Tell(player, self._start_message(player))]
        if self._playing and player is self.mover:
            running = now - self.turn_since if self.turn_since is not None else 0
            effects.append(self._turn(running))
        return effects

    def _replace(self, player: Player, now: int) -> list[Effect]:
        if self._playing:
            detail = f"{self._who(player)} came back without its session, so it has lost what it was playing"
            return self._finish(player.opponent, EndReason.DISCONNECT, detail, now)
        self.readiness.forget(player)
        self.revision += 1
        return self._return(player, now)

    def _go_on(self, now: int) -> list[Effect]:
        """Everybody is away, and the turn that was interrupted begins anew when its mover is back."""
        self.readiness.go_on(now)
        self.turn_since = None
        self._left_at = dict.fromkeys(Player, now)
        self.revision += 1
        return []

    # deadlines

    def _deadlines(self) -> list[tuple[int, Player | None]]:
        """Each deadline that can fall, with the player who misses it (None: whoever is not ready)."""
        ready_by = self.readiness.deadline
        if self.over or ready_by is None:
            return []
        if not self._playing:
            return [(ready_by, None)]
        grace = self.terms.grace_ms * MS
        deadlines: list[tuple[int, Player | None]] = [(at + grace, who) for who, at in self._left_at.items()]
        if self.turn_since is not None:
            deadlines.append((self._flag_falls(self.turn_since), self.mover))
        return deadlines

    def _flag_falls(self, since: int) -> int:
        credit = min(self._lag[self.mover].left, self._turn_lag) if self._turn_lag else 0
        return since + self._clock.allowed(self.mover) + credit

    def _judge_deadline(self, server_late: int, now: int) -> list[Effect]:
        fallen = sorted((item for item in self._deadlines() if item[0] <= now), key=lambda item: item[0])
        if not fallen:
            return []
        player = fallen[0][1]
        if player is None:
            return self._judge_no_show(now)
        if {who for _, who in fallen} == set(Player) == set(self._left_at):
            return self._finish(
                None, EndReason.DISCONNECT, "both lost their connections and stayed away", now
            )
        if player in self._left_at:
            away = (now - self._left_at[player]) / MS
            detail = f"{self._who(player)} lost its connection and was away for {away:.0f} ms"
            return self._finish(player.opponent, EndReason.DISCONNECT, detail, now)
        if server_late > max(LATE_LIMIT, self._clock.margin):
            detail = f"a flag fell, but the server was held up for {server_late / MS:.0f} ms during the turn"
            return self._finish(None, EndReason.SERVER_FAULT, detail, now)
        return self._flag(player, "no move came", now)

    def _judge_no_show(self, now: int) -> list[Effect]:
        missing = self.readiness.missing
        winner = missing[0].opponent if len(missing) == 1 else None
        names = " and ".join(self._who(player) for player in missing)
        detail = f"{names} not ready within {self.terms.ready_ms} ms"
        return self._finish(winner, EndReason.NO_SHOW, detail, now)

    def _flag(self, player: Player, how: str, now: int) -> list[Effect]:
        left, margin = self._clock.left(player) / MS, self.terms.margin_ms
        detail = f"{self._who(player)}, ply {self.ply}, had {left:.1f} ms and a margin of {margin} ms: {how}"
        return self._finish(player.opponent, EndReason.TIMEOUT, detail, now)

    def _finish(self, winner: Player | None, reason: EndReason, detail: str, now: int) -> list[Effect]:
        clocks = self.clocks(now)
        self.result = Finish(winner, reason, detail)
        self.revision += 1
        seat = SEATS[winner] if winner else None
        end = End(self.terms.match, seat, reason, detail, self._played.so_far(), clocks)
        return [*(Tell(player, end) for player in Player), self.result]

    # messages

    def _who(self, player: Player) -> str:
        name = self.terms.players.maxie if player is MAXIE else self.terms.players.minnie
        return f"{player} ({name})"

    def _start_message(self, player: Player) -> ServerMessage:
        terms = self.terms
        return Start(
            match=terms.match,
            game=terms.game.name,
            setup=terms.game.setup(),
            seat=SEATS[player],
            players=terms.players,
            time_control=terms.control(SEATS[player]),
            margin_ms=terms.margin_ms,
            ready_ms=terms.ready_ms,
            threads=terms.threads(SEATS[player]),
            rules=KNOWN.rules(terms.game) or UNSET,
        )

    @property
    def mover_now(self) -> Player | None:
        """Whose turn it is; None before the match is played and after."""
        return self.mover if self._playing and not self.over else None

    def clocks(self, now: int) -> Clocks:
        """Both clocks as of `now`."""
        return self._clock.seen(self.mover_now, now - self.turn_since if self.turn_since is not None else 0)

    def _turn(self, running: int) -> Tell:
        clocks = self._clock.seen(self.mover, running)
        own, so_far = self._clock.control_of(self.mover), self._played.so_far()
        return Tell(self.mover, Turn(self.terms.match, len(self.moves), so_far, clocks, own.increment_ms))
