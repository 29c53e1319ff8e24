from tests.server.bus.buses import join, nats, own_nats, shared_nats

__all__ = ["join", "nats", "own_nats", "shared_nats"]
