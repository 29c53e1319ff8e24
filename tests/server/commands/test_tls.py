from __future__ import annotations

from pathlib import Path

import pytest

from arena.console import Failure, Misuse
from arena.server.commands.tls import tls_of


def test_without_both_there_is_no_tls() -> None:
    assert tls_of(None, None) is None


def test_one_without_the_other_is_a_misuse(tmp_path: Path) -> None:
    for cert, key in ((tmp_path, None), (None, tmp_path)):
        with pytest.raises(Misuse, match="go together"):
            tls_of(cert, key)


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nothing")
    with pytest.raises(Failure, match=r"cannot use .*bad\.pem with .*none\.key"):
        tls_of(tmp_path / "bad.pem", tmp_path / "none.key")
