"""Where the reports of a book are: outside the project, so that no preview renders them and no site publishes them."""

from __future__ import annotations

import os
from pathlib import Path

from ask_book.book.identity import folder_name
from ask_book.book.project import Project
from ask_book.book.settings import Settings
from ask_book.errors import AskBookError
from ask_book.reports.pdf import Style, style_of
from ask_book.reports.store import Store


def reports_of(project: Project, settings: Settings) -> Store:
    """The reports of a book: in the folder that the author chose, else in the user's own data folder."""
    if settings.reports_folder:
        return Store(_chosen(project, settings.reports_folder))
    import platformdirs

    data = platformdirs.user_data_path("ask-book", appauthor=False)
    return Store(data / "reports" / folder_name(project.root, project.key))


def book_style(project: Project, settings: Settings) -> Style:
    """The paper and main font of the book's own PDF; the setting `reports-font` is stronger."""
    tree = project.configuration.tree
    places = (("format", "pdf"), ())
    paper = next(filter(None, (tree.text_at(*place, "papersize") for place in places)), "")
    font = next(filter(None, (tree.text_at(*place, "mainfont") for place in places)), "")
    return style_of(paper, settings.reports_font or font)


def _chosen(project: Project, folder: str) -> Path:
    # resolved as far as it exists: a link must not lead back into the project
    path = Path(os.path.realpath(project.root / Path(folder).expanduser()))
    if path.is_relative_to(project.root) or path.is_relative_to(project.output_dir):
        raise AskBookError(
            f"`reports-folder` is {folder}, which is inside the project {project.root}.",
            "Choose a folder elsewhere: what is in the project can set off a preview or be published.",
            "settings",
        )
    return path
