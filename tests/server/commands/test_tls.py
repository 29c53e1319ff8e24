from __future__ import annotations

from pathlib import Path

import pytest

from arena.console import CommandError
from arena.server.commands.hosting import make_tls_context
from arena.server.settings import TlsSettings


def test_tls_needs_both_a_certificate_and_a_key() -> None:
    assert make_tls_context(TlsSettings()) is None


def test_unusable_certificate_files_are_named(tmp_path: Path) -> None:
    bad, none = tmp_path / "bad.pem", tmp_path / "none.key"
    bad.write_text("nothing")
    for key, why in (
        (none, rf"cannot read {none}: No such file or directory"),
        (bad, rf"cannot use {bad} with {bad}: they must be a certificate and its own key, both in PEM"),
    ):
        with pytest.raises(CommandError, match=why):
            make_tls_context(TlsSettings(cert=str(bad), key=str(key)))
