"""What a study found: means, differences and breakdowns with confidence intervals, as text, data and a page."""
