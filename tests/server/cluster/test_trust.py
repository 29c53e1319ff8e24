"""TLS contexts for NATS."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from arena.server.cluster.bus import BusError
from arena.server.cluster.tls import TlsContext


def test_an_unusable_ca_bundle_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nothing")
    for name in ("bad.pem", "none.pem"):
        with pytest.raises(BusError, match=rf"bus.ca: .*{name} cannot be used"):
            TlsContext.from_ca_bundle(tmp_path / name)


def test_a_certificate_for_the_requested_host_is_required() -> None:
    context = TlsContext.from_ca_bundle(None)
    assert context.check_hostname
    assert context.verify_mode == ssl.CERT_REQUIRED


def test_the_context_records_whether_tls_was_used() -> None:
    context = TlsContext.from_ca_bundle(None)
    used = [context.has_wrapped_connection]
    context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="here")
    used.append(context.has_wrapped_connection)
    context.reset_for_new_connection()
    used.append(context.has_wrapped_connection)
    assert used == [False, True, False]
