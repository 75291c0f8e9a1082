import errno

import pytest

from ask_book.errors import system_error


@pytest.mark.parametrize(
    ("number", "code"), [(errno.ENOSPC, "disk_full"), (errno.EACCES, "permission"), (errno.EROFS, "permission")]
)
def test_what_the_system_refuses_names_the_file_and_a_way_out(number: int, code: str) -> None:
    error = system_error(OSError(number, "No", "a.json"))
    assert error is not None
    assert (error.code, error.message) == (code, "a.json: No.")
    assert "XDG_CACHE_HOME" in error.hint


def test_a_copy_names_where_it_goes() -> None:
    error = system_error(OSError(errno.ENOSPC, "No space left on device", "from", None, "to"))
    assert error is not None
    assert error.message == "to: No space left on device."


def test_other_failures_of_the_system_are_not_explained_away() -> None:
    assert system_error(FileNotFoundError(errno.ENOENT, "No such file or directory", "a")) is None
