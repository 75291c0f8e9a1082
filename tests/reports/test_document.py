import json

import pytest

from ask_book.reports.document import Document, document_json, joined, read_document
from reports.samples import DRY, doubted, of_the_book, saying


@pytest.mark.parametrize("document", [of_the_book(), doubted(), joined([of_the_book(), doubted()])])
def test_what_is_written_is_read(document: Document) -> None:
    assert read_document(json.loads(json.dumps(document_json(document)))) == document


def test_the_json_has_what_a_program_wants() -> None:
    data = document_json(saying("Sí."))
    assert (data["question"], data["answer"]["answer"], data["earlier"]) == (DRY, "Sí.", [])
    assert (data["book"]["hash"], data["model"]) == ("0123456789abcdef", "a-model")
    assert data["versions"].keys() == {"ask_book"}


def test_a_conversation_keeps_its_order_and_models() -> None:
    whole = joined([of_the_book(), saying("Luego.", question="¿Y luego?")])
    assert [exchange.question for exchange in whole.exchanges] == [DRY, "¿Y luego?"]
    assert (whole.title, whole.model) == (f"{DRY} (+1)", "a-model")
    assert document_json(whole)["earlier"][0]["question"] == DRY


def test_ids_cannot_be_guessed() -> None:
    ids = {saying("x").id for _ in range(50)}
    assert len(ids) == 50
    assert all(len(one) == 32 for one in ids)


def test_what_a_later_version_says_more_is_left_out() -> None:
    data = document_json(of_the_book())
    data["answer"]["citations"][0]["colour"] = "red"
    assert read_document(data).citations[0].n == 1


def test_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 2"):
        read_document(document_json(of_the_book()) | {"version": 2})
