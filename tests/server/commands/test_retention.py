from __future__ import annotations

from pathlib import Path

import pytest

from arena.console import Misuse
from arena.server.commands.retention import retention_of
from arena.server.store.retention import Retention


def test_without_options_all_matches_are_kept() -> None:
    assert retention_of("", None) is None


def test_the_options_together_say_what_is_kept_and_where_the_rest_goes(tmp_path: Path) -> None:
    assert retention_of("90d", tmp_path / "old") == Retention(days=90, archive=tmp_path / "old")


def test_an_archive_of_nothing_and_one_that_is_no_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for keep, archive, why in (
        ("", tmp_path, "say with --keep"),
        ("5", tmp_path / "file", "is no folder"),
        ("x", None, "--keep: 'x'"),
    ):
        with pytest.raises(Misuse, match=why):
            retention_of(keep, archive)
