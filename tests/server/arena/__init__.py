"""Tests of many servers as one arena."""
