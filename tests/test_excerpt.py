"""The beginning of a text."""

from __future__ import annotations

from ask_book.excerpt import excerpt


def test_what_fits_stays_on_one_line() -> None:
    assert excerpt(" The dam\n was built. ", 18) == "The dam was built."


def test_what_is_longer_is_cut_at_the_end_of_a_word() -> None:
    assert excerpt("The dam was built in a dry year.", 15) == "The dam was …"


def test_a_word_without_end_is_cut_anywhere() -> None:
    assert excerpt("水位上升得很快", 3) == "水位上 …"
