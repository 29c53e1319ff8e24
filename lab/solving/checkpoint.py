"""Checkpoint file, with which the solver resumes after it was stopped or killed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from arena.solved.zstandard import zstd

COMPRESSION_LEVEL = 1

Codes = npt.NDArray[np.uint16]


class BadCheckpoint(ValueError):
    """Raised for a checkpoint that is damaged or belongs to another map; the message is one line that names the file."""


class _Header(Struct, frozen=True):
    """First line of a checkpoint file, before the compressed codes (encoded values) of the boards."""

    digest: str
    """Digest of the boards, which identifies the map."""
    plies: int
    """Number of plies up to which all results are known."""
    finished: bool
    """True if all boards are solved."""
    codes: int
    """Number of codes that follow."""


_decode = msgspec.json.Decoder(_Header).decode


def save_checkpoint(path: Path, digest: str, plies: int, codes: Codes, *, finished: bool) -> None:
    """Write a checkpoint with the codes of the representative boards after `plies` steps.

    digest    digest of the boards, which identifies the map
    codes     codes (solved.solved_value), in the order of the boards' numbers
    finished  True if all boards are solved

    If the process is killed while it writes, the previous checkpoint stays unchanged.
    """
    header = msgspec.json.encode(_Header(digest, plies, finished, len(codes))) + b"\n"
    body = header + zstd.compress(codes.tobytes(), COMPRESSION_LEVEL)
    new_file = path.with_name(f"{path.name}.new")
    new_file.write_bytes(hashlib.sha256(body).digest() + body)
    new_file.replace(path)


def load_checkpoint(path: Path, digest: str, code_count: int) -> tuple[int, bool, Codes] | None:
    """Return the number of steps done, whether all boards are solved, and the codes. Return None if there is no file.

    Raises BadCheckpoint if the file is damaged, or if the boards that it belongs to have another `digest` or `code_count`.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    body = data[32:]
    if hashlib.sha256(body).digest() != data[:32]:
        raise BadCheckpoint(f"{path} is damaged")
    line, _, compressed_codes = body.partition(b"\n")
    header = _decode(line)
    if header.digest != digest or header.codes != code_count:
        raise BadCheckpoint(f"{path} belongs to another map")
    codes = np.frombuffer(zstd.decompress(compressed_codes), np.uint16)
    return header.plies, header.finished, codes
