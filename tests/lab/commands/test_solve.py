"""`arena solve`: its output and its errors."""

import json
import os
from pathlib import Path

import pytest

from testkit.tools import skip_without
from tests.bots.command_line import arena, fails


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache folder for the tables of this test. The kernels stay in the folder in which they were compiled."""
    skip_without("numba")
    from arena.bots.compiled import cache  # noqa: PLC0415 - an extra

    cache.get_writable_kernel_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "riskless-arena" / "solved"


def test_the_shipped_tables_are_used_without_solving_and_are_correct() -> None:
    result = arena("solve", "path4", "--verify", "--json", "-")
    assert result.code == 0, result.stderr
    row = json.loads(result.stdout)
    assert (row["open"], row["won"], row["lost"], row["drawn"]) == (141_126, 80_660, 59_542, 924)
    assert (row["value"], row["plies"], row["longest"]) == ("loss", 16, 17)
    assert row["seconds"] is None
    assert row["verified"] == row["open"]
    assert row["boards"] == 21**4


def test_a_map_with_another_cap_is_solved_into_the_cache(own_cache: Path) -> None:
    result = arena("solve", "ring:4:cap=4", "--verify")
    assert result.code == 0, result.stderr
    assert "from the start" in result.stdout
    assert "verified" in result.stdout
    assert "6,561 boards" in result.stderr
    (file,) = own_cache.glob("*.solved")
    first = file.read_bytes()
    again = arena("solve", "ring:4:cap=4")
    assert again.code == 0
    assert again.stderr == "", "it is not solved twice"
    assert arena("solve", "ring:4:cap=4", "--again").code == 0
    assert file.read_bytes() == first


def test_solving_again_gives_the_shipped_table_byte_for_byte(own_cache: Path) -> None:
    assert arena("solve", "path4", "--again").code == 0
    (file,) = own_cache.glob("*.solved")
    (shipped,) = (Path(__file__).parents[3] / "solved" / "tables").glob("path4-*.solved")
    assert file.read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "error", "code"),
    [
        (["ring:8"], "the largest cap that would fit is", 1),
        (["ring:1000"], "10^2303 positions take 10^2303 bytes", 1),
        (["world"], "even with the smallest cap that its start allows, it is too large", 1),
        (["nowhere"], "no such map", 2),
        (["m1:cap=2,goal=1000"], "armies_to_win", 2),
    ],
)
def test_an_unsolvable_map_is_refused_in_one_line(arguments: list[str], error: str, code: int) -> None:
    fails(error, code, "solve", *arguments)


def test_a_damaged_table_is_refused_in_one_line(own_cache: Path) -> None:
    assert arena("solve", "ring:4:cap=3,goal=9").code == 0
    (file,) = own_cache.glob("*.solved")
    file.write_bytes(file.read_bytes()[:-3])
    fails("is damaged: it has", 1, "solve", "ring:4:cap=3,goal=9")


def test_a_damaged_checkpoint_is_refused_in_one_line(own_cache: Path) -> None:
    assert arena("solve", "ring:4:cap=3,goal=9").code == 0
    (file,) = own_cache.glob("*.solved")
    file.with_name(f"{file.name}.part").write_bytes(b"nonsense")
    result = arena("solve", "ring:4:cap=3,goal=9", "--again")
    assert result.code == 1
    assert "is damaged; delete this file" in result.stderr.splitlines()[-1]


def test_a_file_that_cannot_be_written_gives_an_error_of_one_line(own_cache: Path) -> None:
    own_cache.parent.mkdir(parents=True)
    own_cache.write_text("where there should be a folder")
    result = arena("solve", "ring:4:cap=3,goal=9")
    assert result.code == 1
    assert "cannot write" in result.stderr.splitlines()[-1]


def test_a_table_that_may_not_be_written_is_refused_before_the_map_is_solved(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _mode, **_options: Path(path) != own_cache)
    result = arena("solve", "ring:4:cap=3,goal=9")
    assert result.code == 1
    assert result.stderr.splitlines()[-1].endswith(".solved: Permission denied")
    assert list(own_cache.iterdir()) == []
