"""Client side of the wire protocol."""
