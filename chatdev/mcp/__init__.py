"""Tools of servers that speak the Model Context Protocol (MCP), with the protocol's own SDK."""
