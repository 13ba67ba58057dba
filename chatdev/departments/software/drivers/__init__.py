"""Software that is used as its users do: windows, pages and services, by steps."""
