"""Software measured: the data sets of requirements, and what becomes of a finished run."""
