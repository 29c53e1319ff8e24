"""The command `arena check`."""
