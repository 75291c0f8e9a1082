"""Errors that are meant for people: what happened, and what to do next."""

from __future__ import annotations

import errno


class AskBookError(Exception):
    """Something the user can act on.

    `message` says what happened and where, `hint` what to do next, `code` is the
    machine's name for it (as in the HTTP contract), `exit_code` what a command returns.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "", code: str = "failed") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UsageError(AskBookError):
    """The command or the question itself is wrong: nothing was tried."""

    exit_code = 2


def system_error(error: OSError) -> AskBookError | None:
    """What the system refused and its user can allow: room on a disk, or access to a file. None for anything else."""
    said = f"{error.filename2 or error.filename or 'A file'}: {error.strerror}."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "Make room on that disk, or set XDG_CACHE_HOME and XDG_STATE_HOME to folders of another."
        return AskBookError(said, hint, "disk_full")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        hint = "Allow it, or set XDG_CACHE_HOME and XDG_STATE_HOME to folders that you may write in."
        return AskBookError(said, hint, "permission")
    return None
