from pathlib import Path

import pytest

from arena import user_paths


@pytest.mark.parametrize("name", ["missing", 300 * "x", "file.txt/below"])
def test_a_path_at_which_nothing_can_be_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").touch()
    assert not user_paths.exists(tmp_path / name)
    assert not user_paths.is_file(tmp_path / name)
    assert not user_paths.is_folder(tmp_path / name)


def test_a_file_and_a_folder_differ(tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    file.touch()
    assert (user_paths.exists(file), user_paths.is_file(file), user_paths.is_folder(file)) == (
        True,
        True,
        False,
    )
    assert (user_paths.exists(tmp_path), user_paths.is_file(tmp_path), user_paths.is_folder(tmp_path)) == (
        True,
        False,
        True,
    )
