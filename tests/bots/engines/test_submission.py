from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.api.engine_spec import BadSpec
from arena.bots.engines import submission
from arena.bots.engines.submission import (
    MAX_SUBMISSION_FILES,
    MAX_SUBMISSION_PATH_CHARACTERS,
    MAX_SUBMISSION_ZIP_BYTES,
    MAX_UNPACKED_SUBMISSION_BYTES,
    unpack_submission,
)
from tests.full_disk import limit_file_size

SETTINGS = 'exec = "python3 bot.py --hard"\n'


def zipped(file: Path, files: dict[str, str | bytes] | None = None, *more: zipfile.ZipInfo) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in ({"bot.toml": SETTINGS} if files is None else files).items():
            archive.writestr(name, text)
        for entry in more:
            archive.writestr(entry, "/etc/passwd")
    return file


def empty(folder: Path) -> Path:
    made = folder / "unpacked"
    made.mkdir()
    return made


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def test_files_are_unpacked_as_they_were_packed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "bot.toml": SETTINGS,
        "bot.py": "pass",
        "data/book.bin": bytes(range(256)),
    }
    folder = empty(tmp_path)
    assert unpack_submission(zipped(tmp_path / "bot.zip", files, entry("run", 0o755)), folder) == [
        "python3",
        "bot.py",
        "--hard",
    ]
    unpacked = {
        str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()
    }
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    assert unpacked == {**contents, "run": b"/etc/passwd"}
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (folder, *folder.rglob("*"))}
    assert modes == {
        "unpacked": 0o755,
        "data": 0o755,
        "run": 0o755,
        "bot.toml": 0o644,
        "bot.py": 0o644,
        "book.bin": 0o644,
    }


def test_a_full_disk_is_reported_with_the_folder(tmp_path: Path) -> None:
    file, folder = zipped(tmp_path / "bot.zip", {"bot.toml": SETTINGS, "data": bytes(1000)}), empty(tmp_path)
    with limit_file_size(100), pytest.raises(BadSpec) as raised:
        unpack_submission(file, folder)
    assert str(raised.value) == f"{file} cannot be unpacked into {folder}: File too large"


def test_an_engine_is_started_by_the_arena_of_the_image(tmp_path: Path) -> None:
    file = zipped(tmp_path / "bot.zip", {"bot.toml": 'engine = "my_bot.py:Mine"', "my_bot.py": ""})
    assert unpack_submission(file, empty(tmp_path)) == [
        "python",
        "-P",
        "-m",
        "arena.bots.engines.isolated",
        "my_bot.py:Mine",
    ]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("", "bot.toml: must have exactly one of the keys"),
        ('exec = "a"\nengine = "b"', "bot.toml: must have exactly one of the keys"),
        ("exec = 5", "bot.toml: must have exactly one of .*, with a string as its value"),
        (
            'engine = "my_bot.py:Mine"',
            "bot.toml: the file my_bot.py, named by `engine`, is not in the zip file; add it",
        ),
        ("exec =", "bot.toml: not valid TOML: "),
        (b"\xff", "bot.toml:1: not UTF-8 text; save the file as UTF-8"),
        pytest.param(
            f"exec = {'[' * 50_000}",
            "bot.toml: not valid TOML: its arrays or tables are nested too deeply",
            id="nested",
        ),
        (
            'exec = "\'"',
            "bot.toml: the value of `exec`, .*, is not a valid command line: No closing quotation",
        ),
        ('exec = " "', "bot.toml: the value of `exec` is empty"),
        (f'exec = "a"\n#{"x" * 70_000}', "bot.toml: must be at most 64 KiB"),
    ],
)
def test_settings_say_how_the_bot_is_started(tmp_path: Path, settings: str | bytes, why: str) -> None:
    with pytest.raises(BadSpec, match=why):
        unpack_submission(zipped(tmp_path / "bot.zip", {"bot.toml": settings}), empty(tmp_path))


def test_the_settings_must_be_at_the_top_level(tmp_path: Path) -> None:
    with pytest.raises(BadSpec, match=r"bot\.toml: not found at the top level of the zip file"):
        unpack_submission(zipped(tmp_path / "bot.zip", {"mine/bot.toml": SETTINGS}), empty(tmp_path))


@pytest.mark.parametrize(
    "name",
    [
        "/bot.py",
        "../bot.py",
        "a/../../bot.py",
        "a\\bot.py",
        "a\nb",
        ".",
        "x" * (MAX_SUBMISSION_PATH_CHARACTERS + 1),
    ],
)
def test_a_path_outside_the_zip_file_is_refused(tmp_path: Path, name: str) -> None:
    file = zipped(tmp_path / "bot.zip", None, entry(name, 0o644))
    with pytest.raises(BadSpec, match=r"bot\.zip: '.*': a path ") as raised:
        unpack_submission(file, empty(tmp_path))
    assert "\n" not in str(raised.value)
    assert {each.name for each in tmp_path.iterdir()} == {"bot.zip", "unpacked"}


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    with pytest.raises(BadSpec, match="must be a plain file, not a link or a device"):
        unpack_submission(zipped(tmp_path / "bot.zip", None, entry("token", kind | 0o777)), empty(tmp_path))


def test_one_path_twice_is_refused(tmp_path: Path) -> None:
    for names in (("a", "a/b"), ("a/b", "a")):
        folder = tmp_path / names[0].replace("/", "-")
        folder.mkdir()
        file = zipped(folder / "bot.zip", {"bot.toml": SETTINGS, **dict.fromkeys(names, "")})
        with pytest.raises(BadSpec, match="two entries have the same path"):
            unpack_submission(file, empty(folder))


def test_a_zip_bomb_is_refused_before_it_fills_the_disk(tmp_path: Path) -> None:
    file, folder = tmp_path / "bot.zip", empty(tmp_path)
    zipped(
        file, {"bot.toml": SETTINGS, **{f"{n}": bytes(MAX_UNPACKED_SUBMISSION_BYTES // 4) for n in range(5)}}
    )
    assert file.stat().st_size < MAX_SUBMISSION_ZIP_BYTES
    with pytest.raises(BadSpec, match="more than 64 MiB when it is unpacked"):
        unpack_submission(file, folder)
    assert sum(each.stat().st_size for each in folder.iterdir()) <= MAX_UNPACKED_SUBMISSION_BYTES


def test_sizes_and_numbers_are_bounded(tmp_path: Path) -> None:
    many = zipped(tmp_path / "many.zip", {f"{n}": "" for n in range(MAX_SUBMISSION_FILES + 1)})
    with pytest.raises(BadSpec, match=r"many\.zip has 1001 files and folders, but at most 1000 are allowed"):
        unpack_submission(many, empty(tmp_path))
    large = tmp_path / "large.zip"
    with large.open("wb") as file:
        file.truncate(MAX_SUBMISSION_ZIP_BYTES + 1)
    with pytest.raises(BadSpec, match=r"large\.zip is larger than 16 MiB"):
        unpack_submission(large, tmp_path / "unpacked")


def test_other_compressions_and_passwords_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "bot.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("bot.toml", SETTINGS)
    with pytest.raises(BadSpec, match="must be deflated or stored"):
        unpack_submission(file, empty(tmp_path))
    # Set the flag that marks an encrypted file in both headers of the only entry.
    plain = bytearray(zipped(file).read_bytes())
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        plain[plain.index(header) + flags] |= submission.ZIP_ENCRYPTION_FLAG_BIT
    file.write_bytes(plain)
    with pytest.raises(BadSpec, match="is encrypted"):
        unpack_submission(file, tmp_path / "unpacked")


def test_a_file_that_is_not_a_zip_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSpec, match=r"none\.zip cannot be read: No such file or directory"):
        unpack_submission(tmp_path / "none.zip", tmp_path)
    with pytest.raises(BadSpec, match="is a folder: give a zip file"):
        unpack_submission(tmp_path, tmp_path)
    (tmp_path / "text.zip").write_text("a bot")
    with pytest.raises(BadSpec, match=r"text\.zip is not a valid zip file: File is not a zip file"):
        unpack_submission(tmp_path / "text.zip", tmp_path)


@given(data=st.data())
def test_a_broken_zip_file_is_refused_in_one_line(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A zip file with changed bytes or a cut end is unpacked inside its folder, or refused."""
    place = tmp_path_factory.mktemp("broken")
    file, folder = zipped(place / "bot.zip", {"bot.toml": SETTINGS, "a/b": "c" * 50}), empty(place)
    raw = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    file.write_bytes(raw[: data.draw(st.integers(1, len(raw)))] if data.draw(st.booleans()) else raw)
    text = str(file)
    try:
        unpack_submission(file, folder)
    except BadSpec as error:
        text = str(error)
    assert text.startswith(str(file))
    assert "\n" not in text
    assert {each.name for each in place.iterdir()} == {"bot.zip", "unpacked"}
