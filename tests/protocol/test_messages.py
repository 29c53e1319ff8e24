"""Messages as logs show them, and descriptions of engines."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from arena.protocol.engines import EngineInfo
from arena.protocol.messages import Hello, Message, Welcome, redact_secrets
from arena.protocol.values import ClientLimits
from tests.protocol.strategies import client_messages, server_messages


@given(client_messages | server_messages)
@example(Hello("ada", token="hush", session="hush"))
@example(Welcome("server 1", "ada", "hush", ClientLimits(1, 1, 1)))
def test_a_message_without_its_secrets_is_otherwise_the_same(message: Message) -> None:
    shown = redact_secrets(message)
    assert type(shown) is type(message)
    for field in message.__struct_fields__:
        if field in ("token", "session"):
            assert getattr(shown, field) in ("", "…")
        else:
            assert getattr(shown, field) == getattr(message, field)


def test_a_missing_token_is_not_shown_as_a_secret() -> None:
    assert redact_secrets(Hello("ada")) == Hello("ada")


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        (EngineInfo("greedy"), "greedy"),
        (EngineInfo("random", {"seed": "3"}), "random:seed=3"),
        (EngineInfo("random", threads=1), "random, 1 thread"),
        (EngineInfo("jamboree", {"depth": "4", "exact": "yes"}, 2), "jamboree:depth=4,exact=yes, 2 threads"),
    ],
)
def test_an_engine_is_shown_with_its_options_and_the_threads_that_are_known(
    engine: EngineInfo, text: str
) -> None:
    assert str(engine) == text
