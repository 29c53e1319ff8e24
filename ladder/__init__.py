"""Ladders: local tournaments in which many bots play matches, on one machine or on a Dask cluster.

The ladder starts the bots, or waits until they connect by themselves.
"""
