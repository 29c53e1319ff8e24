"""The JSON Schema of the messages: it has all messages, and each reference has a target."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import get_args

from msgspec import structs

from arena.protocol.messages import ClientMessage, Message, ServerMessage
from arena.protocol.schema import build_schema


def test_every_message_is_there_with_its_fields_and_its_tag() -> None:
    parts = build_schema()["$defs"]
    for kind in get_args(Message):
        fields = {field.encode_name for field in structs.fields(kind)}
        assert set(parts[kind.__name__]["properties"]) == fields | {"type"}
        assert parts[kind.__name__]["properties"]["type"] == {"enum": [kind.__struct_config__.tag]}


def test_each_side_is_told_apart() -> None:
    parts = build_schema()["$defs"]
    assert len(parts["from_client"]["oneOf"]) == len(get_args(ClientMessage))
    assert len(parts["from_server"]["oneOf"]) == len(get_args(ServerMessage))


def test_every_reference_leads_somewhere() -> None:
    whole = build_schema()
    found = set(re.findall(r'"#/\$defs/([A-Za-z_]+)"', json.dumps(whole)))
    assert found
    assert found <= set(whole["$defs"])


def test_the_program_ends_silently_if_its_output_is_closed() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = subprocess.run(
            [sys.executable, "-m", "arena.protocol.schema"],
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writer)
    assert result.stderr == b""
