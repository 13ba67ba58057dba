"""Many jobs, done once each: a durable ledger, and engines that work through it."""
