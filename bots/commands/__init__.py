"""Commands for bot authors and for inspecting searches."""
