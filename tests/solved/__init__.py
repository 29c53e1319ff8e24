"""Tests of the tables of solved maps."""
