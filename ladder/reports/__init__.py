"""What an event is told as: tables, and a page."""
