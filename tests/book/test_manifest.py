import json
from pathlib import Path

import pytest

from ask_book.book.manifest import link

LINKS = json.loads((Path(__file__).parents[1] / "fixtures" / "links.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", LINKS)
def test_a_link_opens_a_page_of_any_name(case: dict[str, str]) -> None:
    assert link(case["page"], case["anchor"]) == case["link"]
