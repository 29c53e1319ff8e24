"""Maps solved by the compiled solver."""
