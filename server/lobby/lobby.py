"""The lobby: who is connected, who may come in, and who is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio

from arena.protocol.codes import Code
from arena.protocol.messages import Hello, Present
from arena.server.lobby.accounts import Accounts, Refused
from arena.server.lobby.roster import HouseRoster
from arena.server.rooms.member import BotConnection, Member, is_secret, new_secret, secret_hash


class Lobby:
    """The members of one server, by name."""

    def __init__(
        self, accounts: Accounts, *, house: HouseRoster | None = None, most_matches: int = 1000
    ) -> None:
        """`most_matches` is how many matches one bot may play at once; without `house` there are no house bots."""
        self.accounts = accounts
        self.house = HouseRoster() if house is None else house
        """The server's own bots, which are listed whether or not they are connected."""
        self._most_matches = most_matches
        self._members: dict[str, Member] = {}
        self._entering: set[str] = set()
        self._stirred: dict[str, Member] = {}
        self._changed: anyio.Event | None = None
        """Set at the next change, for those who wait for one; None while nobody does, which is most of the time."""
        self.changes = 0
        """How often something has changed: whoever looks and then waits sees whether it missed a change."""

    def member(self, name: str) -> Member:
        """The member of that name, connected or not."""
        member = self._members.get(name)
        if member is None:
            member = self._members[name] = Member(name, on_change=self._note)
        return member

    def _note(self, member: Member) -> None:
        self._stirred[member.name] = member

    def stirred(self) -> list[Member]:
        """The members about whom something has changed since this was last asked; some may have left."""
        stirred, self._stirred = self._stirred, {}
        return list(stirred.values())

    def find(self, name: str) -> Member | None:
        """The member of that name, if it is known."""
        return self._members.get(name)

    def find_here(self, name: str) -> Member | None:
        """The member of that name, if it is connected to this server."""
        member = self.find(name)
        return member if member is not None and member.here else None

    def asks(self, name: str) -> int:
        """How many threads a bot says that it searches with in a match; 0 where it does not say, or is not known."""
        member = self.find(name)
        return (member.engine.threads if member is not None and member.engine is not None else None) or 0

    def restore(self, secrets: Mapping[str, bytes]) -> None:
        """Let the sessions from before the server went away return, by the hashes of their secrets."""
        for name, secret in secrets.items():
            self.member(name).remember(secret)

    def connected(self) -> list[Member]:
        """The members who are connected, in the order in which their names first came."""
        return [member for member in self._members.values() if member.connection is not None]

    def present(self) -> list[Present]:
        """Who can be challenged: the house bots, connected or not, then the others who are connected."""
        here = {member.name: member.present() for member in self.connected()}
        others = [each for name, each in here.items() if name not in self.house]
        return [*self.house.present(here), *others]

    def players_of(self, game: str) -> list[Member]:
        """The members who are connected and play the game."""
        return [each for each in self.connected() if not each.takes.games or game in each.takes.games]

    async def vet(self, hello: Hello, address: str = "", kept: bytes = b"") -> str | None:
        """Whether a hello may come in: its new session's secret, or None where it returns to its old one.

        kept: the hash of the session's secret of that name as the arena has it, where the bot may have been on another server

        With the session's secret the connection will take the place of the one before, dead or alive.
        Without it a name that is connected is taken. Raises Refused. What is vetted must `enter`, or
        `turn_away` frees the name again.
        """
        before = self.find(hello.name)
        returning = is_secret(hello.session, kept) or (before is not None and before.knows(hello.session))
        role = await self.accounts.check(hello.name, hello.token, address, returning=returning)
        if role != "bot":
            detail = f"the token of {hello.name!r} is for a {role}, which does not play"
            raise Refused(Code.NOT_A_PLAYER, detail)
        member = self.find(hello.name)
        if hello.name in self._entering:
            raise Refused(Code.NAME_TAKEN, f"a bot called {hello.name!r} is just coming in")
        if is_secret(hello.session, kept) or (member is not None and member.knows(hello.session)):
            secret = None
        elif member is not None and member.here:
            raise Refused(Code.NAME_TAKEN, f"a bot called {hello.name!r} is connected already")
        else:
            secret = new_secret()
        self._entering.add(hello.name)
        return secret

    def turn_away(self, hello: Hello) -> None:
        """Free the name of a vetted bot that does not come in after all."""
        self._entering.discard(hello.name)

    def enter(self, hello: Hello, connection: BotConnection, secret: str | None, address: str = "") -> Member:
        """Let a vetted bot in from an address, with its new session's secret if it gets one."""
        self._entering.discard(hello.name)
        member = self.member(hello.name)
        if secret is not None:
            member.remember(secret_hash(secret))
        elif not member.knows(hello.session):
            member.recall(secret_hash(hello.session))  # it comes from another server of the arena
        guest = self.accounts.lets_in_as_guest(hello.name, hello.token)
        member.introduce(hello, most_matches=self._most_matches, guest=guest, address=address)
        member.connect(connection)
        self.stir()
        return member

    def leave(self, member: Member, connection: BotConnection) -> bool:
        """Take note that a connection has ended. False when another has taken its place already."""
        if member.connection is not connection:
            return False
        member.disconnect()
        self.forget(member)
        self.stir()
        return True

    def forget(self, member: Member) -> None:
        """Drop a member who is away and plays nothing: names come from the network, so they must go."""
        # Who has come in again meanwhile is another member, and stays.
        if member.connection is None and not member.matches and self._members.get(member.name) is member:
            del self._members[member.name]

    async def wait_connected(self, name: str, seconds: float) -> bool:
        """Whether the bot is connected: True as soon as it is, False after `seconds`."""
        with anyio.move_on_after(seconds):
            while (found := self._members.get(name)) is None or found.connection is None:
                await self.wait_change()
            return True
        return False

    async def wait_change(self) -> None:
        """Wait until somebody comes or goes, or a match begins or ends."""
        if self._changed is None:
            self._changed = anyio.Event()
        await self._changed.wait()

    def stir(self) -> None:
        """Wake whoever waits for a change."""
        self.changes += 1
        changed, self._changed = self._changed, None
        if changed is not None:
            changed.set()

    async def wait_free(self, names: Sequence[str]) -> None:
        """Wait until each of these, as far as it is connected, can take one match more."""
        while any(
            (member := self.find(name)) is not None and member.connection is not None and not member.free
            for name in names
        ):
            await self.wait_change()
