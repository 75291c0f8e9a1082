"""Small real books, and the real Quarto that renders them."""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

EXTENSION = Path(__file__).resolve().parents[2] / "_extensions" / "ask-book"
RENDER_SECONDS = 300
FORGOTTEN = ("CI", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "SOURCE_DATE_EPOCH")

CONFIGURATION = """\
project:
  type: book
lang: es
book:
  title: Libro de "prueba"
  author: Ana Pérez
  date: 2024-01-02
  site-url: https://example.org/libro/
  chapters:
    - index.qmd
    - part: Primera parte
      chapters:
        - cosas/río.qmd
  appendices:
    - tablas.qmd
extensions:
  ask-book: {shortcut: j, suggestions: ["¿Qué es `</script>`?"]}
ask-book:
  shortcut: k
format:
"""
PAGES = {
    "index.qmd": "# Prefacio\n\nEste libro trata de un río y de sus puentes.\n",
    "cosas/río.qmd": "# El río {#sec-rio}\n\nEl río nace en la sierra.\n\n## Puentes\n\nTiene tres, véase @sec-rio.\n",
    "tablas.qmd": "# Tablas\n\n| año | agua |\n|---|---|\n| 1984 | mucha |\n",
}


def make_book(root: Path, *, listed: bool = True, owner: str = "", formats: Sequence[str] = ("html",)) -> Path:
    """A book of three chapters with the extension installed, listed or not."""
    install(root, owner)
    for name, text in PAGES.items():
        write(root / name, text)
    lines = "".join(f"  {name}: default\n" for name in formats)
    write(root / "_quarto.yml", CONFIGURATION + lines + ("filters: [ask-book]\n" if listed else ""))
    return root


def install(root: Path, owner: str = "") -> Path:
    """Copy the extension as `quarto add` does."""
    folder = root / "_extensions" / owner / "ask-book"
    shutil.copytree(EXTENSION, folder)
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def append(path: Path, text: str) -> None:
    write(path, path.read_text(encoding="utf-8") + text)


@functools.cache
def path_without_python() -> str:
    """The PATH without any Python or `ask-book`, whatever else the folders hold."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep) if Path(folder).is_dir()]
    unwanted = ("python", "ask-book")
    with_python = [folder for folder in folders if any(name.name.startswith(unwanted) for name in folder.iterdir())]
    kept = [folder for folder in folders if folder not in with_python]
    if os.name != "nt":
        tools = Path(tempfile.mkdtemp(prefix="tools"))
        for tool in (tool for folder in with_python for tool in folder.iterdir()):
            if not tool.name.startswith(unwanted) and not (tools / tool.name).is_symlink():
                (tools / tool.name).symlink_to(tool)
        kept.append(tools)
    return os.pathsep.join(map(str, kept))


def clean_env(**extra: str) -> dict[str, str]:
    """The environment of an author without Python, without a sidecar, outside any pipeline."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in FORGOTTEN and not name.startswith(("ASK_BOOK", "QUARTO_PR", "QUARTO_PY"))
    }
    return {**inherited, "PATH": path_without_python(), "NO_COLOR": "1", **extra}


def quarto(root: Path, *args: str, env: Mapping[str, str] | None = None) -> str:
    """Run Quarto in a project; what it printed, its success asserted."""
    done = subprocess.run(
        [shutil.which("quarto") or "quarto", *args],
        cwd=root,
        env=clean_env() if env is None else env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=RENDER_SECONDS,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def said(output: str) -> list[str]:
    """The lines of ask-book in the output of a render."""
    return [line for line in output.splitlines() if line.startswith("ask-book:")]


def data_dir(root: Path, profile: str = "default") -> Path:
    return root / ".quarto" / "ask-book" / profile


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def manifest(root: Path, profile: str = "default") -> Any:
    return read_json(data_dir(root, profile) / "manifest.json")


def page_config(page: Path) -> Any:
    """The JSON block of a page."""
    html = page.read_text(encoding="utf-8")
    return json.loads(html.partition('id="ask-book-config">')[2].partition("</script>")[0])


@functools.cache
def deno() -> str:
    """Quarto's own Deno, which runs the hooks."""
    quarto_bin = Path(quarto(Path.cwd(), "--paths").splitlines()[0])
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine())
    name = "deno.exe" if os.name == "nt" else "deno"
    places = (quarto_bin / "tools" / machine / name, quarto_bin / "tools" / name)
    return str(next(place for place in places if place.is_file()))


def hook_entry(when: str) -> list[str]:
    """The entry of `_extension.yml`, cut at its spaces as Quarto does."""
    described = YAML(typ="safe").load(EXTENSION / "_extension.yml")
    (entry,) = described["contributes"]["metadata"]["project"][f"{when}-render"]
    return str(entry).split(" ")


def run_hook(root: Path, when: str, *, full: bool = True, env: Mapping[str, str] | None = None) -> str:
    """Run a hook as Quarto does, without a render around it; what it printed, its success asserted."""
    of_quarto = {"QUARTO_PROJECT_DIR": str(root), "QUARTO_PROJECT_OUTPUT_DIR": str(root / "_book")}
    of_quarto |= {"QUARTO_PROJECT_RENDER_ALL": "1"} if full else {"QUARTO_PROJECT_INPUT_FILES": "index.qmd"}
    done = subprocess.run(
        [deno(), "run", "--no-config", "--allow-all", *hook_entry(when)],
        cwd=root,
        env={**(clean_env() if env is None else env), **of_quarto},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def evaluate(expression: str) -> Any:
    """The JSON value of a JavaScript expression about `hooks`, the object that hooks.js is."""
    program = f"""
    const hooks = eval(Deno.readTextFileSync({json.dumps(str(EXTENSION / "hooks.js"))}));
    console.log(JSON.stringify({expression}));
    """
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "expression.js"
        script.write_text(program, encoding="utf-8")
        command = [deno(), "run", "--no-config", "--allow-all", str(script)]
        return json.loads(subprocess.check_output(command, encoding="utf-8"))


def command(path: Path, body: str) -> Path:
    """An executable of this machine with a Python body; it runs where no Python is on the PATH."""
    write(path, f"#!{sys.executable} -I\n{body}")
    path.chmod(0o755)
    return path


@contextmanager
def preview(root: Path, port: int, log: Path) -> Iterator[None]:
    """A `quarto preview` in its own process group, ended with it."""
    with log.open("wb") as output:
        running = subprocess.Popen(
            [shutil.which("quarto") or "quarto", "preview", "--no-browser", "--port", str(port)],
            cwd=root,
            env=clean_env(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield
        finally:
            os.killpg(running.pid, 15)
            running.wait(20)
