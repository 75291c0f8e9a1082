"""Each attack by itself, with each engine: `pytest tests/bench/test_attacks.py -m bench -s`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ask_book.reports.page import saved_page
from ask_book.reports.pdf import find_tools, make_pdf
from reports.attacks import PAYLOADS, payloads
from reports.samples import citation, saying
from reports.tex import ENGINES, as_tinytex, environment, text_of

pytestmark = [pytest.mark.bench, pytest.mark.tex]

CANARY = "kanarienvogel"


@pytest.mark.parametrize("engine", ENGINES)
def test_each_attack(engine: str, tmp_path: Path) -> None:
    as_tinytex(tmp_path)
    tools = find_tools(environment(tmp_path))
    tools = replace(tools, engines={engine: tools.engines[engine]}, pandocs=tools.pandocs[:1])
    (tmp_path / "file.tex").write_text(CANARY, encoding="utf-8")
    attacks = payloads(str(tmp_path / "file.tex"), str(tmp_path / "out"), "http://127.0.0.1:9")
    leaks, failures = [], []
    for name, attack in attacks.items():
        document = saying(attack, question=attack, citations=(citation(quote=attack, chapter_title=attack),))
        made = make_pdf(saved_page(document), tools)
        if made.pdf is None:
            failures.append(name)
        elif CANARY in text_of(made.pdf) or CANARY.encode() in made.pdf:
            leaks.append(name)
        if (tmp_path / "out").exists():
            leaks.append(f"{name} (wrote)")
            (tmp_path / "out").unlink()
    print(f"\n{engine}: {len(PAYLOADS)} attacks, {len(leaks)} leaks {leaks}, {len(failures)} without a PDF {failures}")
    assert leaks == failures == []
