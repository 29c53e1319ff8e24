"""The client's state machine: what the server says goes in, what is to be done comes out.

It does no I/O and reads no clock; `bots.client.client` drives it. Times are seconds on the scale of
`time.monotonic()`. It believes the server on everything but its own matches: a message about a match
that it does not know is reported and changes nothing.

A match goes through these phases; `end` leads out of each::

    PREPARING -- prepared --> WAITING -- turn --> CHOOSING -- chose --> WAITING ...
         any -- the bot failed --> RESIGNED

After a lost connection the server sends `start` and the open `turn` again, and the machine gives
again the answer that it has already, whatever of it arrived the first time.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, structs

from arena.bots.api.match import Ending, Match
from arena.bots.api.thinking import Thinking
from arena.bots.client.state.actions import (
    Action,
    Again,
    Choose,
    Complain,
    Finish,
    Leave,
    Prepare,
    Send,
    Stand,
    Stop,
)
from arena.bots.client.state.challenging import Challenging
from arena.bots.client.state.match_state import MatchState, Phase
from arena.bots.client.state.moves import BadChoice, move_message
from arena.games.catalogue import differing_rules, make_game
from arena.games.core import BadGame, GameError, Player
from arena.protocol.codes import Code
from arena.protocol.messages import (
    Accept,
    Accepted,
    Challenge,
    Challenged,
    ChallengeOver,
    End,
    Error,
    Hello,
    Queued,
    Ready,
    Resign,
    ServerMessage,
    Standing,
    Start,
    Status,
    Turn,
    Welcome,
)

CHALLENGE_CODES = frozenset({Code.BAD_CHALLENGE, Code.RATE_LIMITED, Code.SHUTTING_DOWN})
"""With these a server refuses a challenge."""
LONGEST_WHY = 200
"""Characters of why a match is given up that a message carries."""


class Machine:
    """The state of one client: its session and its matches."""

    def __init__(self, hello: Hello, challenge: Challenge | None = None) -> None:
        """`challenge`: what the client asks for by itself, whenever it has room for a match."""
        self._hello = hello
        self._challenging = Challenging(challenge)
        self._quota = None if hello.quota is UNSET else hello.quota
        """How many more matches are taken; None for as many as come."""
        self._settled = True
        """False from when no more matches are wanted until the server has said that none come."""
        self._ever_welcomed = False
        self._matches: dict[str, MatchState] = {}
        self._asked: list[str] = []  # challenges that wait until there is room for a match
        self.welcomed = False
        """True while the present connection is past its handshake."""
        self.grace = 0.0
        """How long the server waits for a client that is away, in seconds; 0 before the first welcome."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to be played: no more matches are taken, and none that was begun is in play."""
        return self._quota == 0 and self._settled and not self._matches

    def finish(self) -> list[Action]:
        """Take no more matches; those in play are played to their ends."""
        if self._quota == 0:
            return []
        self._quota, self._settled = 0, not self._ever_welcomed
        self._hello = structs.replace(self._hello, quota=0)
        self._asked.clear()
        return [Send(Status(quota=0))]

    def resign_all(self) -> list[Action]:
        """Give up every match in play."""
        actions: list[Action] = []
        for match, state in self._matches.items():
            if state.phase is not Phase.RESIGNED:
                if state.phase is Phase.CHOOSING:
                    actions.append(Stop(match))
                state.phase = Phase.RESIGNED
                actions.append(Send(state.resign))
        return actions

    @property
    def playing(self) -> int:
        """How many matches are not over."""
        return len(self._matches)

    def opened(self) -> list[Action]:
        """A connection is there, the first or a new one."""
        self.welcomed = False
        self._asked.clear()  # what is still open is told again
        self._challenging.forget()
        return [Send(self._hello)]

    def lost(self) -> None:
        """The connection is gone. The bots think on: the session may come back in time."""
        self.welcomed = False
        for state in self._matches.values():
            state.renewed = False

    def received(self, message: ServerMessage, now: float) -> list[Action]:
        """The server has said `message`, which arrived at `now`."""
        match message:
            case Welcome():
                return self._welcome(message)
            case Start():
                return self._start(message)
            case Error():
                return self._error(message)
            case Turn() | Accepted() | End():
                return self._played(message, now)
            case Standing():
                return self._standing(message)
            case Challenged(challenge=challenge, opponent=opponent):
                if message.challenger == self._hello.name:
                    self._challenging.opened(message)
                    return []
                if opponent == self._hello.name and challenge not in self._asked:
                    self._asked.append(challenge)
                return self._take_challenge()
            case ChallengeOver():
                return self._challenge_over(message)
            case Queued(place=place):
                return [Stand("queued", f"the challenge waits for its turn: place {place}")]
            case _:
                return []  # listings, views and open challenges are for who asks for them

    def challenge(self) -> list[Action]:
        """Open the challenges that there is room for, where the client is to challenge somebody."""
        room = self._hello.matches - len(self._matches)
        room = room if self._quota is None else min(room, self._quota)
        ask = self._challenging.ask
        if ask is None or not self.welcomed:
            return []
        actions: list[Action] = []
        for _ in range(self._challenging.wants(room)):
            self._challenging.sent()
            actions.append(Send(ask))
        return actions

    def _challenge_over(self, over: ChallengeOver) -> list[Action]:
        if over.challenge in self._asked:
            self._asked.remove(over.challenge)
        if not self._challenging.over(over):
            return []
        return [Again(f"the challenge is {over.outcome}{f': {over.detail}' if over.detail else ''}")]

    def _standing(self, standing: Standing) -> list[Action]:
        if self._quota == 0 and standing.quota == 0:
            self._settled = True
        return [Stand(standing.state, standing.detail)]

    def _take_challenge(self) -> list[Action]:
        """Accept the oldest challenge to this bot, if there is room for a match."""
        if self._quota == 0 or not self._asked or len(self._matches) >= self._hello.matches:
            return []
        return [Send(Accept(self._asked.pop(0)))]

    def _played(self, message: Turn | Accepted | End, now: float) -> list[Action]:
        state = self._matches.get(message.match)
        if state is None:
            # An end or a receipt for a match that was given up needs no word; a turn runs down a clock.
            known = not isinstance(message, Turn)
            return (
                [] if known else [Complain(f"a turn came in match {message.match}, which is not played here")]
            )
        state.renewed = True
        match message:
            case Turn():
                return self._turn(state, message, now)
            case Accepted():
                return self._accepted(state, message)
            case End():
                return self._end(state, message)

    def prepared(self, match: str) -> list[Action]:
        """The bot of a match has prepared."""
        state = self._matches.get(match)
        if state is None or state.phase is not Phase.PREPARING:
            return []
        state.phase = Phase.WAITING
        actions: list[Action] = [Send(Ready(match))]
        if state.early is not None:
            (turn, arrived), state.early = state.early, None
            actions += self._turn(state, turn, arrived)
        return actions

    def chose(self, match: str, ply: int, move: Any, thinking: Thinking | None, now: float) -> list[Action]:
        """The bot of a match has chosen. What nobody waits for any more is dropped."""
        state = self._matches.get(match)
        if state is None or state.phase is not Phase.CHOOSING or ply != len(state.moves):
            return []
        try:
            answer, warnings = move_message(state.match, ply, state.position, move, thinking)
        except BadChoice as bad:
            return self.failed(match, str(bad))
        state.phase = Phase.WAITING
        state.answer = answer
        state.answered_at = now
        return [Send(answer), *(Complain(f"match {match}: {warning}") for warning in warnings)]

    def failed(self, match: str, why: str, *, crash: bool = True) -> list[Action]:
        """The bot of a match cannot go on; `crash` is False where it chose to resign."""
        state = self._matches.get(match)
        if state is None or state.phase is Phase.RESIGNED:
            return []
        state.phase = Phase.RESIGNED
        state.resign = Resign(match, "crash" if crash else "resignation", why[:LONGEST_WHY])
        how = "lost by a crash" if crash else "resigned"
        return [Complain(f"match {match}: {why}; the match is {how}"), Send(state.resign)]

    def _welcome(self, welcome: Welcome) -> list[Action]:
        self.welcomed = self._ever_welcomed = True
        self.grace = welcome.limits.grace_ms / 1000
        self._hello = structs.replace(self._hello, session=welcome.session)
        # Matches may have ended while nobody was here to be told, also with a session that is forgotten. To say
        # again that one is ready does no harm, and the end of a match that is over is told again for it.
        back: list[Action] = [
            Send(Ready(match)) for match, state in self._matches.items() if state.phase is not Phase.PREPARING
        ]
        # What was given before the server heard that it is to be the last may still be on its way.
        asked = [] if self._settled else [Send(Status(quota=0))]
        return [*back, *asked, *self.challenge()]

    def _over(self, state: MatchState, ending: Ending) -> list[Action]:
        del self._matches[state.match.id]
        stop: list[Action] = [Stop(state.match.id)] if state.phase is Phase.CHOOSING else []
        return [*stop, Finish(state.match, ending), *self._take_challenge(), *self.challenge()]

    def _start(self, start: Start) -> list[Action]:
        self._challenging.started(start.match)
        state = self._matches.get(start.match)
        if state is not None:
            state.renewed = True
            match state.phase:
                case Phase.PREPARING:
                    return []
                case Phase.RESIGNED:
                    return [Send(state.resign)]
                case _:
                    return [Send(Ready(start.match))]
        # A match of which the server has not spoken since the connection came back may be over.
        if sum(each.renewed for each in self._matches.values()) >= self._hello.matches:
            why = f"match {start.match} is more than the {self._hello.matches} at once that were agreed"
            return [Complain(f"{why}; it is resigned"), Send(Resign(start.match))]
        try:
            game = make_game(start.game, start.setup)
            differ = differing_rules(game, start.rules) if start.rules is not UNSET else None
            if differ is not None:
                raise BadGame(differ)
        except GameError as error:
            why = f"match {start.match} cannot be played here: {error}"
            return [Complain(f"{why}; it is resigned"), Send(Resign(start.match))]
        match_ = Match(
            game=game,
            seat=Player(start.seat),
            id=start.match,
            maxie=start.players.maxie,
            minnie=start.players.minnie,
            time_control=start.time_control,
            margin_ms=start.margin_ms,
            threads=start.threads,
        )
        self._matches[start.match] = MatchState(match_, game.start(), Resign(start.match))
        return [Prepare(match_), *self._count()]

    def _count(self) -> list[Action]:
        """Count a match that begins; when it is the last, the server is asked whether it counts so too."""
        if not self._quota:
            return []
        self._quota -= 1
        self._hello = structs.replace(self._hello, quota=self._quota)
        if self._quota:
            return []
        self._settled = False
        return [Send(Status(quota=0))]

    def _turn(self, state: MatchState, turn: Turn, arrived: float) -> list[Action]:
        if state.phase is Phase.PREPARING:
            state.early = (turn, arrived)
            return []
        if state.phase is Phase.RESIGNED:
            return [Send(state.resign)]
        if state.answer is not None and state.answer.ply == turn.ply:
            return [Send(state.answer)]
        if turn.ply < len(state.moves) or (state.phase is Phase.CHOOSING and turn.ply == len(state.moves)):
            return []
        stop: list[Action] = [Stop(turn.match)] if state.phase is Phase.CHOOSING else []
        try:
            state.catch_up(turn.moves)
        except GameError as error:
            return [*stop, *self.failed(turn.match, f"the server's moves do not fit the rules: {error}")]
        game, position = state.match.game, state.position
        ours = game.outcome(position) is None and game.player(position) is state.match.seat
        if turn.ply != len(turn.moves) or not ours:
            why = f"a turn at ply {turn.ply} after {len(turn.moves)} moves makes no sense"
            return [*stop, *self.failed(turn.match, why)]
        state.phase = Phase.CHOOSING
        state.clock = state.clock_at(turn, arrived)
        return [*stop, Choose(turn.match, turn.ply, state.position, state.clock, state.last_move)]

    def _accepted(self, state: MatchState, accepted: Accepted) -> list[Action]:
        state.accepted(accepted)
        return []

    def _end(self, state: MatchState, end: End) -> list[Action]:
        try:
            state.catch_up(end.moves)
        except GameError as error:
            note: list[Action] = [
                Complain(f"match {end.match}: the last moves do not fit the rules: {error}")
            ]
        else:
            note = []
        winner = Player(end.winner) if end.winner else None
        ending = Ending(winner, end.reason, end.detail, len(end.moves), state.position)
        return [*note, *self._over(state, ending)]

    def _error(self, error: Error) -> list[Action]:
        if error.fatal:
            return [Leave(error.code, error.detail)]
        if error.code is Code.NO_SUCH_MATCH:
            state = self._matches.get(error.match or "")
            if state is None or error.ply is not None:
                # The answer to what crossed with the match's end; that of a move that was late for one which ended
                # while the client was away comes before the answer to `ready`, which has the end.
                return []
            ending = Ending(None, None, error.detail, len(state.moves), state.position)
            return self._over(state, ending)
        if error.code is Code.UNKNOWN_TYPE:
            self._settled = True  # an older server, which cannot be told that no more matches are taken
            return []
        if error.code in CHALLENGE_CODES and error.match is None and self._challenging.refused():
            return [Again(f"the challenge is refused: {error.detail}")]
        where = f"match {error.match}: " if error.match else ""
        ply = f" at ply {error.ply}" if error.ply is not None else ""
        return [Complain(f"{where}the server says {error.code.value}{ply}: {error.detail}")]
