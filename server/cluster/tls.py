"""TLS context for NATS that records if it was used."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Self

from arena.server.cluster.bus import BusError


class TlsContext(ssl.SSLContext):
    """TLS context that requires a trusted certificate for the requested host. Use it for one connection at a time.

    The NATS client sends plain text to a server that offers no TLS, whatever its URL says. `used` detects this.
    """

    _used = False
    _loaded = False

    @classmethod
    def from_ca_bundle(cls, ca: Path | None) -> Self:
        """Return a context that trusts the CA bundle in a file; by default, the system's.

        Raises BusError for an unusable file.
        """
        context = cls(ssl.PROTOCOL_TLS_CLIENT)
        if ca is not None:
            try:
                context.load_verify_locations(ca)
            except (OSError, ssl.SSLError) as error:
                raise BusError(
                    f"bus.ca: {ca} cannot be used as a CA bundle: {error.strerror or error}"
                ) from None
            context._loaded = True
        return context

    def reset(self) -> None:
        """Set `used` to False, because a new connection begins."""
        self._used = False

    @property
    def was_used(self) -> bool:
        """True if the current connection uses TLS."""
        return self._used

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,  # noqa: FBT001, FBT002  signature of the standard library
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        if not self._loaded:
            # Loaded late, because it takes tens of milliseconds, and most connections are local and without TLS.
            self.load_default_certs()
            self._loaded = True
        self._used = True
        return super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)
