"""`--render`: the book as Quarto makes it, where there is a Quarto."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ask_book.book.configuration import find_root
from ask_book.commands import terminal
from ask_book.errors import AskBookError


def render(folder: Path) -> None:
    """Render the book's HTML; without Quarto say so, and leave the book as it is. Raises when Quarto fails."""
    root = find_root(folder)
    quarto = shutil.which("quarto")
    if quarto is None:
        terminal.tell("There is no Quarto on the PATH: the book is read in its plain rendition.")
        return
    # the command that asked for this goes on to open the book: the hook need not start a sidecar
    environment = {**os.environ, "ASK_BOOK": "off"}
    done = subprocess.run(
        [quarto, "render", str(root), "--to", "html"], env=environment, stdout=sys.stderr, check=False
    )
    if done.returncode:
        raise AskBookError(f"Quarto could not render {root}.", "Its messages above say why.", "render")
