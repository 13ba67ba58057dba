"""`chatdev mcp`: companies and the departments' tools for coding agents, through the Model Context Protocol."""
