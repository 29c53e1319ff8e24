"""Validation and unpacking of submitted bots: zip files with untrusted code, which runs only in containers."""

from __future__ import annotations

import shlex
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from arena.atomic_file import FULL_DISK_ERRNOS
from arena.bots.api.engine_spec import BadSpec
from arena.games.loading import is_file_spec, split_file_spec
from arena.toml_file import BadTomlFile, TomlFile

BOT_SETTINGS_FILE_NAME = "bot.toml"
"""Name of the file at the top level of a submission that contains the bot's start command."""
MAX_SUBMISSION_ZIP_BYTES = 16 * 2**20
"""Maximum size of a submission's zip file, in bytes."""
MAX_UNPACKED_SUBMISSION_BYTES = 64 * 2**20
"""Maximum size of all unpacked files of a submission together, in bytes."""
MAX_SUBMISSION_FILES = 1000
"""Maximum number of files and folders in a submission."""
MAX_BOT_SETTINGS_BYTES = 64 * 1024
"""Maximum size of a submission's bot.toml, in bytes."""
MAX_SUBMISSION_PATH_CHARACTERS = 200
"""Maximum length of a path in a submission, in characters."""
UNPACKING_CHUNK_BYTES = 64 * 1024
"""Number of bytes that are unpacked in one step. After each step, the total size is checked."""
ACCEPTED_COMPRESSION_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compression methods of the files in a submission. Others can need gigabytes of memory to unpack."""
ZIP_ENCRYPTION_FLAG_BIT = 0x1
"""Flag bit of a zip file's entry that needs a password."""


def unpack_submission(file: Path, folder: Path) -> list[str]:
    """Unpack the submission `file` into the empty `folder`, and return the command that starts its bot there.

    Raises BadSpec if the file is not a valid submission.
    """
    if file.is_dir():
        raise BadSpec(f"{file} is a folder: give a zip file")
    try:
        if file.stat().st_size > MAX_SUBMISSION_ZIP_BYTES:
            raise BadSpec(
                f"{file} is larger than {MAX_SUBMISSION_ZIP_BYTES >> 20} MiB: leave out files that the bot does not need"
            )
        with zipfile.ZipFile(file) as archive:
            _unpack_entries(file, archive, folder)
    except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
        raise BadSpec(
            f"{file}: two entries have the same path, or a file has the path of a folder; rename one of the two"
            f" ({error.strerror or error})"
        ) from None
    except OSError as error:
        if error.errno in FULL_DISK_ERRNOS:
            raise BadSpec(f"{file} cannot be unpacked into {folder}: {error.strerror}") from None
        raise BadSpec(f"{file} cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        if isinstance(error, BadSpec):
            raise
        raise BadSpec(f"{file} is not a valid zip file: {str(error) or 'it ends too early'}") from None
    return _read_start_command(file, folder / BOT_SETTINGS_FILE_NAME)


def _unpack_entries(file: Path, archive: zipfile.ZipFile, folder: Path) -> None:
    entries = archive.infolist()
    if len(entries) > MAX_SUBMISSION_FILES:
        raise BadSpec(
            f"{file} has {len(entries)} files and folders, but at most {MAX_SUBMISSION_FILES} are allowed"
        )
    bytes_left = MAX_UNPACKED_SUBMISSION_BYTES
    for entry in entries:
        target = folder / _require_safe_entry_path(file, entry)
        if entry.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as packed, target.open("xb") as unpacked:
            # The sizes given in the zip file may be false, so the unpacked bytes are counted.
            while piece := packed.read(UNPACKING_CHUNK_BYTES):
                bytes_left -= len(piece)
                if bytes_left < 0:
                    raise BadSpec(
                        f"{file} has more than {MAX_UNPACKED_SUBMISSION_BYTES >> 20} MiB when it is unpacked: leave out files that the bot does not need"
                    )
                unpacked.write(piece)
        is_executable = (entry.external_attr >> 16) & stat.S_IXUSR
        target.chmod(0o755 if is_executable else 0o644)
    # The bot runs as another user, and must be able to read all files.
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)


def _require_safe_entry_path(file: Path, entry: zipfile.ZipInfo) -> PurePosixPath:
    """Return the relative path of an entry of the zip file.

    file  path of the zip file, for the error message

    Raises BadSpec unless the entry is a plain file or folder whose path stays inside the folder of the unpacked files.
    """
    name = entry.filename
    path = PurePosixPath(name)
    label = f"{file}: {name[:MAX_SUBMISSION_PATH_CHARACTERS]!r}"
    if len(name) > MAX_SUBMISSION_PATH_CHARACTERS:
        raise BadSpec(
            f"{label}: a path in the zip file must have at most {MAX_SUBMISSION_PATH_CHARACTERS} characters, not {len(name)}"
        )
    if not name.isprintable():
        raise BadSpec(f"{label}: a path in the zip file must be printable: rename the file")
    if "\\" in name:
        raise BadSpec(f"{label}: a path in the zip file must have / between folders, not a backslash")
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise BadSpec(f"{label}: a path must lie inside the zip file, without a leading / and without ..")
    file_type = stat.S_IFMT(entry.external_attr >> 16)
    if file_type not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise BadSpec(f"{label}: must be a plain file, not a link or a device")
    if entry.flag_bits & ZIP_ENCRYPTION_FLAG_BIT:
        raise BadSpec(f"{label}: is encrypted: zip it without a password")
    if entry.compress_type not in ACCEPTED_COMPRESSION_METHODS:
        raise BadSpec(f"{label}: must be deflated or stored, as zip does by default")
    return path


def _read_start_command(file: Path, settings_file: Path) -> list[str]:
    """Return the command that starts the bot, from `engine` or `exec` of its bot.toml; other keys are ignored.

    file           path of the zip file, for the error message
    settings_file  path of the unpacked bot.toml

    Raises BadSpec if the bot.toml is missing or invalid.
    """
    location = file / BOT_SETTINGS_FILE_NAME
    required_key = 'either engine = "my_bot.py" or exec = "./my_bot"'
    if not settings_file.is_file():
        raise BadSpec(f"{location}: not found at the top level of the zip file; add one with {required_key}")
    if settings_file.stat().st_size > MAX_BOT_SETTINGS_BYTES:
        raise BadSpec(f"{location}: must be at most {MAX_BOT_SETTINGS_BYTES >> 10} KiB long")
    try:
        settings_keys = TomlFile.parse_bytes(location, settings_file.read_bytes()).data
    except BadTomlFile as error:
        raise BadSpec(str(error)) from None
    commands = [(key, settings_keys[key]) for key in ("engine", "exec") if key in settings_keys]
    if len(commands) != 1 or not isinstance(commands[0][1], str):
        raise BadSpec(
            f"{location}: must have exactly one of the keys `engine` and `exec`, with a string as its value"
        )
    key, text = commands[0]
    if key == "engine":
        engine_file = PurePosixPath(split_file_spec(text)[0])
        if (
            is_file_spec(text)
            and not engine_file.is_absolute()
            and not (settings_file.parent / engine_file).is_file()
        ):
            raise BadSpec(
                f"{location}: the file {engine_file}, named by `engine`, is not in the zip file; add it, or correct its name"
            )
        return ["python", "-P", "-m", "arena.bots.engines.isolated", text]
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadSpec(
            f"{location}: the value of `exec`, {text!r:.100}, is not a valid command line: {error}"
        ) from None
    if not words:
        raise BadSpec(f'{location}: the value of `exec` is empty: name a program, such as exec = "./my_bot"')
    return words
