"""JSON Schema of every message, for clients in languages that can generate types from it.

    python -m arena.protocol.schema > schema.json

On the wire, a message is encoded as msgpack. The schema describes the decoded data.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any, get_args

import msgspec

from arena.protocol.messages import ClientMessage, ServerMessage


def build_schema() -> dict[str, Any]:
    """Return the schema (JSON Schema draft 2020-12).

    The schema's `$defs` define each message, and two unions: `from_client` of all messages from clients, and `from_server`.
    """
    message_types = [*get_args(ClientMessage), *get_args(ServerMessage)]
    _, definitions = msgspec.json.schema_components(message_types, ref_template="#/$defs/{name}")
    unions = {
        name: {"oneOf": [{"$ref": f"#/$defs/{message_type.__name__}"} for message_type in get_args(union)]}
        for name, union in (("from_client", ClientMessage), ("from_server", ServerMessage))
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {**definitions, **unions}}


if __name__ == "__main__":
    if sys.platform != "win32":
        # Let `... | head` end the program silently.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    json.dump(build_schema(), sys.stdout, indent=1)
    sys.stdout.write("\n")
