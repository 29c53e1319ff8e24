"""Cost for honest bots when strangers use all limits, by kind of request."""
