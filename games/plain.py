"""Values as plain data and as text, for games that do not write these conversions themselves. Pure.

A move or a position may be made of None, bool, int, str, Player, tuples, frozen sets, named tuples and frozen
dataclasses. It goes to the data that msgpack and JSON carry, and comes back as what it was: by the fields' types
where there are any, else by the likeness of a value that is known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from arena.games.basics import BadData, Plain

MOST = 2**53
"""The largest whole number, either way: what every reader of JSON keeps."""
DEEPEST = 8
"""How deep values may lie in each other."""
LONGEST = 4096
"""Elements of a tuple and characters of a text, at the most."""


def to_plain(value: object) -> Plain:
    """The value as plain data. Raises TypeError, naming the type, for what has no plain form."""
    if isinstance(value, Enum):
        return to_plain(value.value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: to_plain(getattr(value, each.name)) for each in fields(value) if each.init}
    if isinstance(value, tuple):
        return [to_plain(each) for each in value]
    if isinstance(value, frozenset):
        return sorted((to_plain(each) for each in value), key=json.dumps)
    raise TypeError(f"a {type(value).__name__} has no plain form: write the game's own conversions of it")


def from_plain(data: object, like: object) -> Any:
    """The value that `to_plain` wrote, of which `like` is another of the same kind. Raises BadData."""
    if isinstance(like, tuple) and not hasattr(like, "_fields"):
        return _like_tuple(data, like)
    return _of(type(like), data, DEEPEST)


def to_json(data: Plain) -> str:
    """Plain data as compact JSON, in one line."""
    return json.dumps(data, separators=(",", ":"))


def from_json(text: str) -> Plain:
    """The plain data in a line of JSON. Raises BadData."""
    try:
        found: Plain = json.loads(text[: 16 * LONGEST])
    except (ValueError, RecursionError):
        raise BadData(f"{text.strip()!r:.40} is no JSON") from None
    return found


def as_words(value: object, names: Sequence[str] = ()) -> str:
    """A move as a person reads it: its whole numbers and texts with blanks between, or else compact JSON.

    names   what to write for each whole number that is the number of a cell
    """
    parts = value if isinstance(value, tuple) and value else (value,)
    if all(_is_word(part) for part in parts):
        return " ".join(
            names[part] if isinstance(part, int) and 0 <= part < len(names) else str(part) for part in parts
        )
    return to_json(to_plain(value))


def words_to_data(text: str, like: object, number_of: dict[str, int]) -> Plain:
    """The plain data of a move that `as_words` wrote, of which `like` is another of the same game. Raises BadData.

    number_of   the numbers of cells by their names, in small letters
    """
    typed = text.strip()
    parts = like if isinstance(like, tuple) and like else (like,)
    if not all(_is_word(part) for part in parts):
        try:
            return from_json(typed)
        except BadData:
            raise BadData(f"{typed!r:.40} is no move: one is {as_words(like)}") from None
    words = typed.split()
    texts = all(isinstance(part, str) for part in parts)
    data: list[Plain] = []
    for word in words:
        if word.lower() in number_of:
            data.append(number_of[word.lower()])
        elif not texts and word.removeprefix("-").isdecimal() and len(word) < 17:
            data.append(int(word))
        else:
            data.append(word)
    if isinstance(like, tuple):
        return data
    if len(data) != 1:
        raise BadData(f"{typed!r:.40} is no move: one is {as_words(like, tuple(number_of))}")
    return data[0]


def _is_word(part: object) -> bool:
    if isinstance(part, str):
        return bool(part) and not any(char.isspace() for char in part)
    return isinstance(part, int) and not isinstance(part, bool)


def _like_tuple(data: object, like: tuple[Any, ...]) -> tuple[Any, ...]:
    items = _items(data)
    if len(items) == len(like):
        return tuple(
            from_plain(item, part)
            if isinstance(part, Enum | tuple) or is_dataclass(part)
            else _untyped(item, DEEPEST)
            for item, part in zip(items, like, strict=True)
        )
    return tuple(_untyped(item, DEEPEST) for item in items)


def _of(kind: Any, data: object, deep: int) -> Any:
    """`data` as a value of a type, as annotations name it. Raises BadData."""
    if deep < 0:
        raise BadData(f"it lies deeper than {DEEPEST} values in each other")
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        return _untyped(data, deep)
    if origin in (Union, UnionType):
        return _one_of(arguments, data, deep)
    if kind is None or kind is NoneType:
        return _expect(data is None, data, "nothing", None)
    if kind is bool:
        return _expect(isinstance(data, bool), data, "true or false", data)
    if kind is int:
        right = isinstance(data, int) and not isinstance(data, bool) and abs(data) <= MOST
        return _expect(right, data, "a whole number", data)
    if kind is str:
        return _expect(isinstance(data, str) and len(data) <= LONGEST, data, "a text", data)
    if origin in (tuple, frozenset):
        return _collection(origin, arguments, data, deep)
    if isinstance(kind, type):
        return _of_class(kind, data, deep)
    raise BadData(f"there is no reading a {kind!r:.60}: write the game's own conversions of it")


def _of_class(kind: type, data: object, deep: int) -> Any:
    if issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError:
            raise BadData(
                f"must be one of {', '.join(str(each.value) for each in kind)}, not {data!r:.40}"
            ) from None
    if is_dataclass(kind):
        names = [each.name for each in fields(kind) if each.init]
        return _built(kind, names, data if isinstance(data, Mapping) else None, data, deep)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        names = list(kind._fields)
        items = _items(data)
        return _built(
            kind,
            names,
            dict(zip(names, items, strict=False)) if len(items) == len(names) else None,
            data,
            deep,
        )
    if kind in (tuple, frozenset):
        return kind(_untyped(each, deep - 1) for each in _items(data))
    raise BadData(f"there is no reading a {kind.__name__}: write the game's own conversions of it")


def _built(kind: Any, names: list[str], found: Mapping[Any, object] | None, data: object, deep: int) -> Any:
    if found is None or set(found) != set(names):
        raise BadData(f"a {kind.__name__} has {', '.join(names)}, not {data!r:.60}")
    try:
        hints = get_type_hints(kind)
    except NameError as error:
        raise BadData(
            f"the types of {kind.__name__} cannot be read ({error}): write the game's own conversions"
        ) from None
    values = {}
    for name in names:
        try:
            values[name] = _of(hints.get(name, Any), found[name], deep - 1)
        except BadData as error:
            raise BadData(f"{name}: {error}") from None
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise BadData(str(error).partition("\n")[0]) from None


def _one_of(kinds: Sequence[Any], data: object, deep: int) -> Any:
    why = ""
    for kind in kinds:
        try:
            return _of(kind, data, deep - 1)
        except BadData as error:
            why = why or str(error)
    raise BadData(why)


def _collection(origin: Any, arguments: Sequence[Any], data: object, deep: int) -> Any:
    items = _items(data)
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        if len(items) != len(arguments):
            raise BadData(f"must have {len(arguments)} elements, not {len(items)}")
        return tuple(_of(kind, item, deep - 1) for kind, item in zip(arguments, items, strict=True))
    return origin(_of(arguments[0], item, deep - 1) for item in items)


def _untyped(data: object, deep: int) -> Any:
    if deep < 0:
        raise BadData(f"it lies deeper than {DEEPEST} values in each other")
    if isinstance(data, list | tuple):
        return tuple(_untyped(each, deep - 1) for each in _items(data))
    if data is None or (isinstance(data, bool | int) and abs(data) <= MOST):
        return data
    if isinstance(data, str) and len(data) <= LONGEST:
        return data
    raise BadData(f"must be a number, a text or a list of them, not {data!r:.40}")


def _items(data: object) -> Sequence[object]:
    if not isinstance(data, list | tuple) or len(data) > LONGEST:
        raise BadData(f"must be a list of at most {LONGEST}, not {data!r:.40}")
    return data


def _expect(right: bool, data: object, what: str, value: Any) -> Any:  # noqa: FBT001 - it is the question itself
    if not right:
        raise BadData(f"must be {what}, not {data!r:.40}")
    return value
