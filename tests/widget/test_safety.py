"""Nothing that comes from outside becomes markup: not from an answer, a quote, an error, the address or the config."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from widget.guide import Guide
from widget.reader import Reader
from widget.servers import ScriptedServer, answer_json, place

pytestmark = pytest.mark.browser

RUN = "window.ran=1"
HOSTILE = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<details open ontoggle={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<style onload={RUN}></style>",
    f"<video><source onerror={RUN}></video>",
    f"<math><mtext></form><form><mglyph><style></math><img src onerror={RUN}>",
    f'"><img src=x onerror={RUN}>',
    f"' onmouseover='{RUN}",
    f'" onfocus="{RUN}" autofocus="',
    f"[x](javascript:{RUN})",
    f'![x](x"onerror="{RUN})',
    f'[1](#ask-book-1" onclick="{RUN})',
    f"<a href='javascript:{RUN}'>x</a>",
    f"`<img src=x onerror={RUN}>`",
    f"**<img src=x onerror={RUN}>**",
    f"> <img src=x onerror={RUN}>",
    f"- <img src=x onerror={RUN}>",
    f"# <img src=x onerror={RUN}>",
    f"```\n</code></pre><img src=x onerror={RUN}>\n```",
    f"&lt;img src=x onerror={RUN}&gt;",
    f"\\<img src=x onerror={RUN}\\>",
    f"<!--><img src=x onerror={RUN}>-->",
    f"<![CDATA[><img src=x onerror={RUN}>]]>",
    f"<template><img src=x onerror={RUN}></template>",
    f"<body onload={RUN}>",
    f"{{heading}}<img src=x onerror={RUN}>",
    f"\u0000<img src=x onerror={RUN}>",
    f"＜img src=x onerror={RUN}＞",
    f"<x-y onpointerenter={RUN} style='position:fixed;inset:0'>",
    "javascript:window.ran=1",
    "data:text/html,<script>parent.ran=1</script>",
    "__proto__",
    "constructor",
    f"<img src=x oNeRrOr={RUN}>",
    f"<img/src=x/onerror={RUN}>",
    f"<img src=x onerror\t=\t{RUN}>",
    f"<<img src=x onerror={RUN}>>",
    f"<audio src=x onerror={RUN}>",
    f"<object data='javascript:{RUN}'></object>",
    f"<embed src='javascript:{RUN}'>",
    f"<form action='javascript:{RUN}'><button>go</button></form>",
    f"<button formaction='javascript:{RUN}'>go</button>",
    f"<isindex action='javascript:{RUN}' type=image>",
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    f"<base href='javascript:{RUN}//'>",
    "<link rel=stylesheet href='data:text/css,*{color:red}'>",
    "<style>*{background:url(x)}</style>",
    f"<marquee onstart={RUN}>",
    f"<svg><animate onbegin={RUN} attributeName=x>",
    f"<svg><a xlink:href='javascript:{RUN}'><text>x</text></a></svg>",
    f"<math><maction actiontype='statusline#{RUN}' xlink:href='javascript:{RUN}'>x</maction></math>",
    f"\\(\\href{{javascript:{RUN}}}{{x}}\\)",
    f"$\\unicode{{<img src=x onerror={RUN}>}}$",
    f"$$<img src=x onerror={RUN}>$$",
    f"| <img src=x onerror={RUN}> |\n|---|\n| <svg onload={RUN}> |",
    f"1. <img src=x onerror={RUN}>",
    f"<javascript:{RUN}>",
    f"[x]: javascript:{RUN}\n\n[x]",
    f"[1](#ask-book-1)<img src=x onerror={RUN}>",
    f"\ue000<img src=x onerror={RUN}>\ue002",
    f"\u202e<img src=x onerror={RUN}>",
    "{{constructor.constructor('window.ran=1')()}}",
    "${window.ran=1}",
]


def unharmed(page: Page) -> None:
    """Nothing ran, and the panel holds only elements of its own."""
    assert page.evaluate("window.ran") is None
    made = page.evaluate(
        """[...document.querySelector("ask-book").shadowRoot.querySelectorAll("*")]
          .filter((element) => element.matches(`script, img, iframe, style, video, input:not(.reason *), details, math,
            template, x-y, [onerror], [onload], [onclick], [onfocus], a[href^="javascript:"], a[href^="data:"]`))
          .map((element) => element.outerHTML)"""
    )
    assert made == []


def hostile_answer(text: str) -> Iterator[tuple[str, Any]]:
    """The question itself, everywhere."""
    bad = place(chapter_title=text, heading_path=[text, text], quote=text, text=text)
    notice = {"code": text, "message": text}
    yield "sources", [bad]
    yield "delta", {"text": text}
    yield "citation", bad
    everywhere: dict[str, Any] = {"sources": [bad], "absent_terms": [text], "nearest": [bad], "notices": [notice]}
    everywhere["report"] = {"id": text, "html": text, "md": text, "pdf": text}
    everywhere["claims"] = {"marks": [{"start": 0, "end": 1, "kind": kind} for kind in ("uncited", text)]}
    yield "done", answer_json(f"{text}\n\n[1](#ask-book-1)", bad, **everywhere)


def test_hostile_answers(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.stream = hostile_answer
    scripted.config = {
        "suggestions": HOSTILE[:4],
        "texts": {"intro": " ".join(HOSTILE), "about": HOSTILE[0], "here": "("},
    }
    scripted.health |= {"works": {"chat": True}, "model_host": HOSTILE[3]}
    scripted.health["notices"] = [{"code": text, "message": text} for text in HOSTILE]
    page.goto(scripted.url + "index.html")
    reader.open()
    unharmed(page)
    for text in HOSTILE:
        reader.type(text)
        reader.wait()
        expect(reader.last).to_contain_text("1 of 1 quotes checked")
        reader.part("note").first.click()
        unharmed(page)
        page.get_by_role("button", name="New conversation").click()
    assert len(scripted.asked) == len(HOSTILE) >= 60


def test_hostile_errors_addresses_and_memory(
    scripted: ScriptedServer, reader: Reader, page: Page, guide: Guide
) -> None:
    everything = " ".join(HOSTILE[:12])
    scripted.refusal = (400, {}, {"error": {"code": everything, "message": everything, "hint": everything}})
    page.goto(
        scripted.url
        + "index.html?ask="
        + "%3Cimg src=x onerror=window.ran=1%3E&ask-book=%3Cimg%3E#%3Csvg onload=window.ran=1%3E"
    )
    reader.wait()
    unharmed(page)
    state = {
        "open": True,
        "turns": [{"question": everything, "state": everything, "text": everything, "sources": [], "citations": []}],
    }
    page.evaluate(
        "([id, state]) => sessionStorage.setItem('ask-book:' + id, JSON.stringify(state))", [guide.book_id, state]
    )
    page.reload()
    expect(reader.part("panel")).to_be_visible()
    unharmed(page)


def test_a_link_of_an_answer_leads_only_into_the_book(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    bad = [
        place(n=n, href=href)
        for n, href in enumerate(["javascript:window.ran=1", "https://evil.example/x", "//evil.example/x"], 1)
    ]
    text = " ".join(f"[{note['n']}](#ask-book-{note['n']})" for note in bad)
    scripted.stream = lambda _: iter([("done", answer_json(text, *bad, sources=bad))])
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.type("Where to?")
    reader.wait()
    links = page.evaluate(
        "[...document.querySelector('ask-book').shadowRoot.querySelectorAll('a')].map((link) => link.href)"
    )
    assert links
    assert all(link.startswith(scripted.url) for link in links)
