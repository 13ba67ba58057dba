"""Installing packages: pip works in the sandbox, and we fetch for it what the user's package index has."""
