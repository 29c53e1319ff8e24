"""The server: referee, rooms, sessions, lobby, ladders and store. It talks to bots only over the network."""
