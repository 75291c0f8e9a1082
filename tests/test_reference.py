"""What editors and readers of the guide are told is what the code does."""

import pytest
from ruamel.yaml import YAML

from ask_book.book.settings import NAMES, Settings
from reference import FILES, ROOT


@pytest.mark.parametrize("name", FILES)
def test_it_is_made_from_the_code_as_it_is(name: str) -> None:
    written = (ROOT / name).read_text(encoding="utf-8")
    assert written == FILES[name](), "the code says something else: run `python tests/reference.py`"


def test_editors_know_every_setting_its_type_and_its_default() -> None:
    options = YAML(typ="safe").load(ROOT / "_extensions" / "ask-book" / "_schema.yml")["options"]
    assert list(options) == list(NAMES)
    assert options["top-k"] == {
        "type": "integer",
        "min": 1,
        "max": 50,
        "default": Settings().top_k,
        "description": "How many passages are looked at for an answer.",
    }
    kinds = {"string", "number", "integer", "boolean", "array", "object"}
    for option in options.values():
        types = option["type"] if isinstance(option["type"], list) else [option["type"]]
        assert set(types) <= kinds


def test_what_editors_would_complete_is_accepted() -> None:
    for name, spec in NAMES.items():
        kind, default = spec.metadata["kind"], spec.default
        if isinstance(default, str | int | float):
            assert kind.read(default) == default, name
