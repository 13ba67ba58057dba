"""Measuring companies: tasks to run them on, metrics of what they make, and comparisons."""
