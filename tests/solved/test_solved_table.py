"""The file of a table: it is read as it was written, and a truncated, changed or foreign file gives an error of one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pytest

from arena.games.riskless_map import RisklessMap
from arena.solved.board_numbers import BoardNumbering
from arena.solved.folders import (
    find_solved_table_file,
    get_table_output_folder,
    make_table_file_name,
    open_table,
    require_matching_table,
)
from arena.solved.header import (
    TABLE_FILE_SIGNATURE,
    BadTable,
    TableHeader,
    compute_boards_digest,
    decode_header,
    encode_header,
)
from arena.solved.solved_table import SolvedTable
from tests.solved.conftest import make_path_map

Solve = Callable[[RisklessMap], Path]


def check_refused(path: Path, *words: str) -> None:
    """Check that opening the file, or reading one of its blocks, gives an error of one line that contains `words`."""
    with pytest.raises(BadTable) as error:
        table = SolvedTable(path)
        for block in range(table.header.block_count):
            table.read_block(block)
    text = str(error.value)
    assert "\n" not in text
    assert path.name in text
    assert all(word in text for word in words), text


def test_a_table_is_found_for_its_map_and_for_no_other(solve: Solve) -> None:
    map = make_path_map()
    path = solve(map)
    assert path == get_table_output_folder() / make_table_file_name(map)
    table = open_table(BoardNumbering.from_map(map))
    assert table is not None
    assert table.path == find_solved_table_file(BoardNumbering.from_map(map)) == path
    assert table.size_bytes == path.stat().st_size
    assert open_table(BoardNumbering.from_map(make_path_map(goal=8))) is None


def test_a_table_of_another_map_under_this_name_is_refused(solve: Solve) -> None:
    path = solve(make_path_map())
    other = BoardNumbering.from_map(make_path_map(goal=8))
    with pytest.raises(BadTable, match="solved for a different map"):
        require_matching_table(SolvedTable(path), other)
    path.rename(path.with_name(make_table_file_name(make_path_map(goal=8))))
    with pytest.raises(BadTable, match="solved for a different map"):
        open_table(other)


def test_every_truncated_file_is_refused(solve: Solve, tmp_path: Path) -> None:
    whole = solve(make_path_map()).read_bytes()
    cut = tmp_path / "cut.solved"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        check_refused(cut)
    cut.write_bytes(whole + b"\0")
    check_refused(cut, "is damaged: it has")


def test_every_changed_byte_is_refused(solve: Solve, tmp_path: Path) -> None:
    whole = solve(make_path_map()).read_bytes()
    rng = Random(5)
    altered = tmp_path / "altered.solved"
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= rng.randrange(1, 256)
        altered.write_bytes(data)
        check_refused(altered)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["is empty"]),
        (b"# a map\n" * 30, ["not a solved table", "arena solve"]),
        (TABLE_FILE_SIGNATURE + (1 << 30).to_bytes(4, "little") + bytes(99), ["damaged"]),
        (TABLE_FILE_SIGNATURE + (9).to_bytes(4, "little") + b"[1, 2, 3]" + bytes(99), ["damaged", "header"]),
    ],
)
def test_a_foreign_file_is_refused(content: bytes, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "foreign.solved"
    path.write_bytes(content)
    check_refused(path, *words)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    check_refused(tmp_path / "none.solved", "cannot be read")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"rules": 2}, "version 2 of the rules"),
        ({"format": "arena-solved/2"}, "arena-solved/2"),
        ({"neighbours": [[1], [7]]}, "an impossible map"),
        ({"neighbours": [[1]] * 40, "territory_cap": 1000}, "an impossible map"),
        ({"width": 3}, "width"),
        ({"armies_to_win": -1}, "armies_to_win"),
    ],
)
def test_a_header_of_another_version_or_of_nonsense_is_refused(
    change: dict[str, object], word: str, solve: Solve
) -> None:
    header = SolvedTable(solve(make_path_map())).header
    data = encode_header(header, [])
    header_bytes = msgspec.json.encode(header)
    other = msgspec.json.encode({**msgspec.to_builtins(header), **change})
    data = data.replace(
        len(header_bytes).to_bytes(4, "little") + header_bytes, len(other).to_bytes(4, "little") + other
    )
    with pytest.raises(BadTable, match=word):
        decode_header(memoryview(data), "x.solved")


def test_the_digest_depends_on_everything_that_affects_a_value() -> None:
    of = {
        compute_boards_digest(BoardNumbering.from_map(make_path_map(*numbers)))
        for numbers in [(3, 3, 7, 60), (4, 3, 7, 60), (3, 4, 7, 60), (3, 3, 8, 60)]
    }
    assert len(of) == 4
    assert compute_boards_digest(BoardNumbering.from_map(make_path_map(limit=9))) == compute_boards_digest(
        BoardNumbering.from_map(make_path_map())
    )


def test_a_header_knows_its_blocks(solve: Solve) -> None:
    header = SolvedTable(solve(make_path_map())).header
    assert isinstance(header, TableHeader)
    assert header.block_count == 1
    assert header.numbering == BoardNumbering.from_map(make_path_map())
