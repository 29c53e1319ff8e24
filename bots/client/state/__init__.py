"""Decision logic of the client; pure, without I/O."""
