"""TLS context for NATS that records whether a connection used it."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Self

from arena.server.cluster.bus import BusError


class TlsContext(ssl.SSLContext):
    """TLS context that requires a trusted certificate for the requested host, and records whether it was used.

    The record is needed because the NATS client sends plain text to a server that offers no TLS, even if the server's URL
    requires TLS. Use the context for one connection at a time, so that the record belongs to that connection.
    """

    _has_been_used = False
    _has_loaded_certificates = False

    @classmethod
    def from_ca_bundle(cls, ca_file: Path | None) -> Self:
        """Return a context that trusts the certificate authorities in the file `ca_file`; if None, those of the system.

        Raises BusError for an unusable file.
        """
        context = cls(ssl.PROTOCOL_TLS_CLIENT)
        if ca_file is not None:
            try:
                context.load_verify_locations(ca_file)
            except (OSError, ssl.SSLError) as error:
                raise BusError(
                    f"bus.ca: {ca_file} cannot be used as a CA bundle: {error.strerror or error}"
                ) from None
            context._has_loaded_certificates = True
        return context

    def reset_for_new_connection(self) -> None:
        """Set `has_wrapped_connection` to False. The caller must do so before each new connection."""
        self._has_been_used = False

    @property
    def has_wrapped_connection(self) -> bool:
        """True if TLS has been used since the last `reset_for_new_connection`."""
        return self._has_been_used

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,  # noqa: FBT001, FBT002  signature of the standard library
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        if not self._has_loaded_certificates:
            # Loaded late, because loading takes tens of milliseconds, and most connections are local and without TLS.
            self.load_default_certs()
            self._has_loaded_certificates = True
        self._has_been_used = True
        return super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)
