"""The commands: one module each, with `run(options) -> exit code`."""
