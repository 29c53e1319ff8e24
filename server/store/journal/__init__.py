"""The journal: it makes every accepted event durable before the event is sent to anyone."""
