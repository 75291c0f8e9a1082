"""ask-book: answers from a Quarto book, each claim with the passage it comes from."""

__version__ = "0.1.0"
