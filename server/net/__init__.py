"""From sockets to messages: connections, their limits, and what the server tells of itself."""
