"""Tests of the solver of small maps, and of its verifier."""
