"""Unguessable ids, such as those of matches, derived from a seed."""

from __future__ import annotations

import hashlib


class IdGenerator:
    """Generator of unguessable ids. Each id is a hash of a secret seed and a counter."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._count = 0

    def make_hex_id(self, digit_count: int = 32) -> str:
        """Return the next id, of `digit_count` hexadecimal digits. `digit_count` is even and at most 128."""
        self._count += 1
        key = self._seed + self._count.to_bytes(8, "big")
        return hashlib.blake2b(key, digest_size=digit_count // 2).hexdigest()
