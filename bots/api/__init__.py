"""What the author of a bot meets."""
