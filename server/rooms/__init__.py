"""The matches in progress: their rooms, members and spectators."""
