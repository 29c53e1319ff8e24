"""Misbehaving bots: each module is a program, `python -m tests.peers.NAME URL BOT TOKEN`.

They are written from PROTOCOL.md alone, on msgpack and a websocket or a bare socket, and import nothing
of the project. What a peer is told it prints, one JSON object a line; the last line says how its
connection ended: `{"type": "closed", "code": ..., "reason": ...}`.
"""
