"""File that keeps a bot's session and the ids of its matches across restarts.

A session is a secret by which the server recognizes a returning bot: a restarted bot that sends this secret resumes its
matches. The file contains no moves, because the server's message `turn` contains all moves of a match.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

if sys.platform != "win32":
    import fcntl

MAX_SESSION_FILE_BYTES = 1 << 20
"""Maximum number of bytes read from a session file. A thousand matches need a tenth of this limit."""


class StoredSession(Struct, frozen=True, forbid_unknown_fields=True):
    """Content of a session file, as JSON: the secret of the session, and the ids of the matches in play."""

    session: str = ""
    matches: list[str] = []


_SESSION_DECODER = msgspec.json.Decoder(StoredSession)


class SessionFile:
    """File with the session secret and the ids of the matches in play of one bot on one server.

    The file exists and is locked only while a match is in play.

    Each save overwrites the start of the file with one line, in a single write, and readers use only the first line. So
    even after a kill, the file has either the old or the new content.
    """

    def __init__(self, path: Path) -> None:
        """Load the session and the matches that an earlier process has saved.

        Raises BlockingIOError if another process uses the file, and another OSError if the file cannot be opened.
        """
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: int | None = _open_locked_file(path)
        """Descriptor of the locked file; None while no match is in play."""
        self._stored_session = _read_session(self._file)
        if not self._stored_session.matches:
            self._remove_file()

    @property
    def session_secret(self) -> str:
        """Return the secret of the saved session, by which the server recognizes the bot; empty if no session is saved."""
        return self._stored_session.session

    @property
    def match_ids(self) -> frozenset[str]:
        """Return the ids of the matches in play."""
        return frozenset(self._stored_session.matches)

    def save(self, session_secret: str, match_ids: Iterable[str]) -> None:
        """Save the session and the ids of the matches in play, if they have changed.

        A write error is ignored, because the matches in play can continue. Only a restarted bot could not resume them.
        """
        stored_session = StoredSession(session_secret, sorted(match_ids))
        if stored_session == self._stored_session:
            return
        self._stored_session = stored_session
        if not stored_session.matches:
            self._remove_file()
            return
        data = msgspec.json.encode(stored_session) + b"\n"
        with suppress(OSError):
            if self._file is None:
                self._file = _open_locked_file(self._path)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, data)
            os.ftruncate(self._file, len(data))

    def _remove_file(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._path.unlink()
            self.close()

    def close(self) -> None:
        """Release the file, so that the bot's next process can use it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def make_session_file_name(bot_name: str, url: str) -> str:
    """Return the name of the session file for the bot `bot_name` on the server at `url`."""
    readable_name = "".join(
        letter if letter.isascii() and letter.isalnum() else "-" for letter in bot_name[:32]
    )
    digest = sha256(f"{bot_name}\n{url}".encode()).hexdigest()
    return f"{readable_name}-{digest[:12]}.session"


def _open_locked_file(path: Path) -> int:
    """Open and lock a file, creating it if needed, and return its descriptor. Closing the descriptor ends the lock.

    If an ending process removes the file meanwhile, a new file is created and locked. On Windows the file is opened
    without a lock.

    Raises BlockingIOError if another process uses the file, and another OSError if the file cannot be opened.
    """
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        except FileNotFoundError:
            pass  # an ending process removed the file after it was opened here
        except OSError:
            os.close(file)
            raise
        os.close(file)


def _read_session(file_descriptor: int) -> StoredSession:
    """Return the content of the open session file with descriptor `file_descriptor`.

    If the content is invalid, return an empty session.
    """
    try:
        return _SESSION_DECODER.decode(os.read(file_descriptor, MAX_SESSION_FILE_BYTES).partition(b"\n")[0])
    except msgspec.DecodeError:
        return StoredSession()
