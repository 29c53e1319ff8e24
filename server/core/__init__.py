"""Core of an arena (one game server): a deterministic state machine of its clients, its matchmaker and its matches.

inputs -> Core.handle_input(input, now) -> effects

Nothing here does I/O, reads a clock, draws a random number or logs. The same settings, seed, inputs and times give the
same effects, byte for byte. The module `inputs` lists all inputs of the core, and `effects` all its effects. Times are
integer nanoseconds of one monotonic clock.
"""
