"""Default conversions of moves and positions to plain data and text, for games that define none of their own.

A move or a position may consist of None, bool, int, str, Player, tuples, frozen sets, named tuples and frozen
dataclasses. Both convert to data for msgpack and JSON, and back. In the data, a tuple is a list, and a dataclass is a
mapping. When data is converted back, the fields of a class give the types of the values. A value without fields, such as
a tuple, gets the types of an example, which is another move or position of the game.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from threading import Lock
from typing import Any

import msgspec

from arena.games.basics import BadData, PlainData

MAX_PLAIN_INTEGER = 2**53
"""Maximum absolute value of a whole number in plain data. Every JSON reader reads numbers up to this value exactly."""
MAX_PLAIN_NESTING_DEPTH = 8
"""Maximum nesting depth of lists and mappings in plain data."""
MAX_LIST_OR_TEXT_LENGTH = 4096
"""Maximum number of elements of a list, and of characters of a text, in plain data."""
MSGSPEC_CONVERSION_LOCK = Lock()
"""Lock held during a conversion by msgspec, which inspects a class at the first conversion, and is not thread-safe then."""


def to_plain_data(value: object) -> PlainData:
    """Convert a move or a position to plain data. Raises TypeError for a value of a type that cannot be converted."""
    if isinstance(value, Enum):
        return to_plain_data(value.value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field_.name: to_plain_data(getattr(value, field_.name)) for field_ in fields(value) if field_.init
        }
    if isinstance(value, tuple):
        return [to_plain_data(item) for item in value]
    if isinstance(value, frozenset):
        return sorted((to_plain_data(item) for item in value), key=json.dumps)
    raise TypeError(
        f"a {type(value).__name__} cannot be converted to plain data: override move_to_data or position_to_data"
    )


def from_plain_data(data: object, example: object) -> Any:
    """Convert data from `to_plain_data` back to a value of the same type as `example`. Raises BadData for other data."""
    return _convert_to_type_of_example(_check_and_freeze(data, MAX_PLAIN_NESTING_DEPTH), example)


def to_json(data: PlainData) -> str:
    """Return plain data as compact JSON, in one line."""
    return json.dumps(data, separators=(",", ":"))


def from_json(text: str) -> PlainData:
    """Parse a line of JSON, and return its data. Raises BadData for invalid JSON."""
    try:
        data: PlainData = json.loads(text[: 16 * MAX_LIST_OR_TEXT_LENGTH])
    except (ValueError, RecursionError):
        raise BadData(f"{text.strip()!r:.40} is not valid JSON") from None
    return data


def format_move(move: object, cell_names: Sequence[str] = ()) -> str:
    """Return a move as text.

    If all parts of the move are whole numbers and words without spaces, the text is these parts, separated by spaces.
    Otherwise, the text is compact JSON.

    cell_names   names of the cells, if the whole numbers are cell numbers; otherwise empty
    """
    parts = move if isinstance(move, tuple) and move else (move,)
    if all(_is_integer_or_word(part) for part in parts):
        return " ".join(
            cell_names[part] if isinstance(part, int) and 0 <= part < len(cell_names) else str(part)
            for part in parts
        )
    return to_json(to_plain_data(move))


def parse_move(text: str, example_move: object, cell_number_by_name: dict[str, int]) -> PlainData:
    """Parse a move in the form that `format_move` returns, and return its plain data. Raises BadData for other text.

    example_move         another move of the game, for the types of its parts
    cell_number_by_name  number of each cell, by its name in lower case
    """
    typed_text = text.strip()
    parts = example_move if isinstance(example_move, tuple) and example_move else (example_move,)
    if not all(_is_integer_or_word(part) for part in parts):
        try:
            return from_json(typed_text)
        except BadData:
            raise BadData(
                f"{typed_text!r:.40} is not a move: a valid one is {format_move(example_move)}"
            ) from None
    words = typed_text.split()
    are_texts = all(isinstance(part, str) for part in parts)
    data: list[PlainData] = []
    for word in words:
        if word.lower() in cell_number_by_name:
            data.append(cell_number_by_name[word.lower()])
        elif not are_texts and word.removeprefix("-").isdecimal() and len(word) < 17:
            data.append(int(word))
        else:
            data.append(word)
    if isinstance(example_move, tuple):
        return data
    if len(data) != 1:
        raise BadData(
            f"{typed_text!r:.40} is not a move: a valid one is {format_move(example_move, tuple(cell_number_by_name))}"
        )
    return data[0]


def _is_integer_or_word(value: object) -> bool:
    if isinstance(value, str):
        return bool(value) and not any(char.isspace() for char in value)
    return isinstance(value, int) and not isinstance(value, bool)


def _convert_to_type_of_example(data: Any, example: object) -> Any:
    """Convert plain data from `_check_and_freeze` to a value of the same type as `example`, and return the value.

    Raises BadData if the data cannot be converted to the types in `example`.
    """
    if isinstance(example, tuple) and not hasattr(example, "_fields"):
        if not isinstance(data, tuple):
            raise BadData(f"the data must be a list such as {list(example)!r:.80}, not {data!r:.40}")
        parts: Sequence[object] = example if len(example) == len(data) else [None] * len(data)
        return tuple(
            _convert_to_type_of_example(item, part)
            if isinstance(part, Enum | tuple) or is_dataclass(part)
            else _require_no_mapping(item)
            for item, part in zip(data, parts, strict=True)
        )
    try:
        with MSGSPEC_CONVERSION_LOCK:
            return msgspec.convert(data, type(example))
    except msgspec.ValidationError as error:
        first_line = str(error).partition("\n")[0]
        raise BadData(
            f"the data cannot be converted to {type(example).__name__}: {first_line:.200}"
        ) from None
    except (TypeError, NameError) as error:
        first_line = str(error).partition("\n")[0]
        raise BadData(
            f"a {type(example).__name__} cannot be made from plain data ({first_line:.100}): override move_from_data or position_from_data"
        ) from None


def _require_no_mapping(data: Any) -> Any:
    """Return plain data unchanged. Raises BadData if it contains a mapping, because a move or position must be hashable."""
    if isinstance(data, dict):
        raise BadData(f"the data must be a number, a string or a list of these, not {data!r:.40}")
    return tuple(map(_require_no_mapping, data)) if isinstance(data, tuple) else data


def _check_and_freeze(data: object, max_nesting_depth: int) -> Any:
    """Check plain data, and return it with tuples instead of lists, because tuples are hashable.

    Raises BadData if the data is nested deeper than `max_nesting_depth` levels, if a list, mapping or string is longer than
    MAX_LIST_OR_TEXT_LENGTH, if the absolute value of an integer exceeds MAX_PLAIN_INTEGER, or if a value is not plain
    data.
    """
    if max_nesting_depth < 0:
        raise BadData(f"the data must not be nested deeper than {MAX_PLAIN_NESTING_DEPTH} levels")
    if isinstance(data, list | tuple | dict | str) and len(data) > MAX_LIST_OR_TEXT_LENGTH:
        raise BadData(
            f"a list or a string must have at most {MAX_LIST_OR_TEXT_LENGTH} elements, not {len(data)}"
        )
    if isinstance(data, list | tuple):
        return tuple(_check_and_freeze(item, max_nesting_depth - 1) for item in data)
    if isinstance(data, dict) and all(isinstance(name, str) for name in data):
        return {name: _check_and_freeze(item, max_nesting_depth - 1) for name, item in data.items()}
    if data is None or (isinstance(data, bool | int) and abs(data) <= MAX_PLAIN_INTEGER):
        return data
    if isinstance(data, str):
        return data
    raise BadData(f"the data must be a number, a string or a list of these, not {data!r:.40}")
