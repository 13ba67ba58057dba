"""The version of the package, written down here and nowhere else; setup.py reads it."""

__version__ = "0.2.0"
