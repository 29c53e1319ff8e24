"""The options `--tls-cert` and `--tls-key`."""

from __future__ import annotations

import ssl
from pathlib import Path

from arena.console import Failure, Misuse


def tls_of(cert: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """What these options ask for; None where neither is given. Raises Failure and Misuse."""
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise Misuse("--tls-cert and --tls-key go together")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as error:
        raise Failure(f"cannot use {cert} with {key}: {error.strerror or error}") from None
    return context
