import pytest

from ask_book.daemon.ports import bind, bind_one_of_the_books
from ask_book.errors import AskBookError


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid"])
def test_an_address_of_another_machine_is_not_called_taken(host: str) -> None:
    with pytest.raises(AskBookError, match=f"{host} is no address of this machine"):
        bind_one_of_the_books("0" * 12, host)


def test_a_taken_port_is_an_error_of_the_system() -> None:
    with bind("127.0.0.1", 0) as listener, pytest.raises(OSError, match="in use"):
        bind("127.0.0.1", listener.getsockname()[1])
