"""Tests of learning an evaluator's weights."""
