import pytest

from ask_book.llm.endpoint import Endpoint, base_url, endpoint_of, is_loopback
from ask_book.llm.errors import NoKeyError

URL, KEY = "ASK_BOOK_BASE_URL", "ASK_BOOK_API_KEY"
LOCAL = "http://127.0.0.1:11434/v1"


def test_a_key_goes_to_the_address_beside_it() -> None:
    here = {URL: "https://api.example.org/v1", KEY: " k1 "}
    assert endpoint_of(None, {}, here) == Endpoint("https://api.example.org/v1", "k1")
    assert endpoint_of(None, here, {}) == Endpoint("https://api.example.org/v1", "k1")
    assert endpoint_of("https://other.example.org/v1", here, {}) == Endpoint("https://api.example.org/v1", "k1")


@pytest.mark.parametrize(
    ("written", "dotenv", "env", "hint"),
    [
        ("https://evil.example.org/v1", {}, {KEY: "k1"}, "in the environment"),
        ("https://evil.example.org/v1", {KEY: "k1"}, {}, "in the environment"),
        (None, {URL: "https://evil.example.org/v1"}, {KEY: "k1"}, "in .env"),
        (None, {KEY: "k1"}, {URL: "https://api.example.org/v1"}, "in the environment"),
    ],
)
def test_a_key_goes_nowhere_else(written: str | None, dotenv: dict[str, str], env: dict[str, str], hint: str) -> None:
    with pytest.raises(NoKeyError) as error:
        endpoint_of(written, dotenv, env)
    assert error.value.code == "provider_no_key"
    assert hint in error.value.hint
    assert "k1" not in str(error.value)


def test_this_machine_needs_no_key_and_gets_none_that_is_not_beside_it() -> None:
    assert endpoint_of(LOCAL, {KEY: "k1"}, {KEY: "k2"}) == Endpoint(LOCAL, "")
    assert endpoint_of(None, {URL: LOCAL}, {KEY: "k2"}) == Endpoint(LOCAL, "")
    assert endpoint_of(None, {}, {URL: LOCAL, KEY: "k2"}) == Endpoint(LOCAL, "k2")
    assert endpoint_of(None, {KEY: "k1"}, {}) is None
    assert endpoint_of(LOCAL, {}, {URL: ""}) == Endpoint(LOCAL, "")


def test_other_purposes_have_other_variables() -> None:
    env = {"ASK_BOOK_EMBEDDING_BASE_URL": "https://e.example.org/v1", KEY: "chat", "ASK_BOOK_EMBEDDING_API_KEY": "e"}
    names = ("ASK_BOOK_EMBEDDING_API_KEY", KEY)
    found = endpoint_of(None, {}, env, url_variable="ASK_BOOK_EMBEDDING_BASE_URL", key_variables=names)
    assert found == Endpoint("https://e.example.org/v1", "e")


@pytest.mark.parametrize("key", ["two words", "k\u00e9y", "a\nb", "sk-\u200babc"])
def test_a_key_with_odd_characters_is_said_at_once(key: str) -> None:
    with pytest.raises(NoKeyError, match="is no key") as error:
        endpoint_of(None, {}, {URL: LOCAL, KEY: key})
    assert key not in str(error.value)


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("https://api.example.org/v1/chat/completions", "https://api.example.org/v1"),
        ("https://example.org/openai/v1/", "https://example.org/openai/v1"),
        ("https://example.org/v1/embeddings", "https://example.org/v1"),
    ],
)
def test_addresses_as_people_write_them(written: str, used: str) -> None:
    assert base_url(written) == used


def test_which_addresses_are_of_this_machine() -> None:
    mine = (
        "http://localhost:1/v1",
        "http://127.0.0.1",
        "http://127.9.9.9:80/",
        "http://[::1]:8/v1",
        "http://a.localhost",
    )
    others = ("https://api.openai.com/v1", "http://10.0.0.1", "http://localhost.example.org", "http://127.0.0.1.nip.io")
    assert all(map(is_loopback, mine))
    assert not any(map(is_loopback, others))


def test_the_host_is_told_and_the_key_is_not() -> None:
    endpoint = Endpoint("http://127.0.0.1:11434/v1", "sk-secret")
    assert endpoint.host == "127.0.0.1:11434"
    assert "sk-secret" not in repr(endpoint)
