"""The journal: it makes every accepted event durable before it is sent to anyone."""
