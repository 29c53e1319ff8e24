"""What tests and benchmarks share: programs that play, disturb and kill, and what they need of a machine."""
