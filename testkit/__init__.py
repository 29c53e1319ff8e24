"""Parts that tests and benchmarks share: bots that play, programs that disturb or kill servers, and tools they need."""
