"""Commands for bot authors, such as `arena bot`, and for inspecting searches, such as `arena analyse`."""
