"""`python -m ask_book` is the same as the command `ask-book`."""

from ask_book.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
