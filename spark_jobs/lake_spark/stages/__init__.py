"""What a step can be asked to do: one module per stage."""
