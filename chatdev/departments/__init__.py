<<<<<<< HEAD
"""Departments: each a folder with the tools, commands, data sets and checks of one kind of work."""
=======
"""Departments: what chatdev can do beyond its core, each in a folder of its own (README.md)."""
>>>>>>> wt/face
