"""Python in replies: what source holds, and putting part of a file into it."""
