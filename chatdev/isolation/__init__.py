"""What others wrote is read in a child with limits: a text that takes a parser down takes nothing else with it."""
