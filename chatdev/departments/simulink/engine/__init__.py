"""A stand-in for `matlab.engine`, which builds models as Simulink does and refuses what it refuses.

`rules.py` is the model under construction, `session.py` what a program calls, `matlab/` the package it imports. All but
this line runs in the sandbox, with the standard library alone.
"""
