"""The journal, which makes every accepted event durable before anybody is told of it."""
