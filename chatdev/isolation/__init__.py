"""Foreign text is parsed in a child process with limits, so that a parser's crash stays there."""
