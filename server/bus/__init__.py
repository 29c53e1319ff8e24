"""What the servers of one arena tell each other: messages by subject, within one process or carried by NATS."""
