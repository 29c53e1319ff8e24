"""The deterministic state machine of an arena: lobby, matchmaker and matches.

inputs -> Core.handle(input, now) -> effects

Nothing here does I/O, reads a clock, draws a random number or logs. The same settings, seed, inputs and times give the
same effects, byte for byte. `inputs` lists what a core is given, `effects` what it answers. Times are integer
nanoseconds of one monotonic clock.
"""
