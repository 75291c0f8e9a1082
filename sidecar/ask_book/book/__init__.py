"""A book: its settings, its manifest, and its plain rendition when it was never rendered."""
