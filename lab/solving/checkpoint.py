"""What is known so far, kept in a file, so that a solution that was killed goes on from there."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from arena.solved.zstandard import zstd

LEVEL = 1
LENGTH = 8

Codes = npt.NDArray[np.uint16]


class BadCheckpoint(ValueError):
    """A checkpoint that is cut, altered or of something else: one line."""


class _Told(Struct, frozen=True):
    """The first line of a checkpoint: the digest of the boards, how far they are solved, and how many codes follow."""

    digest: str
    plies: int
    finished: bool
    codes: int


_decode = msgspec.json.Decoder(_Told).decode


def save(path: Path, digest: str, plies: int, codes: Codes, *, finished: bool) -> None:
    """Keep the codes of the boards that stand for others, in the order of their numbers, as they are after so many plies.

    A kill in the midst of it leaves the file of before.
    """
    told = msgspec.json.encode(_Told(digest, plies, finished, len(codes))) + b"\n"
    body = told + zstd.compress(codes.tobytes(), LEVEL)
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.write_bytes(hashlib.sha256(body).digest() + body)
    unfinished.replace(path)


def load(path: Path, digest: str, count: int) -> tuple[int, bool, Codes] | None:
    """The plies, whether nothing is left to decide, and the codes that were saved; None where nothing was. Raises BadCheckpoint."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    body = data[32:]
    if hashlib.sha256(body).digest() != data[:32]:
        raise BadCheckpoint(f"{path} is damaged")
    line, _, packed = body.partition(b"\n")
    told = _decode(line)
    if told.digest != digest or told.codes != count:
        raise BadCheckpoint(f"{path} is of other boards")
    codes = np.frombuffer(zstd.decompress(packed), np.uint16)
    return told.plies, told.finished, codes
