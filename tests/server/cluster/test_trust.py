from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from arena.server.cluster.bus import BusError
from arena.server.cluster.tls import TlsContext


def test_certificates_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nothing")
    for name in ("bad.pem", "none.pem"):
        with pytest.raises(BusError, match=rf"bus.ca: .*{name} cannot be used"):
            TlsContext.from_ca_bundle(tmp_path / name)


def test_a_certificate_is_wanted_for_the_host_that_was_asked_for() -> None:
    trust = TlsContext.from_ca_bundle(None)
    assert trust.check_hostname
    assert trust.verify_mode == ssl.CERT_REQUIRED


def test_it_knows_whether_the_connection_came_to_tls() -> None:
    trust = TlsContext.from_ca_bundle(None)
    used = [trust.was_used]
    trust.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="here")
    used.append(trust.was_used)
    trust.reset()
    used.append(trust.was_used)
    assert used == [False, True, False]
