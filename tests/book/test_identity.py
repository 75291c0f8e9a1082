import json
from pathlib import Path
from typing import Any

import pytest

from ask_book.book.identity import book_id, canon, ports

VECTORS = json.loads((Path(__file__).parents[1] / "fixtures" / "book_ids.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_shared_vectors(vector: dict[str, Any]) -> None:
    identifier = book_id(vector["title"], vector["lang"], vector["site_url"], vector["output_name"])
    assert identifier == vector["id"]
    assert list(ports(identifier)) == vector["ports"]


def test_typography_and_markdown_do_not_matter() -> None:
    assert canon("¿Qué es el *urbanismo*? — “Notas”…") == canon('¿Qué es el urbanismo? -- "Notas"...')


def test_only_ascii_letters_are_lowered() -> None:
    assert canon("Árbol ÑANDÚ Straße") == "ÁrbolÑandÚstraße"


def test_ports_stay_below_the_ephemeral_range() -> None:
    assert ports("000000000000") == (10240, 10241, 10242, 10243)
    assert max(ports(f"{5439:08x}0000")) == 31999
