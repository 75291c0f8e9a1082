"""The command `ask-book`."""


def main() -> int:
    """Run the command; returns its exit code."""
    return 2
