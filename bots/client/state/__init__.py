"""What the client decides, without touching the world. Pure."""
