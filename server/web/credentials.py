"""Credentials in the Authorization header of an HTTP request, and their comparison with a stored token."""

from __future__ import annotations

import base64
import binascii
import hmac

from arena.server.store.database import Engine
from arena.server.store.tokens import StoredToken, find_token, hash_token


def parse_basic_credentials(authorization: str) -> tuple[str, str]:
    """Return the name and the secret in an Authorization header of HTTP Basic; both are empty for any other header."""
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return "", ""
    # A secret contains no colon, but a name may.
    name, _, secret = text.rpartition(":")
    return name, secret


def make_basic_auth_header(name: str, secret: str) -> str:
    """Return the Authorization header of HTTP Basic for a name and a secret."""
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()


def parse_bearer_token(authorization: str) -> str:
    """Return the bearer token in an Authorization header (RFC 6750); an empty text for any other header."""
    scheme, _, secret = authorization.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


async def find_valid_token(engine: Engine, authorization: str) -> StoredToken | None:
    """Return the token for the name and the secret in an Authorization header of HTTP Basic.

    Return None if there is no such token, or if it is revoked.
    """
    name, secret = parse_basic_credentials(authorization)
    token = await find_token(engine, name)
    if token is None or token.revocation_time is not None:
        return None
    return token if hmac.compare_digest(hash_token(secret), token.token_hash) else None
