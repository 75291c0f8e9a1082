"""The Quarto on the PATH."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

OLDEST = (1, 7)
SECONDS = 20


@dataclass(frozen=True)
class Quarto:
    """`version` is "" when it does not say it."""

    path: str
    version: str

    @property
    def is_supported(self) -> bool:
        """Whether it is new enough. `99.9.9` is what a build from Quarto's sources calls itself."""
        return tuple(int(part) for part in re.findall(r"\d+", self.version)[:2]) >= OLDEST


def find_quarto(env: Mapping[str, str]) -> Quarto | None:
    """The first on the PATH; None when there is none."""
    path = shutil.which("quarto", path=env.get("PATH", ""))
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=SECONDS, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return Quarto(path, "")
    return Quarto(path, done.stdout.strip())
