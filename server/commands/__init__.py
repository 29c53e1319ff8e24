"""Commands for hosts, who run servers and manage their bots, events and databases."""
