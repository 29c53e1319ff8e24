"""The wire: typed messages, their msgpack codec, error codes, and the record of a match.

`protocol/PROTOCOL.md` is the specification. Both sides import this package and nothing of each other.
"""
