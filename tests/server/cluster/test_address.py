"""Parsing of the setting `bus.url`."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.server.cluster.address import BUS_PASSWORD_FILE_ENV_VARIABLE, NatsOptions, parse_bus_url
from arena.server.cluster.bus import BusError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nats://here", NatsOptions(("nats://here:4222",))),
        ("nats://here:5", NatsOptions(("nats://here:5",))),
        ("nats://[::1]:5/", NatsOptions(("nats://[::1]:5",))),
        ("tls://here", NatsOptions(("tls://here:4222",), requires_tls=True)),
        ("nats://me:it@here", NatsOptions(("nats://here:4222",), "me", "it")),
        ("nats://word@here", NatsOptions(("nats://here:4222",), token="word")),
        ("nats://me:it@a, nats://me:it@b:1", NatsOptions(("nats://a:4222", "nats://b:1"), "me", "it")),
        ("nats://me:it@a,nats://b", NatsOptions(("nats://a:4222", "nats://b:4222"), "me", "it")),
    ],
)
def test_a_bus_url_is_parsed(text: str, expected: NatsOptions) -> None:
    assert parse_bus_url(text) == expected


words = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=10)


@given(words, words)
def test_a_user_and_a_password_may_have_any_quoted_characters(user: str, password: str) -> None:
    found = parse_bus_url(f"nats://{quote(user, safe='')}:{quote(password, safe='')}@here")
    assert (found.user, found.password) == (user, password)


def test_a_url_without_a_password_takes_it_from_the_password_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "secret"
    file.write_text("it\n")
    monkeypatch.setenv(BUS_PASSWORD_FILE_ENV_VARIABLE, str(file))
    assert parse_bus_url("nats://me@here") == NatsOptions(("nats://here:4222",), "me", "it")
    assert parse_bus_url("nats://me:other@here").password == "other"


def test_a_missing_password_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BUS_PASSWORD_FILE_ENV_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(BusError, match=r"ARENA_BUS_PASSWORD_FILE=.*none cannot be read"):
        parse_bus_url("nats://me@here")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "here",
        "here:4222",
        "http://here",
        "nats://",
        "nats://:4222",
        "nats://me:secret@here:port",
        "nats://me:secret@here:0",
        "nats://me:secret@here:70000",
        "nats://me:secret@here/path",
        "nats://me:secret@here?x=1",
        "nats://me:secret@[::1",
        "nats://a,",
    ],
)
def test_an_invalid_bus_url_is_reported_without_its_password(text: str) -> None:
    with pytest.raises(
        BusError, match="is not the address of a NATS server: write nats://HOST:4222"
    ) as refused:
        parse_bus_url(text)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nats://a,tls://b", "mixes servers with and without TLS"),
        ("nats://x:1@a,nats://y:1@b", "the same user"),
    ],
)
def test_servers_of_one_url_must_have_the_same_scheme_and_credentials(text: str, reason: str) -> None:
    with pytest.raises(BusError, match=reason):
        parse_bus_url(text)
