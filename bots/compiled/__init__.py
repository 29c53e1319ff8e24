"""The algorithms of `bots.search` compiled with numba, for speed. Design notes: README.md beside this."""
