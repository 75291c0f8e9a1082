import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answering.with_model import done, heard
from ask_book.answering import summaries
from ask_book.answering.assistant import Assistant
from ask_book.answering.budget import Budget
from ask_book.answering.open_book import OpenBook
from ask_book.answering.round import SET_ASIDE
from ask_book.book.manifest import Block, Chapter, Manifest, Section, Tag
from ask_book.llm.chat import Chat
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.http import Http
from provider import Json, Provider, Reply, calls, fails, provider, says
from small_books import small_book, small_manifest

TAGGED = re.compile(r"([^\]\n]*?) (\[f\d+-\d+-\d+\])")


@pytest.fixture
def valley(tmp_path: Path, home: Path) -> OpenBook:
    """The book, and an account of its own: summaries are kept in it."""
    return small_book(tmp_path)


def faithful(request: Json) -> Reply:
    """Sums a part up by its first sentence; adds one without a source, one with a forged tag and one that is wrong."""
    sentence, tag = TAGGED.search(request["messages"][1]["content"].split("<part>\n")[1]).groups()  # type: ignore[union-attr]
    return says(f"{sentence.strip()} {tag} No source here. It snows [f0-1-2]. It was in 1777 with 9,999 cows {tag}.")


def make(book: OpenBook, model: Provider, **options: Any) -> summaries.Made:
    async def run() -> summaries.Made:
        chat = Chat(Endpoint(model.base_url, "sk-x", silence=5), "m", Http())
        try:
            todo = summaries.missing(book)
            return await summaries.make(book, Assistant(chat, **options), todo, lambda *_: None)
        finally:
            await chat.http.aclose()

    return asyncio.run(run())


def long_manifest(*sections: int) -> Manifest:
    """A chapter with sections of so many characters, in paragraphs of about 500."""
    parts: list[Section] = []
    at = 0
    for number, length in enumerate(sections):
        blocks: list[Block] = []
        start = at
        while at < start + length:
            text = f"Sentence {at}. " + "x" * (min(500, start + length - at) - 20)
            blocks.append(Block("para", at, at + len(text), text))
            at += len(text) + 1
        parts.append(Section(f"s{number}", f"s{number}", 2, f"Part {number}", "", (), start, at, tuple(blocks)))
    parts[-1] = replace(parts[-1], end=at - 1)
    chapter = Chapter(0, "a.qmd", "a.html", "Long", "1", "", "", tuple(parts))
    return replace(small_manifest("en"), chapters=(chapter,), chunks=())


@pytest.mark.parametrize(
    ("sections", "most", "count"),
    [
        ((18_000, 18_000), 20_000, 2), ((3_000,) * 10, 20_000, 2), ((100_000,), 36_500, 3),
        ((2_000, 30_000, 2_000), 36_500, 3), ((10,), 100, 1),
    ],
)  # fmt: skip
def test_how_a_book_is_cut(sections: tuple[int, ...], most: int, count: int) -> None:
    manifest = long_manifest(*sections)
    found = summaries.segments(manifest)
    assert len(found) == count
    assert all(segment.tag.end - segment.tag.start <= most for segment in found)
    covered = "".join(manifest.text(segment.tag) or "" for segment in found)
    assert covered.replace("\n", "") == manifest.chapters[0].text.replace("\n", "")
    assert [segment.number for segment in found] == list(range(1, count + 1))


def test_small_books_are_summed_up_chapter_by_chapter(valley: OpenBook) -> None:
    found = summaries.segments(valley.manifest)
    assert [segment.tag.chapter for segment in found] == [0, 1, 2]
    assert found[1].title == "El clima · La lluvia · El viento"


def test_only_what_its_source_supports_is_kept(valley: OpenBook) -> None:
    with provider(faithful) as model:
        made = make(valley, model)
        again = make(valley, model)
        assert len(model.asked) == 3
    assert (made.made, made.failed, made.prompt_tokens) == (3, 0, 300)
    assert (again.made, again.failed) == (0, 0), "nothing is paid for twice"
    texts = [summaries.kept(segment) for segment in summaries.segments(valley.manifest)]
    assert texts[1] == "El valle tiene un clima templado y húmedo. [f1-9-51]"
    assert not any("1777" in (text or "") or "source" in (text or "") for text in texts)


def test_a_summary_is_found_again_when_the_book_changes_elsewhere(valley: OpenBook) -> None:
    with provider(faithful) as model:
        make(valley, model)
    chapters = tuple(replace(chapter, index=chapter.index + 1) for chapter in valley.manifest.chapters)
    moved = replace(valley.manifest, chapters=(replace(small_manifest("en").chapters[0]), *chapters))
    segment = summaries.segments(moved)[2]
    text = summaries.kept(segment) or ""
    assert text == "El valle tiene un clima templado y húmedo. [f2-9-51]"
    tag = Tag.parse(text.split()[-1])
    assert tag
    assert moved.text(tag) == "El valle tiene un clima templado y húmedo."
    assert summaries.kept(summaries.segments(moved)[0]) is None


def test_what_was_done_stays_when_the_model_fails(valley: OpenBook) -> None:
    with provider(faithful, fails(401, "wrong key")) as model:
        made = make(valley, model)
    assert (made.made, made.failed) == (1, 2)
    assert "key" in made.trouble
    with provider(faithful) as model:
        assert make(valley, model).made == 2
        assert len(model.asked) == 2


def test_they_count_as_tokens_of_the_day_and_stop_when_these_are_used_up(valley: OpenBook, tmp_path: Path) -> None:
    budget = Budget(SET_ASIDE, tmp_path)
    with provider(faithful) as model:
        made = make(valley, model, budget=budget)
    used = made.prompt_tokens + made.completion_tokens
    assert json.loads((tmp_path / "tokens.json").read_bytes())["tokens"] == used > 0
    assert (made.made, made.failed, len(model.asked)) == (1, 2, 1)
    assert "tokens of this day" in made.trouble


def test_a_damaged_file_is_no_summary(valley: OpenBook) -> None:
    with provider(faithful) as model:
        make(valley, model)
    for file in summaries.summaries_dir().rglob("*.json"):
        assert file.stat().st_mode & 0o777 == 0o600
        file.write_text("{", encoding="utf-8")
    assert len(summaries.missing(valley)) == 3


def test_the_estimate_says_what_is_read_and_written(valley: OpenBook) -> None:
    read, written = summaries.estimate(valley, summaries.missing(valley))
    assert 800 < read < 3000
    assert written == 750


# -- with the tools ----------------------------------------------------------------------------------------------------


def test_the_overview_gives_them_and_a_search_lets_the_model_choose(valley: OpenBook) -> None:
    with provider(faithful) as model:
        make(valley, model)
    search = calls(("book_overview", {}), ("search_book", {"question": "clima del valle"}))
    chooses = says('Thinking… {"answer": ["3", "99", 1]}')
    answers = says("El valle tiene un clima templado [f1-9-51].")
    with heard(valley, "¿Cómo es el clima?", search, chooses, answers, assistant=Assistant(mode="tools")) as (
        model,
        events,
    ):
        requests = [one.json for one in model.asked]
    overview, results = (m["content"] for m in requests[-1]["messages"] if m["role"] == "tool")
    assert "El valle tiene un clima templado y húmedo. [f1-9-51]" in overview
    catalogue = requests[1]["messages"][1]["content"]
    assert (
        '<part id="2" title="El clima · La lluvia · El viento">El valle tiene un clima templado y húmedo.' in catalogue
    )
    assert "[f" not in catalogue
    assert "tools" not in requests[1]
    assert 'chapter="Los datos"' in results, "a part that the model chose and search did not put first"
    assert (done(events).mode, done(events).citations[0].tag) == ("tools", "[f1-9-51]")


@pytest.mark.parametrize(
    "odd", [says("I do not know"), says('{"answer": 7}'), says('{"answer": [["2"]]}'), fails(500), says("[")]
)
def test_a_choice_that_makes_no_sense_changes_nothing(valley: OpenBook, odd: Reply) -> None:
    with provider(faithful) as model:
        make(valley, model)
    search = calls(("search_book", {"question": "clima del valle"}))
    replies = [
        search,
        odd,
        *([odd] * 3 if odd.status == 500 else []),
        says("El valle tiene un clima templado [f1-9-51]."),
    ]
    with heard(valley, "¿Cómo es el clima?", *replies, assistant=Assistant(mode="tools")) as (_, events):
        assert done(events).citations[0].tag == "[f1-9-51]"


def test_batches_are_bounded() -> None:
    listed = [(summaries.Segment(n, Tag(0, 0, 1), f"t{n}", ""), "word " * 9000) for n in range(40)]
    batches = list(summaries._batches(listed))
    assert len(batches) == summaries.BATCHES
    assert all(len(batch) / 4 <= summaries.BATCH_TOKENS * 1.1 for batch in batches)


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_asks_before_it_costs_and_goes_on_where_it_was(
    small_book: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ask_book.cli import main

    command = ["index", "--summaries", "--json", "--book", str(small_book)]
    monkeypatch.setenv("ASK_BOOK_EMBEDDING_MODEL", "none")
    assert main(command) == 1
    assert "There is no chat model" in capsys.readouterr().out
    with provider(faithful) as model:
        monkeypatch.setenv("ASK_BOOK_BASE_URL", model.base_url)
        monkeypatch.setenv("ASK_BOOK_API_KEY", "sk-secret")
        monkeypatch.setenv("ASK_BOOK_CHAT_MODEL", "m")
        assert main(command) == 1
        said = capsys.readouterr()
        assert "2 parts of the book are to be summed up by m at 127.0.0.1" in said.err
        assert "--yes" in said.out
        assert model.asked == []
        assert main([*command, "--yes"]) == 0
        assert json.loads(capsys.readouterr().out)["summaries"]["made"] == 2
        assert main(command) == 0
        assert json.loads(capsys.readouterr().out)["summaries"] == {
            "made": 0, "kept": 2, "failed": 0, "prompt_tokens": 0, "completion_tokens": 0, "trouble": "",
        }  # fmt: skip
        assert len(model.asked) == 2
