"""Ways to turn texts into vectors for the consistency metric."""
