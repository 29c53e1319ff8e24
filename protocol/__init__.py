"""The wire protocol: typed messages, their msgpack codec, error codes, and the record of a match.

`protocol/PROTOCOL.md` is the specification. Clients and servers import this package, but never each other.
"""
