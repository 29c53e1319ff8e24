"""Webhooks: news of this server's events (tournaments), sent to one URL that the server's operator chooses.

A message is a POST of JSON, signed according to Standard Webhooks (https://www.standardwebhooks.com). A separate task sends
one message at a time, in order: a slow or absent receiver delays only later messages. A message that
`MAX_WEBHOOK_DELIVERY_ATTEMPTS` attempts did not deliver, or that does not fit into the queue, is dropped and logged.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
import secrets
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, urlsplit

import anyio
import anyio.to_thread
import msgspec

from arena.clock import TimeSource
from arena.server.core.calendar import format_unix_time_as_utc
from arena.server.core.effects import EventNews

if TYPE_CHECKING:
    from arena.server.shell.shell import Shell

log = logging.getLogger("arena.webhooks")

MAX_QUEUED_WEBHOOK_MESSAGES = 1_000
"""Maximum number of messages that wait to be sent to the webhook. If the queue is full, a new message is dropped."""
MAX_WEBHOOK_DELIVERY_ATTEMPTS = 8
"""Number of failed attempts to send a message to the webhook after which the message is dropped."""
WEBHOOK_DELIVERY_ATTEMPT_TIMEOUT_SECONDS = 10.0
"""Time limit for one attempt to send a message to the webhook, in seconds."""
MIN_AND_MAX_WEBHOOK_RETRY_PAUSE_SECONDS = (1.0, 60.0)
"""Shortest and longest pause before a message to the webhook is sent again, in seconds. Each pause is at most twice the last."""
WEBHOOK_SECRET_PREFIX = "whsec_"  # noqa: S105  prefix of a secret, not a secret
VALID_SIGNING_KEY_SIZES_BYTES = range(24, 65)
"""Valid sizes of the key that signs the messages to a webhook, in bytes: 24 to 64."""
MAX_HTTP_STATUS_LINE_BYTES = 1024
"""Maximum length of the HTTP status line in a receiver's answer, in bytes. After a longer line, the attempt has failed."""

PostFunction = Callable[[SplitResult, bytes, Mapping[str, str]], Awaitable[int]]
"""Function that posts a body with headers to a URL, and returns the HTTP status of the answer.

The function raises OSError, or ValueError for an answer that is not HTTP.
"""


class BadWebhookSetting(ValueError):
    """Raised for an unusable URL or secret of a webhook; the one-line message shows a valid form."""


def parse_webhook_url(url: str) -> SplitResult:
    """Return the parts of a webhook URL. Raises BadWebhookSetting unless it is an http or https URL in ASCII."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise BadWebhookSetting(f"{url!r:.80} is not a webhook URL: write https://HOST/PATH")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise BadWebhookSetting(f"{url!r:.80} is not ASCII: percent-encode all other characters")
    return parts


def parse_signing_key(encoded_secret: str) -> bytes:
    """Return the signing key in a secret: 24 to 64 bytes, written in base64 after an optional `whsec_`.

    Raises BadWebhookSetting for other texts.
    """
    try:
        key = base64.b64decode(encoded_secret.removeprefix(WEBHOOK_SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) not in VALID_SIGNING_KEY_SIZES_BYTES:
        raise BadWebhookSetting(
            "not a valid secret: write 24 to 64 random bytes in base64, as `openssl rand -base64 32` prints"
        )
    return key


def sign_webhook_message(signing_key: bytes, message_id: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a message (HMAC-SHA256), as the value of the header Webhook-Signature.

    message_id  value of the header Webhook-Id
    timestamp   value of the header Webhook-Timestamp, in Unix seconds
    """
    digest = hmac.digest(signing_key, f"{message_id}.{timestamp}.".encode() + body, "sha256")
    return f"v1,{base64.b64encode(digest).decode()}"


class _SendFailure(NamedTuple):
    reason: str
    may_retry: bool
    """True if another attempt may succeed, as after a timeout; False if the receiver refused the message."""


@dataclass
class _WebhookMessage:
    body: bytes
    message_id: str = field(default_factory=lambda: f"msg_{secrets.token_hex(16)}")


class WebhookSender:
    """Sender of news about a server's events (tournaments) to one webhook URL.

    Nothing is sent unless `send_queued_messages` is running.
    """

    def __init__(
        self,
        url: str,
        secret: str,
        shell: Shell,
        get_unix_time: Callable[[], float],
        clock: TimeSource,
        post: PostFunction | None = None,
    ) -> None:
        """Set up the sender. Raises BadWebhookSetting for an invalid URL or secret.

        url            address of the receiver (`parse_webhook_url`)
        secret         signing key of the messages, as text (`parse_signing_key`)
        shell          source of the news
        get_unix_time  function that returns the current time, in Unix seconds
        clock          time source for the pauses between attempts
        post           function that sends a message; None for `post_and_get_http_status`
        """
        self._url = parse_webhook_url(url)
        self._signing_key = parse_signing_key(secret)
        self._get_unix_time = get_unix_time
        self._clock = clock
        self._post = post or post_and_get_http_status
        self._queue: asyncio.Queue[_WebhookMessage] = asyncio.Queue(MAX_QUEUED_WEBHOOK_MESSAGES)
        shell.add_effect_handler(EventNews, self.enqueue_news)

    def enqueue_news(self, news: EventNews) -> None:
        """Queue a message with the news. If the queue is full, drop the message and log a warning."""
        if self._queue.full():
            log.warning(
                "webhook dropped: %d earlier ones wait for %s",
                MAX_QUEUED_WEBHOOK_MESSAGES,
                self._url.hostname,
            )
            return
        fields = msgspec.to_builtins(news.content)
        event_type = fields.pop("type")
        message = {
            "type": event_type,
            "timestamp": format_unix_time_as_utc(int(self._get_unix_time())),
            "data": {"event": news.event_name, **fields},
        }
        self._queue.put_nowait(_WebhookMessage(msgspec.json.encode(message)))

    async def send_queued_messages(self) -> None:
        """Send queued messages until cancelled."""
        while True:
            await self._send_until_received(await self._queue.get())

    async def _send_until_received(self, message: _WebhookMessage) -> None:
        """Send a message until the receiver accepts or refuses it; after MAX_WEBHOOK_DELIVERY_ATTEMPTS failures, drop it."""
        pause_seconds, max_pause_seconds = MIN_AND_MAX_WEBHOOK_RETRY_PAUSE_SECONDS
        for attempt in range(1, MAX_WEBHOOK_DELIVERY_ATTEMPTS + 1):
            failure = await self._try_to_send(message)
            if failure is None:
                return
            if not failure.may_retry or attempt == MAX_WEBHOOK_DELIVERY_ATTEMPTS:
                log.warning(
                    "webhook %s dropped after %d tries: %s", message.message_id, attempt, failure.reason
                )
                return
            await self._clock.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, max_pause_seconds)

    async def _try_to_send(self, message: _WebhookMessage) -> _SendFailure | None:
        """Send a message once. Return the reason of a failure, or None on success."""
        timestamp = str(int(self._get_unix_time()))
        headers = {
            "Content-Type": "application/json",
            "Webhook-Id": message.message_id,
            "Webhook-Timestamp": timestamp,
            "Webhook-Signature": sign_webhook_message(
                self._signing_key, message.message_id, timestamp, message.body
            ),
        }
        try:
            with anyio.fail_after(WEBHOOK_DELIVERY_ATTEMPT_TIMEOUT_SECONDS):
                status = await self._post(self._url, message.body, headers)
        except TimeoutError:
            return _SendFailure(
                f"no answer within {WEBHOOK_DELIVERY_ATTEMPT_TIMEOUT_SECONDS:g} s", may_retry=True
            )
        except (OSError, ValueError) as error:
            return _SendFailure((str(error) or type(error).__name__)[:200], may_retry=True)
        if 200 <= status < 300:
            return None
        return _SendFailure(f"status {status}", may_retry=status >= 500 or status in (408, 425, 429))


async def post_and_get_http_status(url: SplitResult, body: bytes, headers: Mapping[str, str]) -> int:
    """Send a POST on a new connection and return the status of the answer. The rest of the answer is not read.

    Redirects are not followed, because a signed message is for its receiver alone. Raises OSError if the connection
    fails, and ValueError if the answer is not an HTTP response.
    """
    is_secure = url.scheme == "https"
    tls = await anyio.to_thread.run_sync(ssl.create_default_context) if is_secure else None
    port = url.port or (443 if is_secure else 80)
    reader, writer = await asyncio.open_connection(
        url.hostname, port, ssl=tls, limit=MAX_HTTP_STATUS_LINE_BYTES
    )
    try:
        fields = {
            "Host": url.netloc,
            "Content-Length": str(len(body)),
            "Connection": "close",
            **headers,
        }
        header_text = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        writer.write(f"POST {target} HTTP/1.1\r\n{header_text}\r\n".encode("ascii") + body)
        await writer.drain()
        status_line = await reader.readline()
    finally:
        writer.transport.abort()
    version, _, code_and_reason = status_line.partition(b" ")
    if not version.startswith(b"HTTP/1.") or not code_and_reason[:3].isdigit():
        raise ValueError(
            "the answer is not an HTTP response"
            if status_line
            else "the receiver closed the connection without an answer"
        )
    return int(code_and_reason[:3])
