"""Looking things up: passages of a company's reference sheets, and cases that worked before."""
