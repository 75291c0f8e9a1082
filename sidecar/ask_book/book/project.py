"""A Quarto book as a project: what `_quarto.yml` says is in it, and where our own files go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path, PurePosixPath

from ask_book.book.configuration import Configuration, find_root, load_configuration
from ask_book.book.identity import book_id, folder_key
from ask_book.book.yaml_tree import Node
from ask_book.errors import AskBookError

SNIFFED_BYTES = 8192
EXPORT_VERSION = 1
EXPORTED_SITE = "site"


@dataclass(frozen=True)
class ChapterSource:
    """A page that `_quarto.yml` lists, in the book's order.

    `file` is relative to the project, with `/`. `part` is the title of the part ("" outside any; for a part
    that is itself a page, that page's title). `title` is the `text:` given beside the file, if any.
    """

    file: str
    part: str = ""
    appendix: bool = False
    title: str | None = None


@dataclass(frozen=True)
class Project:
    """`lang` is the language of the book's pages, "" when nothing says it. Paths are absolute.

    `chapters` are none where only the pages can be read: in an export, and in a project of the type `website`.
    """

    root: Path
    title: str
    authors: tuple[str, ...]
    lang: str
    site_url: str
    output_dir: Path
    book_id: str
    chapters: tuple[ChapterSource, ...]
    configuration: Configuration

    @property
    def profile(self) -> str:
        """`default`, or the active profiles joined by `+`."""
        return self.configuration.profile

    @property
    def config_files(self) -> tuple[Path, ...]:
        """Every YAML file that the configuration was read from."""
        return self.configuration.files

    @property
    def data_dir(self) -> Path:
        """Where a render leaves the manifest."""
        return self.root if self.configuration.is_export else self.root / ".quarto" / "ask-book" / self.profile

    @cached_property
    def key(self) -> str:
        """`folder_key` of this folder and profile."""
        return folder_key(self.root, self.profile)

    @cached_property
    def cache_dir(self) -> Path:
        """Where the plain rendition and its manifest go: never in the book's own folder."""
        import platformdirs

        return platformdirs.user_cache_path("ask-book", appauthor=False) / "plain" / self.key


def find_project(folder: Path, env: Mapping[str, str]) -> Project:
    """The book in `folder`, or in the nearest folder above it, as Quarto looks for it.

    Raises `AskBookError`: no `_quarto.yml`, broken YAML, no chapters, a listed chapter that is
    missing or no text (all with file and line).
    """
    project = describe(load_configuration(find_root(folder), env))
    if project.configuration.is_export or _is_website(project.configuration.tree):
        return project
    return replace(project, chapters=_chapters(project.configuration))


def describe(configuration: Configuration) -> Project:
    """The project without a look at its chapters, which may not be there."""
    tree, root = configuration.tree, configuration.root
    if configuration.is_export:
        return _exported(configuration)
    kind, output = ("website", "_site") if _is_website(tree) else ("book", "_book")
    title = tree.text_at(kind, "title") or tree.text_at("title")
    site_url = tree.text_at(kind, "site-url")
    output_dir = (root / (tree.text_at("project", "output-dir") or output)).resolve()
    return Project(
        root=root,
        title=title,
        authors=_authors(tree),
        lang=_lang(tree),
        site_url=site_url,
        output_dir=output_dir,
        book_id=book_id(title, tree.text_at("lang"), site_url, output_dir.name),
        chapters=(),
        configuration=configuration,
    )


def _is_website(tree: Node) -> bool:
    return tree.text_at("project", "type") == "website" and tree.get("book") is None


def _exported(configuration: Configuration) -> Project:
    tree, root = configuration.tree, configuration.root
    if tree.text_at("export") != str(EXPORT_VERSION):
        raise AskBookError(
            f"{configuration.main_file} is no export that this ask-book can read.",
            "Export the book again with the version of ask-book that serves it.",
            "export",
        )
    return Project(
        root=root,
        title=tree.text_at("title"),
        authors=_authors(tree),
        lang=tree.text_at("lang"),
        site_url=tree.text_at("site-url"),
        output_dir=root / EXPORTED_SITE,
        book_id=tree.text_at("book-id"),
        chapters=(),
        configuration=configuration,
    )


def _lang(tree: Node) -> str:
    places = (("lang",), ("format", "html", "lang"), ("book", "language"), ("book", "lang"))
    return next(filter(None, (tree.text_at(*place) for place in places)), "")


def _authors(tree: Node) -> tuple[str, ...]:
    places = (("book", "author"), ("book", "authors"), ("author",), ("authors",))
    node = next(filter(None, (tree.get(*place) for place in places)), None)
    return tuple(filter(None, map(_author, node.items()))) if node else ()


def _author(node: Node) -> str:
    if not node.is_mapping:
        return node.text
    if node.get("name", "given") or node.get("name", "family"):
        return " ".join(filter(None, (node.text_at("name", "given"), node.text_at("name", "family"))))
    return node.text_at("name", "literal") or node.text_at("name")


def _chapters(configuration: Configuration) -> tuple[ChapterSource, ...]:
    tree, root = configuration.tree, configuration.root
    if tree.get("book") is None:
        kind = tree.text_at("project", "type") or "default"
        raise AskBookError(
            f"{configuration.main_file} has no `book:`: this Quarto project is of the type `{kind}`, not a book.",
            "ask-book works on projects of the types `book` and `website`.",
            "no_book",
        )
    listed: dict[str, ChapterSource] = {}
    for key in ("chapters", "references", "appendices"):
        if node := tree.get("book", key):
            for chapter in _listed(node, root, "", key == "appendices"):
                listed.setdefault(chapter.file, chapter)
    if not listed:
        place = tree.get("book", "chapters") or tree.get("book")
        raise AskBookError(
            f"{place.where if place else configuration.main_file}: the book lists no chapters.",
            "Add at least one under `book: chapters:`, for example `- index.qmd`.",
            "empty_book",
        )
    return tuple(sorted(listed.values(), key=lambda chapter: not _is_home(chapter.file)))


def _is_home(file: str) -> bool:
    """Quarto puts the home page first, wherever it is listed."""
    return "/" not in file and PurePosixPath(file).stem == "index"


def _listed(node: Node, root: Path, part: str, appendix: bool) -> Iterator[ChapterSource]:
    for item in node.items():
        if not item.is_mapping:
            if item.text and item.text.strip("- "):
                yield ChapterSource(_checked(item, root), part, appendix)
        elif group := (item.get("part") or item.get("section")):
            is_page = (root / group.text).is_file()
            name = _page_title(root / group.text) if is_page else group.text
            if is_page:
                yield ChapterSource(_checked(group, root), name, appendix)
            if inner := (item.get("chapters") or item.get("contents")):
                yield from _listed(inner, root, name, appendix)
        elif page := (item.get("href") or item.get("file") or item.get("url")):
            yield ChapterSource(_checked(page, root), part, appendix, item.text_at("text") or None)
        else:
            raise AskBookError(
                f"{item.where}: this entry of the book names neither a file nor a part.",
                "Write `- chapter.qmd`, or `- part: Title` with `chapters:` under it.",
                "chapter",
            )


def _checked(node: Node, root: Path) -> str:
    """The file a node names, relative to the project: it is inside, exists and begins like text."""
    relative = PurePosixPath(node.text.replace("\\", "/"))
    path = root / relative
    if relative.is_absolute() or ".." in relative.parts:
        raise AskBookError(
            f"{node.where}: the chapter `{node.text}` is outside the project {root}.",
            "List files of the project's folder and its subfolders.",
            "chapter",
        )
    try:
        with path.open("rb") as file:
            start = file.read(SNIFFED_BYTES)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and path.exists():
            raise AskBookError(
                f"{node.where}: the chapter `{node.text}` cannot be read ({error.strerror}).",
                f"Make {path} readable.",
                "chapter",
            ) from None
        raise AskBookError(
            f"{node.where}: the chapter `{node.text}` is missing.",
            _nearest_file(path) or f"Create {path}, or take it out of the list.",
            "chapter",
        ) from None
    if b"\0" in start:
        raise AskBookError(
            f"{node.where}: the chapter `{node.text}` is not text (it has binary content).",
            "List .qmd, .md, .ipynb or .Rmd files, saved as UTF-8.",
            "chapter",
        )
    return relative.as_posix()


def _nearest_file(path: Path) -> str:
    """Where the name is only a slip: `Dams.qmd` for `dams.qmd`."""
    names = {name.name.casefold(): name.name for name in path.parent.glob("*.*")} if path.parent.is_dir() else {}
    near = get_close_matches(path.name.casefold(), names, n=1, cutoff=0.8)
    return f"There is a file `{names[near[0]]}` in that folder: did you mean that one?" if near else ""


def _page_title(path: Path) -> str:
    """A page's title: `title:` of its front matter, else its first level-one heading, else the file's name."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    front, body = "", text
    if match := re.match(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", text, re.DOTALL):
        front, body = match[1], text[match.end() :]
    if title := re.search(r"^title:[ \t]*(\S.*?)[ \t]*$", front, re.MULTILINE):
        return title[1].strip("\"'")
    body = re.sub(r"^(`{3,}|~{3,}).*?^\1", "", body, flags=re.MULTILINE | re.DOTALL)
    heading = re.search(r"^# +(\S.*?)[ \t]*(?:\{[^}\n]*\})?[ \t]*#*[ \t]*$", body, re.MULTILINE)
    return heading[1] if heading else path.stem
