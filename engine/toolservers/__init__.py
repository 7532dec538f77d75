"""Tool servers: programs and web addresses that offer tools to a model, by the Model Context Protocol (MCP)."""
