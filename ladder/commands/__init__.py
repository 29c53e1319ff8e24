"""The commands `arena ladder`, `arena match` and `arena submit`."""
