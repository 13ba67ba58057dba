"""MATLAB's package in Python, as the sandbox has it."""

from chatdev.departments.simulink.engine.arguments import (
    double,
    int8,
    int16,
    int32,
    int64,
    logical,
    single,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = ["double", "int8", "int16", "int32", "int64", "logical", "single", "uint8", "uint16", "uint32", "uint64"]
