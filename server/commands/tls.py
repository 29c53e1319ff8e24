"""The certificate of a server, by the section `[tls]` of its settings."""

from __future__ import annotations

import ssl

from arena.console import Failure
from arena.server.commands.settings_file import BadSetting
from arena.server.settings import TlsSettings


def tls_of(tls: TlsSettings) -> ssl.SSLContext | None:
    """Return the context of the certificate; None without one. Raises BadSetting, and Failure for an unusable file."""
    if not tls.cert and not tls.key:
        return None
    if not tls.key:
        raise BadSetting("tls.cert", "set tls.key too (--tls-key)")
    if not tls.cert:
        raise BadSetting("tls.key", "set tls.cert too (--tls-cert)")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_certificate(context, tls)
    return context


def load_certificate(context: ssl.SSLContext, tls: TlsSettings) -> None:
    """Use the certificate for connections from now on. Raises Failure."""
    try:
        context.load_cert_chain(tls.cert, tls.key)
    except (OSError, ssl.SSLError) as error:
        raise Failure(f"cannot use {tls.cert} with {tls.key}: {error.strerror or error}") from None
