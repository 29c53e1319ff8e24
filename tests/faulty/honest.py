"""A bot for tic-tac-toe that does everything right. The faulty ones change one thing each."""

from __future__ import annotations

import os
import time
from typing import Any, ClassVar

import msgpack
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

Message = dict[str, Any]


class Honest:
    """Each method is a step that a faulty bot may get wrong."""

    subprotocols: ClassVar[Any] = ["arena.v1.msgpack"]
    matches = 1

    def __init__(self) -> None:
        self.session = ""
        self.answers: dict[str, Message] = {}
        self.socket: ClientConnection

    def run(self) -> None:
        """Connect, and again when the connection is lost."""
        for _ in range(100):
            try:
                with connect(
                    os.environ["ARENA_URL"], subprotocols=self.subprotocols, compression=None
                ) as self.socket:
                    self.serve()
                if self.socket.close_code != 1001:
                    break
                time.sleep(1)  # the server stops, and is back in a while
            except (OSError, WebSocketException):
                time.sleep(0.1)

    def serve(self) -> None:
        self.greet()
        for frame in self.socket:
            assert isinstance(frame, bytes)
            message = msgpack.unpackb(frame)
            getattr(self, f"on_{message['type']}", self.on_other)(message)

    def greet(self) -> None:
        self.say(**self.hello())

    def hello(self) -> Message:
        hello = {
            "type": "hello",
            "name": os.environ["ARENA_NAME"],
            "token": os.environ.get("ARENA_TOKEN", ""),
        }
        return {**hello, "session": self.session, "matches": self.matches, "games": ["tictactoe"]}

    def say(self, **message: object) -> None:
        self.socket.send(msgpack.packb(message))

    def on_welcome(self, message: Message) -> None:
        self.session = message["session"]

    def on_start(self, message: Message) -> None:
        self.say(type="ready", match=message["match"])

    def on_turn(self, message: Message) -> None:
        match, ply = message["match"], message["ply"]
        last = self.answers.get(match, {"ply": -1})
        if ply > last["ply"]:
            last = self.answers[match] = self.move(message)
        if ply == last["ply"]:
            self.say(**last)

    def move(self, turn: Message) -> Message:
        return {"type": "move", "match": turn["match"], "ply": turn["ply"], "move": self.choose(turn)}

    def choose(self, turn: Message) -> Any:
        return next(cell for cell in (4, 0, 2, 6, 8, 1, 3, 5, 7) if cell not in turn["moves"])

    def on_end(self, message: Message) -> None:
        self.answers.pop(message["match"], None)

    def on_error(self, message: Message) -> None:
        pass

    def on_other(self, message: Message) -> None:
        pass


if __name__ == "__main__":
    Honest().run()
