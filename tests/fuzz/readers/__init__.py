"""Every reader of what others wrote, by department: a name, a function that reads a text and holds what must hold of
it, and the pieces that mean something to it.

A reader raises nothing but a failed assertion: the errors that it documents are part of reading.
"""
