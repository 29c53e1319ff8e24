"""Webhooks, also to receivers that are slow or invalid: on a virtual clock, and over real sockets."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import SplitResult

import anyio
import msgspec
import pytest

from arena.server.core.effects import EventFinished, EventMatchFinished, EventNews, EventStarted, RoundPaired
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.shell import webhooks
from arena.server.shell.shell import Shell
from arena.server.shell.webhooks import (
    MAX_QUEUED_WEBHOOK_MESSAGES,
    MAX_WEBHOOK_DELIVERY_ATTEMPTS,
    WebhookSender,
    parse_webhook_url,
    post_and_get_http_status,
)
from testkit.virtual_time import VIRTUAL_CLOCK
from tests.docs.pages import text_of
from tests.virtual import virtual

KEY = bytes(range(32))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
URL = "https://receiver.example/hook?course=7"
Answer = int | Exception | None
"""Answer of a receiver: an HTTP status, an exception, or None for no answer at all."""


def load_guide_function() -> Callable[[str, Mapping[str, str], bytes], bool]:
    """Return the function in docs/events.md that checks a signature."""
    match = re.search(r"^```python\n(.*?)^```", text_of("docs/events.md"), re.MULTILINE | re.DOTALL)
    assert match is not None
    names: dict[str, Any] = {}
    exec(match[1], names)
    return cast("Callable[[str, Mapping[str, str], bytes], bool]", names["is_genuine"])


def test_the_guide_lists_every_message_with_its_fields() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text_of("docs/events.md"), re.MULTILINE)
    by_type = {name: set(re.findall(r"`(\w+)`", fields)) for name, fields in rows}
    for kind in (EventStarted, RoundPaired, EventMatchFinished, EventFinished):
        names = {field.encode_name for field in msgspec.structs.fields(kind)}
        assert names <= by_type[str(kind.__struct_config__.tag)]


class FakeShell:
    """Substitute for the shell, with the handler of event news as `handle_news`."""

    def add_effect_handler(self, effect_type: type, handler: Callable[[Any], None]) -> None:
        assert effect_type is EventNews
        self.handle_news = handler


class Receiver:
    """Receiver that gives these answers in turn, then 204, and records each message with its time."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.sent: list[tuple[float, bytes, Mapping[str, str]]] = []

    async def post(self, url: SplitResult, body: bytes, headers: Mapping[str, str]) -> int:
        assert url.geturl() == URL
        self.sent.append((VIRTUAL_CLOCK.now(), body, headers))
        answer = self.answers.pop(0) if self.answers else 204
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        return cast("int", answer)

    @property
    def events(self) -> list[str]:
        return [json.loads(body)["data"]["event"] for _, body, _ in self.sent]


def news(event: str = "cup") -> EventNews:
    return EventNews(event, EventStarted("swiss", "riskless", ("anna", "bert")))


@asynccontextmanager
async def sending(receiver: Receiver) -> AsyncIterator[Callable[[EventNews], None]]:
    """Run a webhook to a receiver during the block, and yield the function that takes event news."""
    shell = FakeShell()
    hook = WebhookSender(
        URL,
        SECRET,
        cast("Shell", shell),
        lambda: 1_800_000_000 + VIRTUAL_CLOCK.now(),
        VIRTUAL_CLOCK,
        receiver.post,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hook.send_queued_messages)
        yield shell.handle_news
        tasks.cancel_scope.cancel()


@virtual
async def test_a_message_is_json_with_a_signature_that_its_receiver_can_check() -> None:
    receiver = Receiver()
    async with sending(receiver) as handle_news:
        handle_news(news())
        await VIRTUAL_CLOCK.sleep(1)
    ((_, body, headers),) = receiver.sent
    assert json.loads(body) == {
        "type": "event_begins",
        "timestamp": "2027-01-15T08:16:40Z",
        "data": {"event": "cup", "format": "swiss", "game": "riskless", "bots": ["anna", "bert"]},
    }
    is_genuine = load_guide_function()
    assert is_genuine(SECRET, headers, body)
    assert not is_genuine(SECRET, headers, body + b" ")
    assert not is_genuine(SECRET, {**headers, "Webhook-Timestamp": "1800001001"}, body)
    assert headers["Webhook-Timestamp"] == "1800001000"


@virtual
async def test_a_message_is_retried_with_longer_pauses_and_the_same_id() -> None:
    receiver = Receiver(503, OSError("refused"), None, 429, ValueError("no HTTP"), 200)
    async with sending(receiver) as handle_news:
        handle_news(news("first"))
        handle_news(news("second"))
        await VIRTUAL_CLOCK.sleep(100)
    times = [at - receiver.sent[0][0] for at, _, _ in receiver.sent]
    assert times == pytest.approx([0, 1, 3, 3 + 10 + 4, 17 + 8, 25 + 16, 41], abs=0.01)
    assert receiver.events == ["first"] * 6 + ["second"]
    assert len({headers["Webhook-Id"] for _, _, headers in receiver.sent}) == 2
    assert len({headers["Webhook-Signature"] for _, _, headers in receiver.sent}) == 7, (
        "the signature covers the time"
    )


@virtual
async def test_an_undeliverable_message_is_dropped_and_the_next_one_is_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    receiver = Receiver(*[None] * MAX_WEBHOOK_DELIVERY_ATTEMPTS, 404, 301)
    async with sending(receiver) as handle_news:
        for event in ("lost", "refused", "moved", "received"):
            handle_news(news(event))
        await VIRTUAL_CLOCK.sleep(1_000)
    assert receiver.events == ["lost"] * MAX_WEBHOOK_DELIVERY_ATTEMPTS + ["refused", "moved", "received"]
    lines = [each.getMessage() for each in caplog.records]
    assert ["no answer within 10 s" in lines[0], "status 404" in lines[1], "status 301" in lines[2]] == [
        True
    ] * 3
    assert len(lines) == 3


@virtual
async def test_a_silent_receiver_blocks_no_caller_and_fills_a_bounded_queue(
    caplog: pytest.LogCaptureFixture,
) -> None:
    receiver = Receiver(None)
    async with sending(receiver) as handle_news:
        await VIRTUAL_CLOCK.sleep(0)
        before = VIRTUAL_CLOCK.now()
        for number in range(MAX_QUEUED_WEBHOOK_MESSAGES + 5):
            handle_news(news(str(number)))
        assert VIRTUAL_CLOCK.now() == before
        assert len([each for each in caplog.records if "dropped" in each.getMessage()]) == 5
        await VIRTUAL_CLOCK.sleep(20)
    assert receiver.events[1:] == [str(number) for number in range(MAX_QUEUED_WEBHOOK_MESSAGES)]


Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def answer_with(text: bytes) -> Talk:
    """Return a handler of connections that answers each request with `text`."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(text)
        writer.close()

    return talk


@asynccontextmanager
async def listening(talk: Talk) -> AsyncIterator[str]:
    """Run a receiver on a free port during the block, and yield its URL."""
    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204),
        (b"HTTP/1.0 500 Oh\r\nX: " + b"x" * 100_000, 500),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", 302),
        (b"", "without an answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "not an HTTP response"),
        (b"HTTP/1.1 ok\r\n", "not an HTTP response"),
        (b"x" * 100_000, "Separator is not found"),
    ],
    ids=["204", "endless", "redirect", "nothing", "ssh", "no_status", "no_line"],
)
async def test_only_the_status_of_an_answer_is_read(text: bytes, status: int | str) -> None:
    async with listening(answer_with(text)) as url:
        if isinstance(status, int):
            assert await post_and_get_http_status(parse_webhook_url(url), b"{}", {"X": "y"}) == status
        else:
            with pytest.raises(ValueError, match=status):
                await post_and_get_http_status(parse_webhook_url(url), b"{}", {"X": "y"})


async def test_a_host_posts_the_event_news_of_its_core() -> None:
    got = asyncio.get_running_loop().create_future()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = dict(line.split(": ", 1) for line in head[1:-2])
        body = await reader.readexactly(int(fields["Content-Length"]))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()
        got.set_result((head[0], fields, body))

    async with listening(talk) as url:
        settings = make_private_server_settings()
        settings.webhooks.url, settings.webhooks.secret = f"{url}?course=7", SECRET
        async with open_arena_server(settings) as host:
            host.shell._dispatch_effects([news()])
            line, fields, body = await got
    assert line == "POST /hook?course=7 HTTP/1.1"
    assert url == f"http://{fields['Host']}/hook"
    signed = fields["Webhook-Id"], fields["Webhook-Timestamp"], body
    assert fields["Webhook-Signature"] == webhooks.sign_webhook_message(KEY, *signed)
    assert json.loads(body)["type"] == "event_begins"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "receiver.example",
        "ftp://a/",
        "http://",
        "https://a:x/",
        "https://u:p@a/",
        "https://a/ä",
        "https://a/\r\nX: y",
    ],
)
def test_an_invalid_webhook_url_is_refused(url: str) -> None:
    with pytest.raises(webhooks.BadWebhookSetting):
        parse_webhook_url(url)
