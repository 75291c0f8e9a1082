"""Answers as documents to keep: HTML, Markdown and PDF, and whether their quotes still stand."""
