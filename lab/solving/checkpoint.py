"""Checkpoint file, with which the solver resumes after it was stopped or killed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from arena.atomic_file import replace_file_atomically
from arena.solved.zstandard import zstd

CHECKPOINT_ZSTD_LEVEL = 1

CodeArray = npt.NDArray[np.uint16]


class BadCheckpoint(ValueError):
    """Raised for a checkpoint that is damaged or belongs to another map; the message is one line that names the file."""


class _CheckpointHeader(Struct, frozen=True):
    """Header of a checkpoint file. The file consists of a SHA-256 hash of the rest, the header, and compressed codes of boards.

    The header is a line of JSON. A code is the encoded value of a board, which is a position (solved.solved_value).
    """

    map_digest: str = field(name="digest")
    """Digest of the map, its cap and its number of armies to win. A checkpoint with another digest is rejected."""
    solved_plies: int = field(name="plies")
    """Number n of plies: all wins and losses in at most n plies are known."""
    is_finished: bool = field(name="finished")
    """True if all boards (positions of the map) are solved."""
    code_count: int = field(name="codes")
    """Number of codes (encoded values of boards) in the file."""


_decode_header_json = msgspec.json.Decoder(_CheckpointHeader).decode


def save_checkpoint(
    path: Path, map_digest: str, solved_plies: int, codes: CodeArray, *, is_finished: bool
) -> None:
    """Write a checkpoint file with the results that the solver has so far.

    map_digest digest (hash) of the map with its army limits
    solved_plies  number n of plies: all wins and losses in at most n plies are known
    codes         codes (encoded values, see solved.solved_value) of the representative boards (one of each set of symmetric
                  boards), in the order of their numbers
    is_finished   True if all boards are solved

    If the process is killed while it writes, the previous checkpoint stays unchanged.
    """
    header = msgspec.json.encode(_CheckpointHeader(map_digest, solved_plies, is_finished, len(codes))) + b"\n"
    body = header + zstd.compress(codes.tobytes(), CHECKPOINT_ZSTD_LEVEL)
    with replace_file_atomically(path) as new_file:
        new_file.write_bytes(hashlib.sha256(body).digest() + body)


class LoadedCheckpoint(NamedTuple):
    """Results that the solver had when it wrote a checkpoint."""

    solved_plies: int
    """Number n of plies: all wins and losses in at most n plies are known."""
    is_finished: bool
    """True if all boards (positions of the map) are solved."""
    codes: CodeArray
    """Codes (encoded values, solved.solved_value) of the representatives of symmetric boards, in the order of their numbers."""


def load_checkpoint(path: Path, map_digest: str, code_count: int) -> LoadedCheckpoint | None:
    """Return the results in the checkpoint file `path`; None if there is no file.

    map_digest digest (hash) of the map to solve code_count number of codes (encoded values of boards) of the map to solve

    Raises BadCheckpoint if the file is damaged, or belongs to a map with another digest or number of codes.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    body = data[32:]
    if hashlib.sha256(body).digest() != data[:32]:
        raise BadCheckpoint(f"{path} is damaged")
    line, _, compressed_codes = body.partition(b"\n")
    header = _decode_header_json(line)
    if header.map_digest != map_digest or header.code_count != code_count:
        raise BadCheckpoint(f"{path} is the checkpoint of another map, or of this map with other army limits")
    codes = np.frombuffer(zstd.decompress(compressed_codes), np.uint16)
    return LoadedCheckpoint(header.solved_plies, header.is_finished, codes)
