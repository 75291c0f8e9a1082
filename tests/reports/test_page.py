from dataclasses import replace

from ask_book.reports.page import saved_page, served_page
from reports.samples import QUOTE, SITE, of_the_book, saying, source
from reports.test_check import without
from small_books import small_manifest


def test_a_saved_link_is_on_the_site() -> None:
    page = saved_page(saying("x"))
    where = page.parts[0].notes[0].where
    assert (where.place, where.url, where.fate) == ("El clima › La lluvia", f"{SITE}/clima.html#sec-lluvia", None)
    assert page.home == f"{SITE}/"
    assert saved_page(saying("x", site_url="")).home == ""


def test_while_the_book_is_the_same_nothing_is_said_of_it() -> None:
    page = served_page(of_the_book(), small_manifest(), "../../")
    assert page.remarks == ()
    assert [note.remark for note in page.parts[0].notes] == [""]


def test_when_it_has_changed_each_quote_says_what_became_of_it() -> None:
    manifest = without(small_manifest(), "junio", "julio")
    manifest = replace(manifest, book=replace(manifest.book, hash="f" * 40))
    page = served_page(of_the_book(), manifest, "../../")
    assert page.remarks == ("El libro ha cambiado desde entonces (ahora, edición ffffffffff).",)
    note = page.parts[0].notes[0]
    assert (note.remark, note.where.url) == ("ya no está en el libro", "")


def test_a_place_that_is_not_there_has_no_link() -> None:
    document = saying("x", citations=(), sources=(source(),))
    assert [passage.where.url for passage in served_page(document, small_manifest(), "../../").parts[0].sources] == [""]


def test_what_was_not_found() -> None:
    document = saying("No encontrado en el libro", status="not_found", citations=(), sources=(),
                      absent_terms=("Miami", "flyover"), nearest=(replace(source(), text="largo " * 90),))  # fmt: skip
    part = saved_page(document).parts[0]
    assert part.absent == "El libro nunca usa: Miami, flyover"
    assert part.nearest[0].text.endswith("largo …")
    assert len(part.nearest[0].text) <= 302
    assert part.remarks == ("No se cita nada del libro (edición 0123456789).",)


def test_a_moved_quote_leads_to_where_it_is_now() -> None:
    manifest = small_manifest()
    chapters = (manifest.chapters[1], manifest.chapters[0], *manifest.chapters[2:])
    moved = tuple(replace(chapter, index=index) for index, chapter in enumerate(chapters))
    changed = replace(manifest, chapters=moved, book=replace(manifest.book, hash="f" * 40))
    note = served_page(of_the_book(), changed, "../../").parts[0].notes[0]
    assert QUOTE is not None
    assert (note.where.fate, note.where.url) == ("moved", "../../clima.html#sec-lluvia")
