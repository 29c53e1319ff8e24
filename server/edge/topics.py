"""Topics that clients of this edge follow: matches, and the listing (matches in progress, bots, challenges, events).

A message is encoded once for all followers. Messages are gathered for `PUBLISHING_DELAY_SECONDS`. They are then sent to a few
followers at a time, spread over another `PUBLISHING_DELAY_SECONDS`, so that a player's move waits only for a few followers.

A follower that reads slowly misses messages, and later gets the whole match again. So does a follower whose address has
used up its work budget, the CPU time that the server spends for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from websockets.frames import Frame, Opcode

from arena.clock import TimeSource
from arena.protocol.codec import encode_message
from arena.protocol.messages import End, ServerMessage, Update
from arena.server.core.effects import LOBBY_LISTING_TOPIC

if TYPE_CHECKING:
    from arena.server.edge.session import Session

MAX_UNSENT_BYTES_PER_FOLLOWER = 16 * 1024
"""Number of unsent bytes above which a follower (client that watches) gets no more messages until it has read some."""
PUBLISHING_DELAY_SECONDS = 0.05
"""Time for which messages to clients that watch are gathered before they are sent together, in seconds."""
SKIPPED_FOLLOWER_CHECK_INTERVAL_SECONDS = 1.0
"""Interval between checks whether a follower that has missed messages can receive again, in seconds."""
MATCH_UPDATE_CPU_COST_US = 20
"""Cost of sending a follower the latest messages of a match, in µs of the work budget (CPU time) of the follower's address."""
WHOLE_MATCH_CPU_COST_US = 100
"""Cost of sending a follower the whole match again, in µs of the work budget (CPU time) of the follower's address."""
FOLLOWERS_PER_BATCH = 4
"""Number of followers to which messages are sent without a pause. Moves of players can be handled in each pause."""
CURSOR_AFTER_MISSED_MESSAGE = -1
"""Value in `Topic._cursors_by_follower` for a follower that has missed a message, and must get the whole match again."""
CURSOR_WHOLE_MATCH_REQUESTED = -2
"""Value in `Topic._cursors_by_follower` for a follower that has missed a message, while the core sends the whole match.

The core answers with a `view` message.
"""


def encode_server_frame(message: ServerMessage) -> bytes:
    """Return a message as one websocket frame. It can be sent to every client, because a server's frames are not masked."""
    return Frame(Opcode.BINARY, encode_message(message)).serialize(mask=False)


class Topic:
    """Clients of this process that follow one topic (a match or the listing), and the messages not yet sent to all of them."""

    def __init__(self, name: str, clock: TimeSource) -> None:
        self.name = name
        self._clock = clock
        self._cursors_by_follower: dict[Session, int] = {}
        """Number of the next message to send to each follower.

        For a follower that has missed a message, the value is CURSOR_AFTER_MISSED_MESSAGE or CURSOR_WHOLE_MATCH_REQUESTED.
        """
        self._frames: list[bytes] = []
        """Frames of the latest messages. Older ones are dropped once they were sent to all followers that keep up."""
        self._next_message_number = 0
        """Number of the next message to be published; the first message has number 0."""
        self._is_delivering = False
        """True while a delivery of messages to the followers is in progress or scheduled."""
        self._end_frame: bytes | None = None
        """Frame of the match's `end` message; None while the match goes on."""

    def __len__(self) -> int:
        return len(self._cursors_by_follower)

    @property
    def has_match_ended(self) -> bool:
        """True once the topic's match has ended. Always False for the listing, which never ends."""
        return self._end_frame is not None

    def add_follower(self, follower: Session) -> None:
        """Add a client that has just received the match so far, or the listing. The client gets all messages from now on."""
        self._cursors_by_follower[follower] = self._next_message_number

    def remove_follower(self, follower: Session) -> None:
        """Stop sending messages to a follower. Do nothing if the client does not follow this topic (match, or listing)."""
        self._cursors_by_follower.pop(follower, None)

    def publish_to_followers(self, message: ServerMessage) -> None:
        """Send a message to all followers after a short delay. Followers that read too slowly may miss it."""
        if type(message) is Update:
            message = replace(message, watching=len(self))
        frame = encode_server_frame(message)
        if type(message) is End:
            self._end_frame = frame
        else:
            self._frames.append(frame)
            self._next_message_number += 1
        if not self._is_delivering:
            self._schedule_delivery()

    def _schedule_delivery(self) -> None:
        self._is_delivering = True
        self._clock.call_later(PUBLISHING_DELAY_SECONDS, self._start_delivery)

    def _start_delivery_if_idle(self) -> None:
        if not self._is_delivering:
            self._start_delivery()

    def _start_delivery(self) -> None:
        self._is_delivering = True
        self._send_to_next_followers(
            list(self._cursors_by_follower), self._next_message_number, self.has_match_ended
        )

    def _send_to_next_followers(
        self,
        followers: list[Session],
        end_message_number: int,
        is_last: bool,  # noqa: FBT001  a timer calls it
    ) -> None:
        """Send the first `FOLLOWERS_PER_BATCH` of `followers` the messages that they lack. After a pause, go on with the rest.

        end_message_number  number of messages that were published before this round of sending began; later ones wait
                            for the next round
        is_last             True if the match was over when the round began, so that the round also sends the `end`
                            message
        """
        for follower in followers[:FOLLOWERS_PER_BATCH]:
            number = self._cursors_by_follower.get(follower)
            if number is None:
                continue
            if is_last:
                self._send_end_message(follower, number)
            elif number != self._next_message_number:
                self._send_latest_messages(follower, number)
        followers = followers[FOLLOWERS_PER_BATCH:]
        if followers:
            follower_count = max(FOLLOWERS_PER_BATCH, len(self._cursors_by_follower))
            pause_seconds = PUBLISHING_DELAY_SECONDS * FOLLOWERS_PER_BATCH / follower_count
            self._clock.call_later(
                pause_seconds, self._send_to_next_followers, followers, end_message_number, is_last
            )
            return
        # Messages published during this round go to all followers in the next round.
        self._frames = self._list_kept_frames_from(end_message_number)
        self._is_delivering = False
        if self._frames or (self.has_match_ended and not is_last):
            self._schedule_delivery()
        elif CURSOR_AFTER_MISSED_MESSAGE in self._cursors_by_follower.values() and not self.has_match_ended:
            self._clock.call_later(SKIPPED_FOLLOWER_CHECK_INTERVAL_SECONDS, self._start_delivery_if_idle)

    def _send_latest_messages(self, follower: Session, first_number: int) -> None:
        """Send a follower the messages from number `first_number` on. If the topic is the listing, send only the latest one.

        first_number  number of a message; or CURSOR_AFTER_MISSED_MESSAGE or CURSOR_WHOLE_MATCH_REQUESTED, as in `_cursors_by_follower`

        A follower that reads slowly, or whose address has used up its work budget (CPU time), gets nothing now. Once
        the follower can receive again, the core is asked for the whole match, which is sent instead of the missed
        messages.
        """
        is_slow = follower.unsent_byte_count > MAX_UNSENT_BYTES_PER_FOLLOWER
        if self.name == LOBBY_LISTING_TOPIC:
            if not is_slow:
                self._cursors_by_follower[follower] = self._next_message_number
                follower.write_frames(self._frames[-1])
        elif first_number >= 0 and not is_slow and follower.try_spend_work_budget(MATCH_UPDATE_CPU_COST_US):
            self._cursors_by_follower[follower] = self._next_message_number
            follower.write_frames(b"".join(self._list_kept_frames_from(first_number)))
        elif (
            first_number == CURSOR_AFTER_MISSED_MESSAGE
            and not is_slow
            and follower.try_spend_work_budget(WHOLE_MATCH_CPU_COST_US)
        ):
            self._cursors_by_follower[follower] = CURSOR_WHOLE_MATCH_REQUESTED
            follower.request_whole_match_again(self.name)
        elif first_number >= 0:
            self._cursors_by_follower[follower] = CURSOR_AFTER_MISSED_MESSAGE

    def _send_end_message(self, follower: Session, first_number: int) -> None:
        """Send a follower the messages from number `first_number` on, and the `end`. Then remove the follower.

        If `first_number` is CURSOR_AFTER_MISSED_MESSAGE or CURSOR_WHOLE_MATCH_REQUESTED, as in `_cursors_by_follower`, send the `end`
        alone. Even a slow follower gets it.
        """
        self.remove_follower(follower)
        follower.handle_topic_end(self.name)
        follower.write_frames(
            b"".join(self._list_kept_frames_from(first_number) if first_number >= 0 else ())
            + (self._end_frame or b"")
        )

    def _list_kept_frames_from(self, first_number: int) -> list[bytes]:
        """Return the frames of the messages from number `first_number` on that are still kept."""
        return self._frames[max(0, first_number - self._next_message_number + len(self._frames)) :]
