"""The sidecar as a process: start, stop, status, state."""
