"""Checkpoint file, with which the solver resumes after it was stopped or killed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from arena.atomic_file import replace_file_atomically
from arena.solved.zstandard import zstd

CHECKPOINT_COMPRESSION_LEVEL = 1

Codes = npt.NDArray[np.uint16]


class BadCheckpoint(ValueError):
    """Raised for a checkpoint that is damaged or belongs to another map; the message is one line that names the file."""


class _CheckpointHeader(Struct, frozen=True):
    """Header of a checkpoint file: a line of JSON after the file's digest. The compressed codes (encoded values) follow it."""

    digest: str
    """Digest of the map and its army limits, which tells whether the checkpoint belongs to the map to be solved."""
    plies: int
    """Number of plies: all wins and losses within so many plies are known."""
    finished: bool
    """True if all boards are solved."""
    codes: int
    """Number of codes (encoded values of boards) in the file."""


_decode = msgspec.json.Decoder(_CheckpointHeader).decode


def save_checkpoint(
    path: Path, map_digest: str, solved_plies: int, codes: Codes, *, is_finished: bool
) -> None:
    """Write a checkpoint file with the results that the solver has after `solved_plies` steps.

    map_digest   digest of the map and its army limits
    codes        codes (encoded values, see solved.solved_value) of the representative boards, in the order of their numbers
    is_finished  True if all boards are solved

    If the process is killed while it writes, the previous checkpoint stays unchanged.
    """
    header = msgspec.json.encode(_CheckpointHeader(map_digest, solved_plies, is_finished, len(codes))) + b"\n"
    body = header + zstd.compress(codes.tobytes(), CHECKPOINT_COMPRESSION_LEVEL)
    with replace_file_atomically(path) as new_file:
        new_file.write_bytes(hashlib.sha256(body).digest() + body)


def load_checkpoint(path: Path, map_digest: str, code_count: int) -> tuple[int, bool, Codes] | None:
    """Return the plies up to which all results are known, True if all boards are solved, and the boards' codes.

    Return None if there is no file. Raises BadCheckpoint if the file is damaged, or belongs to another map, whose boards
    have another `map_digest` or `code_count`.
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
    if header.digest != map_digest or header.codes != code_count:
        raise BadCheckpoint(f"{path} is the checkpoint of another map")
    codes = np.frombuffer(zstd.decompress(compressed_codes), np.uint16)
    return header.plies, header.finished, codes
