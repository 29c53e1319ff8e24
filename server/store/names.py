"""Names that a bot may not take: reserved prefixes, and lookalikes of existing names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from arena.server.core.settings import HOUSE_ENGINE_NAME_PREFIX

DELETED_PREFIX = "deleted-"
"""Prefix of the random names that replace the names of deleted bots."""
HIDDEN_PREFIX = "hidden-"
"""Prefix of the random names that replace the names of bots that the host hides."""
RESERVED_PREFIXES = {
    HOUSE_ENGINE_NAME_PREFIX: "the server's own engines",
    "guest-": "guests",
    DELETED_PREFIX: "deleted bots",
    HIDDEN_PREFIX: "hidden bots",
}
"""Prefixes with which no chosen name may begin, each with the group that uses it."""

# Cyrillic, Greek and Armenian letters that UTS #39 (confusables) pairs with Latin letters, and digits that look like letters.
_LOOKALIKES = {
    "a": "аАαΑ",
    "b": "ВвβΒЬь",
    "c": "сСϲϹ",
    "d": "ԁ",
    "e": "еЕεΕҽ",
    "f": "ք",
    "g": "ց",
    "h": "һНнΗհ",
    "i": "іιїΙІӏ",
    "j": "јЈϳ",
    "k": "кКκΚ",
    "l": "1I|Ӏ",
    "m": "мМΜ",
    "n": "пոηΝ",
    "o": "0оОοΟσօՕ",
    "p": "рРρΡ",
    "q": "ԛզ",
    "r": "г",
    "s": "ѕЅՏ",
    "t": "тТτΤ",
    "u": "υսՍ",
    "v": "ѵνѴ",
    "w": "ԝωա",
    "x": "хХχΧ",
    "y": "уУүγΥ",
    "z": "Ζζ",
}
_LOOKALIKE_TABLE = str.maketrans({char: letter for letter, chars in _LOOKALIKES.items() for char in chars})


class _KeyTable(dict[int, str]):
    """Table for `str.translate` that maps each character to its part of a key. Names that look alike have equal keys.

    A character is added when it is first looked up.
    """

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKD", chr(code).translate(_LOOKALIKE_TABLE))
        plain = plain.translate(_LOOKALIKE_TABLE).casefold()
        self[code] = "".join(char for char in plain if not unicodedata.combining(char)).translate(
            _LOOKALIKE_TABLE
        )
        return self[code]


_KEY_TABLE = _KeyTable()


def make_lookalike_key(name: str) -> str:
    """Return a key that is equal for names that look alike, such as `bob` and `B0B`."""
    return name.translate(_KEY_TABLE)


def find_unavailability_reason(name: str, others: Iterable[str]) -> str | None:
    """Return the reason, in one line, why a bot may not take a new name; None if the name is available.

    others: existing names, which the new name must not look like; an equal name among them is ignored
    """
    key = make_lookalike_key(name)
    for prefix, group in RESERVED_PREFIXES.items():
        if key.startswith(make_lookalike_key(prefix)):
            return f"{name!r:.80} looks like a name of {group}: choose one that does not begin with {prefix}"
    # One call for all names is ten times as fast. No name contains a line break, and no other character becomes one.
    lines = "\n".join(others)
    pairs = zip(lines.split("\n"), make_lookalike_key(lines).split("\n"), strict=True)
    similar_name = next(
        (other for other, other_key in pairs if other_key == key and other not in ("", name)), None
    )
    return (
        None
        if similar_name is None
        else f"{name!r:.80} looks like {similar_name!r:.80}, which exists: choose another name"
    )
