"""Hooks of mkdocs: files outside docs are part of the site, and links reach them.

README.md is the start page. The menu takes the place of docs/README.md. Other files
outside docs go to the folder "repository".
"""

import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "assets/en_pointparse_sm.md")
_LINK = re.compile(r'(?<=\]\()[^)#\s]+|(?<=src=")[^"]+|(?<=srcset=")[^"]+')
_ROW = re.compile(r"^\|.*", re.MULTILINE)
_CODE = re.compile(r"`[^`\n]+`")


def on_files(files: Files, *, config: MkDocsConfig) -> None:
    """Add the pages outside docs, and all files outside docs that pages link to."""
    for path in PAGES:
        files.append(_make_file(path, config))
    for page in files.documentation_pages():
        for link in _LINK.findall(page.content_string):
            path = _find_target(page, link)
            if path and files.get_file_from_path(_get_uri(path)) is None:
                files.append(_make_file(path, config))


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Point links at the places that files have on the site, and unescape pipes in the
    code of tables, which GitHub needs escaped."""

    def move(link: re.Match[str]) -> str:
        path = _find_target(page.file, link[0])
        return relpath(_get_uri(path), dirname(page.file.src_uri)) if path else link[0]

    return _ROW.sub(_unescape_row, _LINK.sub(move, markdown))


def _unescape_row(row: re.Match[str]) -> str:
    return _CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0])


def _make_file(path: str, config: MkDocsConfig) -> File:
    return File.generated(config, _get_uri(path), abs_src_path=str(ROOT / path))


def _find_target(page: File, link: str) -> str | None:
    """Find the file, as a path in the repository, that a link of a page leads to."""
    home = page.src_uri.removeprefix("repository/")
    if page.src_uri == "index.md":
        home = "README.md"
    elif home == page.src_uri:
        home = f"docs/{home}"
    path = normpath(join(dirname(home), link))
    return path if (ROOT / path).is_file() else None


def _get_uri(path: str) -> str:
    """Get the place on the site of a file of the repository."""
    if path in ("README.md", "docs/README.md"):
        return "index.md"
    inside = path.removeprefix("docs/")
    return inside if inside != path else f"repository/{path}"
