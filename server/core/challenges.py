"""Challenges as bots make, answer and lose them."""

from __future__ import annotations

from collections.abc import Callable

from arena.games.core import AnyGame, GameError
from arena.maps.loader import MapError, size_of
from arena.maps.setup import make_setup
from arena.match.clock import MS
from arena.match.terms import Terms
from arena.protocol.codes import Code
from arena.protocol.messages import (
    Accept,
    Challenge,
    ChallengeOutcome,
    ChallengeOver,
    Decline,
    Withdraw,
)
from arena.protocol.values import Players
from arena.server.core.bot import Bot
from arena.server.core.draws import Draws
from arena.server.core.house import WAIT_MS, House
from arena.server.core.lobby import STOPPING, Lobby, Refused
from arena.server.core.open_challenges import OpenChallenge, OpenChallenges
from arena.server.core.pairing import PairingHistory
from arena.server.core.settings import OPEN_EVENT

MARGIN_MS = 100
"""Margin of matches that come about by challenge."""
READY_MS = 30_000
"""Time to get ready for a challenge's match: a compiled engine may have to compile first."""


def game_of(asked: Challenge, most_territories: int) -> AnyGame:
    """Return the game that a challenge names. Raises Refused."""
    # A path as the name of a map is for the host's own command line alone.
    if asked.game == "riskless" and (asked.map.endswith(".toml") or "/" in asked.map or "\\" in asked.map):
        raise Refused(Code.BAD_CHALLENGE, "a map is named, as in m2, world or grid:5x5")
    try:
        size = size_of(asked.map) if asked.game == "riskless" else None
        if size is not None and size > most_territories:
            detail = f"{asked.map:.40} has {size} territories, and this server makes maps of up to {most_territories}"
            raise Refused(Code.BAD_CHALLENGE, detail)
        return make_setup(asked.game, asked.map)
    except (GameError, MapError) as error:
        raise Refused(Code.BAD_CHALLENGE, str(error)) from None


class Challenges:
    """The messages about challenges of one arena."""

    def __init__(
        self,
        lobby: Lobby,
        table: OpenChallenges,
        house: House,
        history: PairingHistory,
        draws: Draws,
        open_match: Callable[[Terms], None],
    ) -> None:
        """`open_match` begins the match of a challenge that is accepted."""
        self._lobby = lobby
        self._table = table
        self._house = house
        self._history = history
        self._draws = draws
        self._open_match = open_match

    def handle(self, bot: Bot, message: Challenge | Accept | Decline | Withdraw) -> None:
        """Follow a message of a bot's about a challenge. Raises Refused."""
        match message:
            case Challenge():
                self._open(bot, message)
            case Accept(id):
                self._accept(bot, id)
            case Decline(id, reason):
                self._over(self._table.decline(bot.name, id), "declined", reason)
            case Withdraw(id):
                self._over(self._table.withdraw(bot.name, id), "withdrawn")
        self._lobby.stir()

    def came(self, bot: Bot) -> None:
        """Tell a bot that has connected who challenges it. A house engine is told when it is a challenge's turn."""
        if bot.name in self._house:
            return
        for challenge in self._table.asked(bot.name):
            self._lobby.send(bot, challenge.message(self._lobby.now))
            bot.ask(self._lobby.now)

    def left(self, bot: Bot) -> None:
        """Close the challenges of a bot whose connection is over. Those to a house engine wait for it."""
        self._house.left(bot.name)
        for challenge in self._table.of_bot(bot.name):
            if challenge.challenger == bot.name or bot.name not in self._house:
                self._over(self._table.close(challenge.id), "withdrawn", f"{bot.name} has left")

    def withdraw_all(self, name: str, why: str) -> None:
        """Close the challenges that a bot opened or was asked."""
        for challenge in self._table.of_bot(name):
            self._over(self._table.close(challenge.id), "withdrawn", why)

    def expire(self, id: str) -> None:
        """Close a challenge if its time is up."""
        challenge = self._table.find(id)
        if challenge is None:
            return
        if self._lobby.now >= challenge.expires:
            self._over(self._table.close(id), "expired")
        else:
            self._lobby.deadlines.follow(("challenge", id), challenge.expires)

    def _open(self, bot: Bot, asked: Challenge) -> None:
        lobby, settings = self._lobby, self._lobby.settings
        if lobby.draining:
            raise Refused(Code.SHUTTING_DOWN, STOPPING)
        self._table.check(bot.name, asked, settings.open_challenges)
        if bot.guest:
            self._house.check_guest(bot, asked)
        target = lobby.bots.get(asked.opponent)
        if target is not None and target.client is None:
            target = None
        in_house = asked.opponent in self._house
        if asked.opponent and target is None and not in_house:
            raise Refused(Code.BAD_CHALLENGE, f"no bot called {asked.opponent!r:.70} is connected")
        game = game_of(asked, settings.territories)
        if target is not None:
            self._check_target(target, asked, game)
        expires = lobby.now + (WAIT_MS if in_house else settings.challenge_ms) * MS
        made = self._table.add(bot.name, asked, game, expires)
        lobby.deadlines.follow(("challenge", made.id), expires)
        lobby.send(bot, made.message(lobby.now))
        if in_house:
            self._queue(made, bot)
        elif target is not None:
            lobby.send(target, made.message(lobby.now))
            if target.free:
                target.ask(lobby.now)
                lobby.stir(target)

    @staticmethod
    def _check_target(target: Bot, asked: Challenge, game: AnyGame) -> None:
        why = target.preferences.refusal(game, asked.time_control)
        if why is not None:
            raise Refused(Code.BAD_CHALLENGE, f"{asked.opponent} does not play this: {why}")
        if target.quota == 0:
            raise Refused(Code.BAD_CHALLENGE, f"{asked.opponent} takes no more matches")

    def _queue(self, made: OpenChallenge, bot: Bot) -> None:
        refused = self._house.enter(made, bot)
        if refused is not None:
            why = "too many wait for the server's own bots: try again later"
            self._over(self._table.close(refused), "refused", why)
        self._house.look()

    def _accept(self, bot: Bot, id: str) -> None:
        if bot.guest:
            raise Refused(Code.BAD_CHALLENGE, "a guest takes no challenges; ask the host for a token")
        if self._lobby.draining:
            raise Refused(Code.SHUTTING_DOWN, STOPPING)
        taken = self._table.take(bot.name, id)
        challenger = self._lobby.bots[taken.challenger]  # connected: its challenges go with it
        busy = next((each for each in (challenger, bot) if not each.free), None)
        if busy is not None:
            self._over(taken, "refused", f"{busy.name} plays as many matches as it takes", also=bot.name)
            return
        terms = self._terms(taken, challenger, bot)
        self._house.begin(taken.id, terms.match)
        self._over(taken, "accepted", match=terms.match, also=bot.name)
        self._open_match(terms)

    def _terms(self, taken: OpenChallenge, challenger: Bot, bot: Bot) -> Terms:
        match taken.asked.seat:
            case "maxie":
                seats = challenger.name, bot.name
            case "minnie":
                seats = bot.name, challenger.name
            case None:
                seats = self._history.seats(challenger.name, bot.name)
        return Terms(
            match=self._draws.hex(),
            event=OPEN_EVENT,
            game=taken.game,
            players=Players(*seats),
            time_control=taken.asked.time_control,
            margin_ms=MARGIN_MS,
            ready_ms=READY_MS,
            adjudication=self._lobby.settings.adjudication,
            rated=taken.asked.rated,
            total_ms=self._house.total_ms(taken, challenger),
        )

    def _over(
        self,
        closed: OpenChallenge,
        outcome: ChallengeOutcome,
        detail: str = "",
        *,
        match: str | None = None,
        also: str = "",
    ) -> None:
        """Tell the bots of a closed challenge how it went, and `also` the one that took it."""
        self._house.over(closed.id)
        self._lobby.deadlines.drop(("challenge", closed.id))
        over = ChallengeOver(closed.id, outcome, detail, match)
        for name in dict.fromkeys((closed.challenger, closed.asked.opponent, also)):
            self._lobby.send(self._lobby.bots.get(name), over)
        asked = self._lobby.bots.get(closed.asked.opponent)
        self._lobby.stir(asked)
