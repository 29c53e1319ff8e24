"""The lobby: clients, bots, and the effects of the input that is being handled."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import UNSET

from arena.games.catalogue import KNOWN
from arena.match.clock import MS
from arena.protocol.codes import Code
from arena.protocol.messages import ServerMessage, Welcome
from arena.protocol.values import Limits
from arena.server.core.bot import Bot, secret_hash
from arena.server.core.deadlines import Deadlines
from arena.server.core.effects import Close, Effect, ForgetSession, KeepSession, Send
from arena.server.core.inputs import Enter, edge_of
from arena.server.core.settings import Settings

STOPPING = "the server stops, and begins no new matches"
"""Reason for which a draining core refuses a match."""


class Refused(Exception):
    """Something that a client asked for is refused. `code` and `detail` go back to the client."""

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def no_such_match(match: str) -> Refused:
    """Return the refusal of what a bot says about a match that it does not play."""
    return Refused(Code.NO_SUCH_MATCH, f"{match!r:.70} is over, or not yours, or does not exist")


class Followers:
    """Clients that follow one topic, counted by edge."""

    def __init__(self) -> None:
        self.edges: tuple[int, ...] = ()
        """Edges with a follower, to each of which one copy goes."""
        self._count: dict[int, int] = {}

    def add(self, client: int) -> None:
        """Count a client that begins to follow."""
        edge = edge_of(client)
        self._count[edge] = self._count.get(edge, 0) + 1
        self.edges = tuple(self._count)

    def remove(self, client: int) -> None:
        """Count a client off that followed."""
        edge = edge_of(client)
        self._count[edge] -= 1
        if not self._count[edge]:
            del self._count[edge]
            self.edges = tuple(self._count)


@dataclass(eq=False, slots=True)
class Client:
    """A connection. `bot` is None for a spectator."""

    id: int
    name: str
    bot: Bot | None
    watching: dict[str, Followers] = field(default_factory=dict)
    """Followers of the matches that it watches, by match."""


class Lobby:
    """State that all parts of the core share. `now` and `effects` are those of the input that is being handled."""

    def __init__(self, settings: Settings, now: int) -> None:
        self.settings = settings
        self.now = now
        self.effects: list[Effect] = []
        self.deadlines = Deadlines()
        self.clients: dict[int, Client] = {}
        self.bots: dict[str, Bot] = {}
        self.draining = False
        self.changes = 0
        """Count of all changes that a listing may show or the matchmaker may act on."""
        self._stirred: dict[str, Bot] = {}
        """Bots that changed since the matchmaker last looked at them."""

    def begin(self, now: int) -> list[Effect]:
        """Begin with the effects of an input at `now`, and return them for what is to come."""
        self.now = now
        self.effects = []
        return self.effects

    def bot(self, name: str) -> Bot:
        """Return the bot of that name, new where it is unknown."""
        bot = self.bots.get(name)
        if bot is None:
            bot = self.bots[name] = Bot(name)
        return bot

    def connected(self) -> list[Bot]:
        """Return the connected bots, in the order in which their names first came."""
        return [bot for bot in self.bots.values() if bot.client is not None]

    def send(self, bot: Bot | None, message: ServerMessage) -> None:
        """Send a message to a bot, if it is known and connected."""
        if bot is not None and bot.client is not None:
            self.effects.append(Send(bot.client, message))

    def stir(self, bot: Bot | None = None) -> None:
        """Note that something has changed, about that bot if one is given."""
        self.changes += 1
        if bot is not None:
            self._stirred[bot.name] = bot

    @property
    def is_stirred(self) -> bool:
        """True if a bot has changed since `take_stirred`."""
        return bool(self._stirred)

    def take_stirred(self) -> list[Bot]:
        """Return the bots that have changed since the last call."""
        stirred, self._stirred = self._stirred, {}
        return list(stirred.values())

    def drain(self) -> None:
        """Begin no new match from now on."""
        self.draining = True

    def reconfigure(self, settings: Settings) -> None:
        """Go by other settings from now on."""
        self.settings = settings
        for bot in self.connected():
            self.stir(bot)

    def weight(self, *bots: Bot) -> int:
        """Return the places that a match of these bots takes on the server's own machine: one bot thinks at a time."""
        local = [bot for bot in bots if bot.local]
        if not self.settings.by_threads:
            return min(1, len(local))
        return max(((bot.engine.threads if bot.engine else None) or 1 for bot in local), default=0)

    # coming

    def check(self, enter: Enter) -> bool:
        """Return True if a client returns to its session. Raises Refused."""
        hello, role = enter.hello, enter.role
        if role != hello.role:
            if hello.role != "bot":
                detail = f"the token of {hello.name!r} is for a {role}, not for a {hello.role}"
                raise Refused(Code.BAD_TOKEN, detail)
            detail = f"the token of {hello.name!r} is for a {role}, which does not play"
            raise Refused(Code.NOT_A_PLAYER, detail)
        if role != "bot":
            return False
        differ = KNOWN.disagreement(hello.rules) if hello.rules is not UNSET else None
        if differ is not None:
            raise Refused(Code.OTHER_RULES, differ)
        bot = self.bots.get(hello.name)
        if (bot or Bot(hello.name)).returns(hello.session, enter.known):
            return True
        if bot is not None and bot.client is not None:
            raise Refused(Code.NAME_TAKEN, f"a bot called {hello.name!r} is connected already")
        return False

    def add_spectator(self, enter: Enter) -> None:
        """Let a client in that only watches."""
        self.clients[enter.client] = Client(enter.client, enter.hello.name, None)

    def add_bot(self, enter: Enter, *, returns: bool) -> Bot:
        """Let a checked bot in. A connection that it had is closed."""
        bot = self.bot(enter.hello.name)
        if bot.client is not None:
            self.effects.append(Close(bot.client, Code.REPLACED, Code.REPLACED.meaning))
            self.drop_client(bot.client)
        if returns:
            bot.restore_session(secret_hash(enter.hello.session), self.now)
        else:
            bot.open_session(enter.secret)
            self.effects.append(KeepSession(bot.name, bot.session))
        bot.introduce(enter, self.settings.matches_per_bot)
        self.clients[enter.client] = Client(enter.client, bot.name, bot)
        self.stir(bot)
        return bot

    def welcome(self, client: Client, session: str) -> None:
        """Send a client its welcome."""
        matches = 0 if client.bot is None else client.bot.capacity
        limits = Limits(self.settings.message_bytes, matches, self.settings.grace_ms)
        self.effects.append(Send(client.id, Welcome(self.settings.program, client.name, session, limits)))

    # going

    def drop_client(self, client: int) -> Client | None:
        """Forget a connection that is over. Return None where it is forgotten already, as one that was replaced."""
        gone = self.clients.pop(client, None)
        if gone is not None:
            for followers in gone.watching.values():
                followers.remove(client)
        return gone

    def lose(self, bot: Bot) -> None:
        """Note that a bot's connection is over. It may return within the grace."""
        bot.leave(self.now)
        self.stir(bot)
        self.expire(bot)

    def expire(self, bot: Bot) -> None:
        """Forget a bot whose grace is over and that plays nothing; or see to it that this is looked at in time."""
        if bot.client is not None or bot.matches or self.bots.get(bot.name) is not bot:
            return
        until = bot.away_since + self.settings.grace_ms * MS if bot.session else self.now
        if self.now < until:
            self.deadlines.follow(("bot", bot.name), until)
            return
        del self.bots[bot.name]
        self.deadlines.drop(("bot", bot.name))
        if bot.session:
            self.effects.append(ForgetSession(bot.name))
