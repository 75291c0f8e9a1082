"""The GitHub Action for books: its steps are run here, by the same shell, on a small book."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

from ask_book import __version__

ROOT = Path(__file__).resolve().parents[1]
ACTION = ROOT / ".github" / "actions" / "book" / "action.yml"
BASH = shutil.which("bash")
EXAM = """\
questions:
  - q: "¿Cuándo se terminó el puente de Alcántara?"
    must_cite: {file: puentes.qmd, quote: "se terminó en el año 106"}
  - q: "¿De qué son las dovelas?"
    must_cite: {file: puentes.qmd, quote: "Las dovelas son de mármol", anchor: sec-materiales}
"""


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path)


class Runner:
    """As much of GitHub's runner as the action uses: inputs, outputs of steps, conditions, shells."""

    def __init__(self, book: Path, temp: Path, **inputs: str) -> None:
        self.action = read(ACTION)
        self.inputs = {name: spec["default"] for name, spec in self.action["inputs"].items()} | inputs
        self.inputs["book"] = str(book)
        self.temp = temp
        self.outputs: dict[str, str] = {}
        self.said = ""
        self.failed = ""

    def run(self, skip: tuple[str, ...] = ("Install ask-book",)) -> None:
        for step in self.action["runs"]["steps"]:
            if "run" in step and step.get("name") not in skip and self._wants(step.get("if", "success()")):
                self._run(step)

    def value(self, text: str) -> str:
        """A text with its `${{ … }}` filled in."""
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: self._lookup(found[1]), text)

    def _lookup(self, name: str) -> str:
        kind, _, rest = name.partition(".")
        if kind == "inputs":
            return str(self.inputs[rest])
        if kind == "steps":
            return self.outputs[name]
        return {"runner.temp": str(self.temp), "runner.os": "Linux", "github.action_path": str(ACTION.parent)}[name]

    def _wants(self, condition: str) -> bool:
        if self.failed and "always()" not in condition:
            return False
        parts = [part for part in condition.split(" && ") if part not in ("always()", "success()")]
        for part in parts:
            name, operator, literal = re.fullmatch(r"inputs\.([\w-]+) (==|!=) '(.*)'", part).groups()  # type: ignore[union-attr]
            if (self.inputs[name] == literal) != (operator == "=="):
                return False
        return True

    def _run(self, step: dict[str, Any]) -> None:
        outputs = self.temp / "outputs"
        outputs.write_text("")
        done = subprocess.run(
            [BASH or "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.value(step.get("working-directory", ".")),
            env={
                **os.environ,
                **{name: self.value(text) for name, text in step.get("env", {}).items()},
                "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
                "GITHUB_ACTIONS": "true",
                "GITHUB_OUTPUT": str(outputs),
                "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
                "GITHUB_WORKSPACE": self.inputs["book"],
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        self.said += done.stdout + done.stderr
        if done.returncode:
            self.failed = self.failed or f"{step['name']}: {done.stderr}"
        for line in outputs.read_text().splitlines():
            name, _, value = line.partition("=")
            self.outputs[f"steps.{step['id']}.outputs.{name}"] = value


@pytest.fixture
def temp(tmp_path: Path) -> Path:
    (tmp_path / "temp").mkdir()
    return tmp_path / "temp"


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_index_exam_and_export_of_a_book(small_book: Path, temp: Path) -> None:
    (small_book / "exam.yml").write_text(EXAM, encoding="utf-8")
    runner = Runner(small_book, temp, render="false", exam="exam.yml", export="true")
    runner.inputs["min-recall"] = "0.5"
    runner.run()
    assert runner.failed == ""
    assert runner.outputs["steps.exam.outputs.evidence"] == "0.5"
    assert runner.outputs["steps.kept.outputs.folder"].endswith("embeddings")
    assert json.loads((temp / "ask-book" / "exam.json").read_text(encoding="utf-8"))["summary"]["questions"] == 2
    (suite,) = ElementTree.parse(temp / "ask-book" / "exam.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "| evidence_at_k | 0.5 |" in (temp / "summary.md").read_text(encoding="utf-8")
    assert (temp / "ask-book" / "export" / "ask-book.yml").is_file()
    # the chapter and the line where the book has the section that was to be cited
    assert "::warning file=puentes.qmd,line=5,title=Exam%3A ¿De qué son las dovelas?::" in runner.said


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_without_a_key_the_exam_is_held_by_words(small_book: Path, temp: Path) -> None:
    with (small_book / "_quarto.yml").open("a", encoding="utf-8") as file:
        file.write("ask-book:\n  embedding-model: embed-large\n  base-url: https://models.example/v1\n")
    (small_book / "exam.yml").write_text(EXAM, encoding="utf-8")
    runner = Runner(small_book, temp, render="false", exam="exam.yml")
    runner.inputs["min-recall"] = "0.5"
    runner.run()
    assert runner.failed == ""
    assert runner.outputs["steps.exam.outputs.evidence"] == "0.5"
    index = json.loads((temp / "ask-book" / "index.json").read_text(encoding="utf-8"))
    assert (index["embeddings"], index["chapters"]) == (None, 2)


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_a_failed_exam_fails_the_job_and_its_results_are_kept(small_book: Path, temp: Path) -> None:
    (small_book / "exam.yml").write_text(EXAM, encoding="utf-8")
    runner = Runner(small_book, temp, render="false", exam="exam.yml", export="true")
    runner.inputs["min-recall"] = "0.9"
    runner.run()
    assert runner.failed.startswith("Exam: ")
    assert (temp / "ask-book" / "exam.xml").is_file()
    assert not (temp / "ask-book" / "export").exists()


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_a_broken_book_is_marked_at_its_line(small_book: Path, temp: Path) -> None:
    (small_book / "_quarto.yml").write_text("book:\n  chapters: [index.qmd, gone.qmd]\n")
    runner = Runner(small_book, temp, render="false", exam="exam.yml")
    runner.run()
    assert runner.failed.startswith("Index: ")
    assert "::error file=_quarto.yml,line=2,title=ask-book::the chapter `gone.qmd` is missing." in runner.said


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_the_example_for_gitlab(small_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = ROOT / "examples" / "book"
    pages = [(folder / "authors" / "pipelines.qmd").read_text(encoding="utf-8") for folder in (guide, guide / "es")]
    block, spanish = (page.split('filename=".gitlab-ci.yml"}\n')[1].split("```")[0] for page in pages)
    assert spanish.replace("repositorio", "repository").replace("libro", "book") == block
    job = YAML(typ="safe").load(block)["book"]
    (small_book / "exam.yml").write_text(EXAM.replace("mármol", "granito"), encoding="utf-8")
    monkeypatch.setenv("CI_PROJECT_DIR", str(small_book))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    exported = (f'export {name}="{value}"' for name, value in job["variables"].items())
    subprocess.run([BASH or "bash", "-ec", "\n".join([*exported, *job["script"]])], cwd=small_book, check=True)
    (suite,) = ElementTree.parse(small_book / job["artifacts"]["reports"]["junit"]).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "0")


def test_inputs_reach_the_shell_as_variables_only() -> None:
    for path in (ACTION, *(ROOT / ".github" / "workflows").glob("*.yml")):
        described = read(path)
        jobs = [described["runs"]] if "runs" in described else described["jobs"].values()
        for step in (step for job in jobs for step in job["steps"]):
            assert "${{" not in step.get("run", ""), f"{path.name}: {step}"


def test_the_oldest_supported_versions_are_tested() -> None:
    matrix = read(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["test"]["strategy"]["matrix"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">={min(matrix["python"])}"' in project
    assert min(matrix["quarto"]).startswith("1.7.")
    assert set(matrix["os"]) == {"ubuntu-latest", "macos-latest", "windows-latest"}
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
