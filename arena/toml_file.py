"""TOML files that people write, read into typed structs. Errors name the file, the line, the key and a valid form."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from arena.games.name_hints import format_name_suggestion

TOML_TYPE_DESCRIPTIONS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
"""Description of each type in words of TOML, by the type's name in error messages of msgspec."""

_NON_BLANK_PATTERN = r"\S"
NonBlankText = Annotated[str, Meta(pattern=_NON_BLANK_PATTERN)]
"""Type of a struct's field whose value in the TOML file must be a text that is not blank."""

TOML_TOKEN_PATTERN = re.compile(
    r"""
    "{3} (?: \\. | [^\\] )*? "{3,5} | '{3} .*? '{3,5}  # a string of several lines
    | " (?: \\. | [^\\"] )* " | '[^']*' | \#[^\n]* | [\n\[\]{}]""",
    re.DOTALL | re.VERBOSE,
)
"""Pattern of the tokens that tell where a statement of valid TOML ends: strings, comments, line ends and brackets."""

S = TypeVar("S", bound=Struct)
A = TypeVar("A")
B = TypeVar("B")

KeyPath = Sequence[str | int]
"""Path to a value in a file: names of keys, and indices (from 0) into lists."""


MAX_TOML_FILE_BYTES = 1_000_000
"""Maximum size of a TOML file, in bytes. The file of a largest map (1,000 territories) has a tenth of this size."""


class BadTomlFile(ValueError):
    """Raised when a TOML file cannot be read, or has an invalid key or value; the message is one line that names the file."""

    def __init__(self, message: str) -> None:
        super().__init__(escape_unprintable(message))


@dataclass(frozen=True)
class TomlFile:
    """A TOML file: its path, its text, and the data in it."""

    path: Path
    text: str
    data: dict[str, Any]

    @classmethod
    def read_file(cls, path: Path) -> TomlFile:
        """Read the TOML file at `path`. Raises BadTomlFile if it cannot be read, is too large, or is not valid TOML."""
        try:
            with path.open("rb") as file:
                content = file.read(MAX_TOML_FILE_BYTES + 1)
        except IsADirectoryError:
            raise BadTomlFile(f"{path}: a folder; name a file in it") from None
        except (OSError, ValueError) as error:
            # a ValueError means an impossible path: one with a null character
            raise BadTomlFile(f"{path}: {error.strerror if isinstance(error, OSError) else error}") from None
        if len(content) > MAX_TOML_FILE_BYTES:
            raise BadTomlFile(f"{path}: too large; a file may have at most {MAX_TOML_FILE_BYTES:,} bytes")
        return cls.parse_bytes(path, content)

    @classmethod
    def parse_bytes(cls, path: Path, content: bytes) -> TomlFile:
        """Parse the `content` of the file at `path`. Raises BadTomlFile if it is not valid TOML."""
        try:
            text = re.sub(r"\r\n?", "\n", content.decode())
            return cls(path, text, tomllib.loads(text))
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise BadTomlFile(f"{path}:{line}: not UTF-8 text; save the file as UTF-8") from None
        except RecursionError:
            raise BadTomlFile(f"{path}: not valid TOML: its arrays or tables are nested too deeply") from None
        except ValueError as error:
            # tomllib also passes on the error of int() for a number of 5,000 digits
            raise BadTomlFile(f"{path}: not valid TOML: {error}") from None

    def convert_to_struct(self, struct: type[S], dec_hook: Callable[[Any, Any], Any] | None = None) -> S:
        """Return the data as a struct of the type `struct`.

        dec_hook  function for `msgspec.convert` that converts values of types that msgspec does not know

        Raises BadTomlFile for an unknown key, and for a missing or invalid value.
        """
        self._reject_unknown_keys(self.data, struct, ())
        try:
            return msgspec.convert(self.data, struct, dec_hook=dec_hook)
        except msgspec.ValidationError as error:
            key_path = str(error).partition(" - at ")[2]
            keys = [name or int(index) for name, index in re.findall(r"\.([^.[`]+)|\[(\d+)\]", key_path)]
            raise self.make_error_at(keys, describe_violated_requirement(error)) from None
        except OverflowError:
            # msgspec 0.19 passes on this error for a whole number of 310 digits where a number belongs
            line = re.split(r"[0-9a-fA-F_]{256}", self.text, maxsplit=1)[0].count("\n") + 1
            raise BadTomlFile(
                f"{self.path}:{line}: the whole number is too large; write at most 18 digits"
            ) from None

    def parse_value_at(self, key_path: KeyPath, parse_value: Callable[[A], B], value: A) -> B:
        """Return `parse_value(value)` for the value at `key_path`.

        If `parse_value` raises ValueError, raises BadTomlFile with the same reason, and the file and line of the value.
        """
        try:
            return parse_value(value)
        except ValueError as error:
            raise self.make_error_at(key_path, str(error)) from None

    def make_error_at(self, key_path: KeyPath, reason: str) -> BadTomlFile:
        """Return an error that names the file, the line of the value at `key_path`, the keys of this path, and `reason`."""
        line = self.find_line_number(key_path)
        place = f"{self.path}:{line}" if line else str(self.path)
        name = ".".join(f"{key:.40}" for key in key_path if isinstance(key, str))
        return BadTomlFile(": ".join(part for part in (place, name, reason) if part))

    def find_line_number(self, key_path: KeyPath) -> int:
        """Return the number, from 1, of the line on which `key = value` begins for the value at `key_path`; 0 if there is none.

        A statement may span several lines. It ends with the first line end outside of brackets and strings.
        """
        lines, ends = self.text.split("\n"), [0]
        number = depth = 0
        for lexeme in TOML_TOKEN_PATTERN.findall(f"{self.text}\n"):
            number += lexeme.count("\n")
            depth += (lexeme in ("[", "{")) - (lexeme in ("]", "}"))
            if lexeme == "\n" and depth == 0:
                ends.append(number)
        index = bisect_left(
            ends, x=True, key=lambda end: _has_value_at(tomllib.loads("\n".join(lines[:end])), key_path)
        )
        return ends[index - 1] + 1 if 0 < index < len(ends) else 0

    def _reject_unknown_keys(self, table: dict[str, Any], struct: type[Struct], key_path: KeyPath) -> None:
        """Raise BadTomlFile if `table`, or a table nested in it, has a key for which its struct type has no field.

        struct    type to which `table` will be converted; the types of its fields are those of nested tables
        key_path  path of `table` in the file
        """
        known_fields = {field.encode_name: field for field in fields(struct)}
        for key, value in table.items():
            if key not in known_fields:
                raise self.make_error_at(
                    (*key_path, key), f"unknown key; {format_name_suggestion(key, known_fields)}"
                )
            field_type = known_fields[key].type
            tables = _list_tables_in(value, expects_list=get_origin(field_type) in (list, tuple))
            for item_type in (field_type, *get_args(field_type)):
                if isinstance(item_type, type(Struct)):
                    for index_keys, item in tables:
                        self._reject_unknown_keys(item, item_type, (*key_path, key, *index_keys))


def escape_unprintable(message: str) -> str:
    """Return an error message in one line: line breaks and other unprintable characters, as in a key or a name, are escaped."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in message)


def describe_violated_requirement(error: msgspec.ValidationError) -> str:
    """Return the requirement that a value violates, in words of TOML, such as `expected a whole number >= 1`.

    msgspec also offers `null` for an optional key. The result leaves this out, because TOML has no null.
    """
    expectation = (
        str(error).partition(" - at ")[0].replace("`", "").replace(" | null", "").replace(" | ", " or ")
    )
    expectation = re.sub("^Object missing required field (.*)", r"the key \1 is missing", expectation)
    expectation = expectation.replace(f"matching regex {_NON_BLANK_PATTERN!r}", "that is not blank")
    return expectation[0].lower() + re.sub(
        r"\b\w+\b", lambda word: TOML_TYPE_DESCRIPTIONS.get(word[0], word[0]), expectation[1:]
    )


def _list_tables_in(table_or_list: Any, *, expects_list: bool) -> list[tuple[KeyPath, dict[str, Any]]]:
    """Return the tables in a value of a TOML file, each as (path from the value to the table, table).

    A table has the path (), and a table in a list has (its index,). List items that are not tables are left out.

    expects_list  True if the value must be a list, False if it must be a table; a value of another type yields no tables
    """
    if not expects_list:
        return [((), table_or_list)] if isinstance(table_or_list, dict) else []
    items = enumerate(table_or_list) if isinstance(table_or_list, list) else ()
    return [((index,), item) for index, item in items if isinstance(item, dict)]


def _has_value_at(toml_data: Any, key_path: KeyPath) -> bool:
    for key in key_path:
        try:
            toml_data = toml_data[key]
        except (LookupError, TypeError):
            return False
    return True
