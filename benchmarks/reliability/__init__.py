"""The studies behind docs/reliability.md: what a run survives, proven by runs (`make prove`)."""
