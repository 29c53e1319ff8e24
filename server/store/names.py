"""Names that a bot may not take: reserved prefixes, and lookalikes of existing names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from arena.server.core.settings import HOUSE_ENGINE_NAME_PREFIX

DELETED_BOT_NAME_PREFIX = "deleted-"
"""Prefix of the random names that replace the names of deleted bots."""
HIDDEN_BOT_NAME_PREFIX = "hidden-"
"""Prefix of the random names that replace the names of bots that the person who runs the server hides."""
NAME_GROUP_BY_RESERVED_PREFIX = {
    HOUSE_ENGINE_NAME_PREFIX: "the server's own engines",
    "guest-": "guests",
    DELETED_BOT_NAME_PREFIX: "deleted bots",
    HIDDEN_BOT_NAME_PREFIX: "hidden bots",
}
"""Prefixes with which no chosen name may begin, each with the group that uses it."""

# Cyrillic, Greek and Armenian letters that UTS #39 (confusables) pairs with Latin letters, and digits that look like letters.
_LOOKALIKE_CHARACTERS_BY_LETTER = {
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
_LETTER_BY_LOOKALIKE = str.maketrans(
    {char: letter for letter, chars in _LOOKALIKE_CHARACTERS_BY_LETTER.items() for char in chars}
)


class _LookalikeKeyTable(dict[int, str]):
    """Table for `str.translate` that replaces characters, so that names that look alike become equal.

    An entry for a character is made when the character is first looked up.
    """

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKD", chr(code).translate(_LETTER_BY_LOOKALIKE))
        plain = plain.translate(_LETTER_BY_LOOKALIKE).casefold()
        self[code] = "".join(char for char in plain if not unicodedata.combining(char)).translate(
            _LETTER_BY_LOOKALIKE
        )
        return self[code]


_LOOKALIKE_KEY_TABLE = _LookalikeKeyTable()


def make_lookalike_key(name: str) -> str:
    """Return a key that is equal for names that look alike, such as `bob` and `B0B`."""
    return name.translate(_LOOKALIKE_KEY_TABLE)


def find_name_unavailability_reason(name: str, existing_names: Iterable[str]) -> str | None:
    """Return the reason, in one line, why a bot may not take a new name; None if the name is available.

    existing_names: names that the new name must not look like. A name that is identical to the new name is no reason here:
        the caller must check for that case
    """
    key = make_lookalike_key(name)
    for prefix, group in NAME_GROUP_BY_RESERVED_PREFIX.items():
        if key.startswith(make_lookalike_key(prefix)):
            return f"{name!r:.80} looks like a name of {group}: choose one that does not begin with {prefix}"
    # One call for all names is ten times as fast. No name contains a line break, and no other character becomes one.
    lines = "\n".join(existing_names)
    pairs = zip(lines.split("\n"), make_lookalike_key(lines).split("\n"), strict=True)
    similar_name = next(
        (other for other, other_key in pairs if other_key == key and other not in ("", name)), None
    )
    return (
        None
        if similar_name is None
        else f"{name!r:.80} looks like {similar_name!r:.80}, which exists: choose another name"
    )
