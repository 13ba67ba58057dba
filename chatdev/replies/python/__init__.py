"""Python in replies: what a file consists of, whether a block is part of it, and putting that part into the file.

Begin with `reader.py` (text in, plain data out) and `merge.py` (a part into its file).
"""
