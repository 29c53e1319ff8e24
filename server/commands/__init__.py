"""Commands for people who run servers: to start one, and to manage its bots, events (tournaments) and database."""
