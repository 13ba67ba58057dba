"""Python in replies: what a file consists of, whether a block is part of it, and putting that part into the file."""
