"""The HTTP side: routes, streaming, access rules."""
