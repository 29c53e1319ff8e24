"""Simulation of a whole arena in one process, on one virtual clock, determined by one seed."""
