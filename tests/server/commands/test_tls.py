from __future__ import annotations

from pathlib import Path

import pytest

from arena.console import CommandError
from arena.server.commands.hosting import make_tls_context
from arena.server.commands.settings_file import BadSetting
from arena.server.settings import TlsSettings


def test_without_both_there_is_no_tls() -> None:
    assert make_tls_context(TlsSettings()) is None


def test_one_without_the_other_is_a_misuse(tmp_path: Path) -> None:
    for tls in (TlsSettings(cert=str(tmp_path)), TlsSettings(key=str(tmp_path))):
        with pytest.raises(BadSetting, match=r"^tls\.\w+: set tls\.\w+ too"):
            make_tls_context(tls)


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    bad, none = tmp_path / "bad.pem", tmp_path / "none.key"
    bad.write_text("nothing")
    for key, why in (
        (none, rf"cannot read {none}: No such file or directory"),
        (bad, rf"cannot use {bad} with {bad}: they must be a certificate and its own key, both in PEM"),
    ):
        with pytest.raises(CommandError, match=why):
            make_tls_context(TlsSettings(cert=str(bad), key=str(key)))
