"""Settings from a file and from options, errors that name their place, and the example file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from arena.server.commands.hosting import read_server_configuration
from arena.server.commands.settings_file import (
    BadSettingsFile,
    CommandLineSetting,
    load_settings,
    make_example_settings_file,
    parse_set_options,
)
from arena.server.settings import RELOADABLE_SETTING_KEYS, SETTING_TYPES, ArenaSettings, LogFormat
from tests.bots.command_line import arena

ROOT = Path(__file__).parents[3]


def refusal(tmp_path: Path, text: str, options: Sequence[str] = ()) -> str:
    """Return the error for invalid settings in a file or in options, with FILE in place of the file's path."""
    file = tmp_path / "arena.toml"
    file.write_text(text)
    with pytest.raises(BadSettingsFile) as refused:
        read_server_configuration(file, list(parse_set_options(options)))
    line = str(refused.value).replace(str(file), "FILE")
    assert "\n" not in line
    return line


def test_the_defaults_apply_without_a_file() -> None:
    assert load_settings(None, ()).settings == ArenaSettings()


def test_the_example_file_has_every_key_with_its_default(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text(make_example_settings_file())
    assert load_settings(file, ()).settings == ArenaSettings()
    tables = tomllib.loads(make_example_settings_file())
    assert {f"{section}.{key}" for section, table in tables.items() for key in table} == set(SETTING_TYPES)
    described = re.findall(r"^# .+\n(?=\w+ = )", make_example_settings_file(), re.MULTILINE)
    assert len(described) == len(SETTING_TYPES)
    assert sum(line.endswith("(reload)\n") for line in described) == len(RELOADABLE_SETTING_KEYS)


def test_a_file_overrides_the_defaults_and_options_override_the_file(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text(
        'server.anyone = true\n[pool]\nmaps = ["world", "usa"]\npause_seconds = 1\n[log]\nformat = "json"\n'
    )
    given = [
        CommandLineSetting("--map", "pool.maps", "m1,m2"),
        *parse_set_options(["pool.pause_seconds=0.5"]),
    ]
    settings = load_settings(file, given).settings
    assert settings.server.anyone
    assert settings.pool.maps == ("m1", "m2")
    assert settings.pool.pause_seconds == 0.5
    assert settings.log.format is LogFormat.JSON


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("house.engines=greedy,alphabeta:depth=6", "house.engines", ("greedy", "alphabeta:depth=6")),
        ('house.engines=["a:b=1,c=2"]', "house.engines", ("a:b=1,c=2",)),
        ("house.engines=[]", "house.engines", ()),
        ("pool.rated=false", "pool.rated", False),
        ("server.port=0", "server.port", 0),
        ("server.name=7", "server.name", "7"),
        ("store.url=postgresql://a@/b?host=/c", "store.url", "postgresql://a@/b?host=/c"),
        ("limits.work_ms_per_second=1e9", "limits.work_ms_per_second", 1e9),
        ("log.format=json", "log.format", LogFormat.JSON),
    ],
)
def test_the_value_of_an_option_has_the_type_of_its_key(text: str, key: str, value: object) -> None:
    assert load_settings(None, list(parse_set_options([text]))).settings.get_setting(key) == value


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "[server]\nport = 1\n\n[limits]\n# many\nwatched = 3\nconections = 5\n",
            'FILE:7: limits.conections: unknown key; did you mean "connections"?',
        ),
        ("[limit]\nconnections = 5\n", 'FILE:1: limit: there is no such section; did you mean "limits"?'),
        ("[server]\nmaps = []\n", 'FILE:2: server.maps: unknown key; did you mean "pool.maps"?'),
        ("port = 1\n", 'FILE:1: port: unknown key; did you mean "server.port"?'),
        ("colour = 1\n", "FILE:1: colour: unknown key; choose from server, pool, matches, house, store, "),
        ("[server]\ncolour = 1\n", "FILE:2: server.colour: unknown key; choose from host, port, "),
        ("server = 1\n", "FILE:1: server: expected a section, as [server]"),
        ('[server]\nport = "x"\n', "FILE:2: server.port: expected a whole number, got a string"),
        ("[server]\nhost = 'a'\nport = 70000\n", "FILE:3: server.port: expected a whole number <= 65535"),
        ("server.anyone = 1\n", "FILE:1: server.anyone: expected true or false, got a whole number"),
        ("[pool]\n\npause_seconds = -1\n", "FILE:3: pool.pause_seconds: expected a number >= 0.0"),
        (
            "[pool]\npause_seconds = inf\n",
            "FILE:2: pool.pause_seconds: expected a finite number, such as 2.5",
        ),
        ("[pool]\nmaps = [\n 'm1',\n 2,\n]\n", "FILE:2: pool.maps: expected a string, got a whole number"),
        ('[log]\nformat = "xml"\n', "FILE:2: log.format: expected one of text, json"),
        ('[matches]\nthinking = "now"\n', "FILE:2: matches.thinking: expected one of reply, end"),
        (
            "[server\n",
            "FILE: not valid TOML: Expected ']' at the end of a table declaration (at line 1, column 8)",
        ),
        ('x = """\n[pool]\nmaps = 1\n"""\n[pool]\nmaps = 1\n', "FILE:1: x: unknown key"),
        ('[pool]\ngames = ["chess"]\n', "FILE:2: pool.games: no game is called 'chess'"),
        ('[pool]\nrated = true\nmaps = ["atlantis"]\n', "FILE:3: pool.maps: atlantis: no such map"),
        ('[pool]\ntime_controls = ["soon"]\n', "FILE:2: pool.time_controls: 'soon' is not a time control"),
        (
            '[pool]\nmaps = ["m1", "m1"]\n',
            "FILE:2: pool.maps: the list is empty, or has an empty or repeated value: give one or more different values",
        ),
        (
            '[pool]\nopenings = "0"\n',
            "FILE:2: pool.openings: expected shipped, none, a number of random plies from 1 to 100",
        ),
        ('[pool]\nopenings = "no-such-file"\n', "FILE:2: pool.openings: "),
        ('[matches]\nadjudicate = "x=1"\n', "FILE:2: matches.adjudicate: unknown rule 'x'"),
        (
            '[server]\nproxies = ["all"]\n',
            "FILE:2: server.proxies: 'all' does not appear to be an IPv4 or IPv6 network: write an address",
        ),
        (
            '[server]\norigins = ["https://a.b/"]\n',
            "FILE:2: server.origins: 'https://a.b/' is not an origin: write https://HOST",
        ),
        (
            '[webhooks]\nurl = "ftp://a"\n',
            "FILE:2: webhooks.url: 'ftp://a' is not a webhook URL: write https://HOST/PATH",
        ),
        (
            '[webhooks]\nurl = "https://a"\nsecret = "x"\n',
            "FILE:3: webhooks.secret: not a valid secret: write 24 to 64 random",
        ),
        ('[webhooks]\nurl = "https://a"\n', "webhooks.secret: not a valid secret: write 24 to 64 random"),
        ('[house]\nengines = [""]\n', "FILE:2: house.engines: '' is not an engine: write a list such as"),
        (
            '[store]\nkeep = "9h"\n',
            "FILE:2: store.keep: '9h' does not say which matches to keep: write a number of matches, e.g. 1000000, or an age in days, e.g. 90d",
        ),
        (
            '[store]\narchive = "x"\n',
            (
                "FILE:2: store.archive: has an effect only with store.keep: "
                "set store.keep to an age or a number of matches, such as 90d or 1000000"
            ),
        ),
        ('[store]\nkeep = "9"\narchive = "arena.toml"\n', "FILE:3: store.archive: "),
        (
            "[server]\nprocesses = 2\n",
            "FILE:2: server.processes: edges and cores share one PostgreSQL database: set store.url",
        ),
        (
            '[bus]\nurl = "nats://x"\n',
            (
                "FILE:2: bus.url: a single process needs no NATS server: "
                "leave bus.url out, or set server.role or server.processes"
            ),
        ),
        ('[tls]\ncert = "x.pem"\n', "FILE:2: tls.cert: a certificate needs its private key: set tls.key too"),
        ('[tls]\nkey = "x.pem"\n', "FILE:2: tls.key: a private key needs its certificate: set tls.cert too"),
    ],
)
def test_an_error_names_file_line_and_key(
    text: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refusal(tmp_path, text).startswith(line)


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("limits.conections=5", '--set limits.conections: unknown key; did you mean "connections"?'),
        ("limit.connections=5", '--set limit.connections: unknown key; did you mean "limits.connections"?'),
        ("server.port=x", "--set server.port: expected a whole number, got a string"),
        ("server.port", "--set server.port: write --set section.key=value"),
        ("pool.maps=[m1", "--set pool.maps: expected a list, such as a,b or"),
        ("pool.maps=atlantis", "--set pool.maps: atlantis: no such map"),
    ],
)
def test_an_error_names_the_option(option: str, line: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, "[server]\nport = 1\n", [option]).startswith(line)


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadSettingsFile, match=r"none\.toml: No such file"):
        load_settings(tmp_path / "none.toml", ())
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(BadSettingsFile, match=r"bytes\.toml:1: not UTF-8"):
        load_settings(tmp_path / "bytes.toml", ())


SHOWN = re.findall(
    r"^(?:```toml\n|[^\n]*/arena\.toml >/dev/null <<'END'\n)(.*?)^(?:```|END)$",
    (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
SHIPPED = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "docker").glob("*.toml"))]


@pytest.mark.parametrize("text", [*SHOWN, *SHIPPED])
def test_the_settings_files_of_the_guide_and_the_containers_are_valid(text: str, tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text(text)
    assert load_settings(file, ()).settings != ArenaSettings()


def test_the_guide_and_the_containers_have_settings_files() -> None:
    assert len(SHOWN) == 3
    assert len(SHIPPED) == 2


def test_the_example_is_printed() -> None:
    assert arena("serve", "--example-config").stdout == make_example_settings_file()
