"""What this machine can do for a run, and how to get the rest (`chatdev doctor`)."""
