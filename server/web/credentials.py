"""Credentials of a request, from its Authorization header, and their check against a token."""

from __future__ import annotations

import base64
import binascii
import hmac

from arena.server.store.tokens import Token, hash_token


def name_and_secret(authorization: str) -> tuple[str, str]:
    """Return the name and secret of HTTP Basic; both are empty if the header is invalid."""
    scheme, _, coded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        text = base64.b64decode(coded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return "", ""
    # A secret contains no colon, but a name may.
    name, _, secret = text.rpartition(":")
    return name, secret


def basic(name: str, secret: str) -> str:
    """Return the Authorization header of HTTP Basic for a name and its secret."""
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()


def bearer(authorization: str) -> str:
    """Return the secret of a Bearer header (RFC 6750), or an empty text for any other header."""
    scheme, _, secret = authorization.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def is_valid(token: Token, secret: str) -> bool:
    """Return True if this is the secret of a token that is not revoked."""
    return token.revoked is None and hmac.compare_digest(hash_token(secret), token.hash)
