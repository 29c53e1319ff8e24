"""Who may use which name: tokens, which are shown once and kept as hashes."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256

from protocol.codes import Code


class Refused(Exception):
    """A hello that does not get in. `code` and the text go back to the client."""

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class Accounts:
    """Names and the hashes of their tokens.

    With `anyone` a name that has no token is free for whoever comes first: for a private network.
    """

    def __init__(self, *, anyone: bool) -> None:
        self.anyone = anyone
        self._hashes: dict[str, bytes] = {}

    def issue(self, name: str) -> str:
        """A new token for a name, in place of its old one. It is not kept, only its hash."""
        # 192 random bits cannot be guessed, so one fast hash is enough; a slow one is for passwords.
        token = secrets.token_urlsafe(24)
        self._hashes[name] = _hash(token)
        return token

    def check(self, name: str, token: str) -> None:
        """Raises Refused unless the token opens the name."""
        if not name.isprintable() or name != name.strip():
            raise Refused(Code.BAD_NAME, Code.BAD_NAME.meaning)
        known = self._hashes.get(name)
        if known is None:
            if self.anyone and not token:
                return
            hint = "leave the token empty here" if self.anyone else "ask the host for a token"
            raise Refused(Code.BAD_TOKEN, f"no token is known for {name!r}: {hint}")
        if not hmac.compare_digest(known, _hash(token)):
            raise Refused(Code.BAD_TOKEN, f"this is not the token of {name!r}")


def _hash(token: str) -> bytes:
    return sha256(token.encode()).digest()
