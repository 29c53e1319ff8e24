"""The lobby: who is connected, and who plays how much at once."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

import anyio

from protocol.codes import Code
from protocol.messages import Hello
from server.accounts import Accounts, Refused
from server.member import Member, Outlet


class Lobby:
    """The members of one server, by name."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        self._members: dict[str, Member] = {}
        self._changed = anyio.Event()

    def member(self, name: str) -> Member:
        """The member of that name, connected or not."""
        return self._members.setdefault(name, Member(name))

    def connected(self) -> list[Member]:
        """Who is here, in the order in which the names first came."""
        return [member for member in self._members.values() if member.outlet is not None]

    def players_of(self, game: str) -> list[Member]:
        """Who is here and plays the game."""
        return [member for member in self.connected() if not member.games or game in member.games]

    async def enter(self, hello: Hello, outlet: Outlet, address: str = "") -> tuple[Member, bool]:
        """Let a bot in from an address: the member, and whether it returns to its session. Raises Refused.

        With the session's secret the connection takes the place of the one before, dead or alive.
        Without it a name that is connected is taken.
        """
        role = await self.accounts.check(hello.name, hello.token, address)
        if role != "bot":
            raise Refused(
                Code.NOT_A_PLAYER, f"the token of {hello.name!r} is for a {role}, which does not play"
            )
        member = self._members.get(hello.name) or Member(hello.name)
        returns = bool(hello.session) and hmac.compare_digest(hello.session.encode(), member.secret.encode())
        if not returns:
            if member.outlet is not None:
                raise Refused(Code.NAME_TAKEN, f"a bot called {hello.name!r} is connected already")
            member.renew()
        self._members[hello.name] = member
        member.capacity = hello.matches
        member.games = frozenset(hello.games)
        member.connect(outlet)
        self.stir()
        return member, returns

    def leave(self, member: Member, outlet: Outlet) -> bool:
        """A connection has ended. False when another has taken its place already."""
        if member.outlet is not outlet:
            return False
        member.disconnect()
        self.forget(member)
        return True

    def forget(self, member: Member) -> None:
        """Drop a member who is away and plays nothing: names come from the network, so they must go."""
        if member.outlet is None and not member.matches:
            self._members.pop(member.name, None)

    async def wait_connected(self, name: str, seconds: float) -> bool:
        """Whether the bot is connected: True as soon as it is, False after `seconds`."""
        with anyio.move_on_after(seconds):
            while (found := self._members.get(name)) is None or found.outlet is None:
                await self._changed.wait()
            return True
        return False

    async def wait_change(self) -> None:
        """Wait until somebody comes or a match ends."""
        await self._changed.wait()

    def stir(self) -> None:
        """Wake whoever waits for a change."""
        self._changed.set()
        self._changed = anyio.Event()

    async def wait_free(self, names: Sequence[str]) -> None:
        """Wait until each of these, as far as it is connected, can take one match more."""
        while any(
            member.outlet is not None and len(member.matches) >= member.capacity
            for member in map(self.member, names)
        ):
            await self._changed.wait()
