"""The journal: every accepted event, durable before anyone is told."""
