"""The department of block diagrams: pictures, texts and models of Simulink, with or without MATLAB."""

from chatdev.department import Department

department = Department(name="simulink")
