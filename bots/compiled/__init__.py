"""The algorithms of `bots.search` compiled with numba, for speed. README.md in this folder has design notes."""
