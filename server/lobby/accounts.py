"""Who may use which name, by the tokens of the store and by those that a host hands out for as long as it runs."""

from __future__ import annotations

import hmac
import logging
from time import monotonic

from arena.protocol.codes import Code
from arena.protocol.values import Role
from arena.server.lobby.matchmaking.guests import is_guest
from arena.server.net.by_address.failed_logins import FailedLogins
from arena.server.net.by_address.misdeeds import Misdeeds
from arena.server.store import database, tokens
from arena.server.store.database import Engine

log = logging.getLogger("arena.accounts")


class Refused(Exception):
    """A hello that does not get in. `code` and the text go back to the client."""

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class Accounts:
    """Names, and the tokens that open them.

    With `anyone` a name that has no token is free for whoever comes first: for a private network. The
    store is asked anew each time, so what `arena token` changes holds from the next hello.
    """

    def __init__(
        self,
        *,
        anyone: bool,
        guests: bool = False,
        engine: Engine | None = None,
        failed_logins: FailedLogins | None = None,
        misdeeds: Misdeeds | None = None,
    ) -> None:
        """Know names by these means.

        anyone  a name that has no token needs none
        guests  a guest's name needs no token; what guests may do, `server.lobby.matchmaking.guests` says
        engine  the store that has the tokens; None for those that this object issues alone
        """
        self._anyone = anyone
        self._guests = guests
        self._engine = engine
        self._failed_logins = failed_logins or FailedLogins()
        self._misdeeds = misdeeds or Misdeeds(shared=False)
        self._issued: dict[str, str] = {}

    def issue(self, name: str) -> str:
        """A new token for a bot of this host's own, in place of its old one; it ends with the host."""
        token = tokens.new_token()
        self._issued[name] = tokens.hashed(token)
        return token

    def lets_in_as_guest(self, name: str, token: str) -> bool:
        """Whether somebody with this name and token, if let in at all, is let in as a guest."""
        return self._guests and not self._anyone and not token and is_guest(name)

    async def check(self, name: str, token: str, address: str = "", *, returning: bool = False) -> Role:
        """The role that the token opens the name in. Raises Refused.

        Wrong tokens count against `address`, and many close it; but not to a bot that is `returning` with the secret
        of its session, which would lose its matches by what others at its address do. While the store does not
        answer nobody is let in.
        """
        if not tokens.is_name(name):
            raise Refused(Code.BAD_NAME, Code.BAD_NAME.meaning)
        if not returning:
            self._check_address(address)
        try:
            known, role, why = await self._known(name)
        except Exception as error:
            complaint = database.complaint(error)
            if complaint is None:
                raise
            # The log gets one line and no stack, for everybody who tries meanwhile adds another.
            log.error("the store does not answer: %s", complaint, extra={"bot": name})  # noqa: TRY400
            raise Refused(Code.SERVER_FULL, "the store does not answer: try again") from None
        # While the store was asked, others at that address may have tried tokens: without this look, any
        # number of connections could each try one at the same time.
        if not returning:
            self._check_address(address)
        if known is None and not why:
            if (self._anyone and not token) or self.lets_in_as_guest(name, token):
                return "bot"
            hint = "leave the token empty here" if self._anyone else "ask the host for a token"
            why = f"no token is known for {name!r}: {hint}"
        elif known is not None and hmac.compare_digest(known, tokens.hashed(token)):
            return role
        if token:
            self._misdeeds.wrong(address)
            self.wrong_elsewhere(address)
        raise Refused(Code.BAD_TOKEN, why or f"this is not the token of {name!r}")

    def wrong_elsewhere(self, address: str) -> None:
        """Count a wrong token that came from an address, here or to another server of the arena."""
        self._failed_logins.wrong(address, monotonic())

    async def _known(self, name: str) -> tuple[str | None, Role, str]:
        """The hash for a name (None: there is none), its role, and why nothing opens it."""
        issued = self._issued.get(name)
        if issued is not None:
            return issued, "bot", ""
        kept = await tokens.find(self._engine, name) if self._engine is not None else None
        if kept is None:
            return None, "bot", ""
        if kept.revoked is not None:
            return None, kept.role, f"the token of {name!r} was revoked: ask the host for a new one"
        return kept.hash, kept.role, ""

    def _check_address(self, address: str) -> None:
        wait = self._failed_logins.wait(address, monotonic())
        if wait > 0:
            raise Refused(
                Code.RATE_LIMITED,
                f"too many wrong tokens came from {address or 'there'}: try again in {wait:.0f} s",
            )
