"""Departments: each a folder with the tools, commands, data sets and checks of one kind of work."""
