"""Settings of a server from `arena.toml` and the command line, and the text of a commented example file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import EnumType
from math import isfinite
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec.structs import fields

from arena.games.name_hints import find_most_similar_name, format_name_suggestion
from arena.server.settings import RELOADABLE_SETTING_KEYS, SETTING_TYPES, ArenaSettings
from arena.toml_file import BadTomlFile, TomlFile, describe_violated_requirement

EXAMPLE_SETTINGS_FILE_HEADER = """\
# Settings of `arena serve arena.toml`: all keys, with their defaults. A file needs only the keys that differ.
# Paths are relative to the working directory. On SIGHUP the server reads its file again: keys marked (reload)
# take effect at once, the others after a restart."""


class BadSetting(ValueError):
    """Raised when the key of a setting is unknown, or its value is invalid. The message is a one-line reason."""

    def __init__(self, setting_key: str, reason: str) -> None:
        super().__init__(f"{setting_key}: {reason}")
        self.setting_key = setting_key
        self.reason = reason


class BadSettingsFile(Exception):
    """Raised for invalid server settings; the one-line message names the place (file, line, key or option) and a valid form."""


@dataclass(frozen=True)
class CommandLineSetting:
    """Setting given on the command line: the option's name, the key of the setting, and the value as typed."""

    option: str
    """Name of the option for error messages, such as `--port` or `--set server.port`."""
    setting_key: str
    value_text: str


@dataclass(frozen=True)
class LoadedSettings:
    """Settings of a server, and the place where each was set: the file or an option of the command line."""

    settings: ArenaSettings
    toml_file: TomlFile | None
    """Settings file; None without one."""
    option_by_setting_key: Mapping[str, str]
    """Option that set each setting of the command line, by the setting's key, such as `--port` for `server.port`."""

    def make_located_error(self, bad_setting: BadSetting) -> BadSettingsFile:
        """Return an error with the reason of `bad_setting`, and the place of the setting: file and line, or option."""
        if bad_setting.setting_key in self.option_by_setting_key:
            return BadSettingsFile(
                f"{self.option_by_setting_key[bad_setting.setting_key]}: {bad_setting.reason}"
            )
        line = self.toml_file.find_line_number(bad_setting.setting_key.split(".")) if self.toml_file else 0
        return BadSettingsFile(
            f"{self.toml_file.path}:{line}: {bad_setting}" if self.toml_file and line else str(bad_setting)
        )


def load_settings(settings_file: Path | None, options: Sequence[CommandLineSetting]) -> LoadedSettings:
    """Read settings: the defaults, overridden by the file, overridden by the options.

    settings_file: settings file; None if there is none

    Raises BadSettingsFile if a setting is invalid.
    """
    try:
        toml_file = None if settings_file is None else TomlFile.read_file(settings_file)
    except BadTomlFile as error:
        raise BadSettingsFile(str(error)) from None
    loaded_settings = LoadedSettings(
        ArenaSettings(), toml_file, {option.setting_key: option.option for option in options}
    )
    overridden_keys = {option.setting_key for option in options}
    try:
        for key, value in _read_setting_entries({} if toml_file is None else toml_file.data):
            if key not in overridden_keys:
                loaded_settings.settings.change_setting(
                    key, _convert_setting_value(key, value, SETTING_TYPES[key])
                )
        for option in options:
            _require_known_key(option.setting_key)
            loaded_settings.settings.change_setting(
                option.setting_key,
                _parse_setting_option(
                    option.setting_key, option.value_text, SETTING_TYPES[option.setting_key]
                ),
            )
    except BadSetting as bad:
        raise loaded_settings.make_located_error(bad) from None
    return loaded_settings


def parse_set_options(option_texts: Sequence[str]) -> Iterator[CommandLineSetting]:
    """Yield the settings in values of --set, such as `server.port=8765`. Raises BadSettingsFile for a value without `=`."""
    for assignment in option_texts:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise BadSettingsFile(f"--set {assignment}: write --set section.key=value")
        yield CommandLineSetting(f"--set {key.strip()}", key.strip(), text.strip())


def make_example_settings_file() -> str:
    """Return the text of a settings file with all keys and their defaults, each below its description."""
    settings, lines = ArenaSettings(), [EXAMPLE_SETTINGS_FILE_HEADER]
    for section in fields(settings):
        table = getattr(settings, section.name)
        lines += ["", f"# {type(table).__doc__}", f"[{section.name}]"]
        for field_ in fields(table):
            _, meta = get_args(field_.type)
            reload_note = " (reload)" if f"{section.name}.{field_.name}" in RELOADABLE_SETTING_KEYS else ""
            lines += [
                f"# {meta.description}{reload_note}",
                f"{field_.name} = {_format_toml_value(getattr(table, field_.name))}",
            ]
    return "\n".join(lines) + "\n"


def _read_setting_entries(tables: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the key, such as `server.port`, and the value of each setting in a file. Raises BadSetting for an unknown key."""
    sections = ArenaSettings.__struct_fields__
    for section, table in tables.items():
        if not isinstance(table, dict):
            is_known = section in sections
            raise BadSetting(
                section,
                f"expected a section, as [{section}]" if is_known else _describe_unknown_key(section, ()),
            )
        if section not in sections:
            raise BadSetting(
                section, f"there is no such section; {format_name_suggestion(section, sections)}"
            )
        for name, value in table.items():
            _require_known_key(f"{section}.{name}")
            yield f"{section}.{name}", value


def _require_known_key(setting_key: str) -> None:
    if setting_key not in SETTING_TYPES:
        section, _, name = setting_key.partition(".")
        raise BadSetting(
            setting_key,
            _describe_unknown_key(
                name,
                [
                    setting_key.partition(".")[2]
                    for setting_key in SETTING_TYPES
                    if setting_key.startswith(f"{section}.")
                ],
            ),
        )


def _describe_unknown_key(name: str, known_keys: Sequence[str]) -> str:
    """Return the reason for rejecting the unknown key `name`, with the most similar known key as a suggestion.

    known_keys: keys of the same section; if none is similar, the keys of all sections are searched
    """
    full_keys = {key.partition(".")[2]: key for key in SETTING_TYPES}
    similar_name = (
        None if find_most_similar_name(name, known_keys) else find_most_similar_name(name, full_keys)
    )
    if similar_name:
        return f'unknown key; did you mean "{full_keys[similar_name]}"?'
    return f"unknown key; {format_name_suggestion(name, known_keys or ArenaSettings.__struct_fields__)}"


def _convert_setting_value(setting_key: str, value: Any, setting_type: Any, *, strict: bool = True) -> Any:
    """Convert a value of the setting `setting_key` to the setting's type, and check its range.

    Raises BadSetting for a value that does not fit.

    setting_type  type of the setting, with its range, from `SETTING_TYPES`
    strict        True to reject a number that is written as text; False to convert it
    """
    base_type = get_args(setting_type)[0]
    choices = list(map(str, base_type)) if isinstance(base_type, EnumType) else list(get_args(base_type))
    if (isinstance(base_type, EnumType) or get_origin(base_type) is Literal) and value not in choices:
        raise BadSetting(setting_key, f"expected one of {', '.join(choices)}")
    try:
        converted = msgspec.convert(value, setting_type, strict=strict)
    except msgspec.ValidationError as error:
        raise BadSetting(setting_key, describe_violated_requirement(error)) from None
    if isinstance(converted, float) and not isfinite(converted):
        raise BadSetting(setting_key, "expected a finite number, such as 2.5")
    return converted


def _parse_setting_option(setting_key: str, option_text: str, setting_type: Any) -> Any:
    """Parse the text of an option that sets `setting_key`. A list is written `a,b` or as in TOML.

    Raises BadSetting if the text is not a valid value of the setting.
    """
    base_type = get_args(setting_type)[0]
    if get_origin(base_type) is not tuple:
        return _convert_setting_value(
            setting_key, option_text, setting_type, strict=base_type not in (bool, int, float)
        )
    if not option_text.startswith("["):
        return _convert_setting_value(
            setting_key, [item.strip() for item in option_text.split(",")], setting_type
        )
    try:
        return _convert_setting_value(setting_key, tomllib.loads(f"x = {option_text}")["x"], setting_type)
    except tomllib.TOMLDecodeError:
        raise BadSetting(setting_key, 'expected a list, such as a,b or ["a", "b"]') from None


def _format_toml_value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_format_toml_value, value))}]"
    return msgspec.json.encode(value).decode()
