"""The server: referee, rooms, sessions, lobby, ladders, and the store. It meets bots only on the wire."""
