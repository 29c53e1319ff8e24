"""Who may certify a NATS, and whether a connection to it has come to TLS at all."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Self

from arena.server.bus.bus import BusError


class Trust(ssl.SSLContext):
    """Wants a certificate that is trusted, for the host that was asked for. Serves one connection after the other.

    The client of NATS speaks in clear with a server that says it has no TLS, whatever its address says. So this takes
    note of whether it was used.
    """

    _used = False
    _loaded = False

    @classmethod
    def of(cls, ca: Path | None) -> Self:
        """Trust in those of a file, else in those that this machine trusts. Raises BusError."""
        made = cls(ssl.PROTOCOL_TLS_CLIENT)
        if ca is not None:
            try:
                made.load_verify_locations(ca)
            except (OSError, ssl.SSLError) as error:
                raise BusError(f"bus.ca {ca} cannot be used: {error.strerror or error}") from None
            made._loaded = True
        return made

    def begin(self) -> None:
        """A connection begins, in clear."""
        self._used = False

    @property
    def used(self) -> bool:
        """Whether the connection has come to TLS."""
        return self._used

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,  # noqa: FBT001, FBT002  as the standard library has it
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        if not self._loaded:
            # Only now: it takes tens of milliseconds, and most of these connections stay in one machine.
            self.load_default_certs()
            self._loaded = True
        self._used = True
        return super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)
