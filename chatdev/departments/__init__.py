"""Departments: what chatdev can do beyond its core, each in a folder of its own (README.md)."""
