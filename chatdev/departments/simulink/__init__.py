"""Simulink: block diagrams from pictures and words."""
