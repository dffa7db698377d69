"""The guide: every snippet does what the page says, and every page is in it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pages import blocks, follow

REPOSITORY = Path(__file__).parents[2]
GUIDE = REPOSITORY / "docs" / "guide" / "src"
PAGES = sorted(page.name for page in GUIDE.glob("*.md"))
#: Pages without a snippet: the contents, and what `tailcut show reference` prints.
WITHOUT = {"SUMMARY.md", "reference.md"}


@pytest.mark.parametrize("name", [name for name in PAGES if name not in WITHOUT])
def test_every_snippet_does_what_its_page_says(tmp_path: Path, name: str) -> None:
    if any(block["kind"] == "bash" for block in blocks(GUIDE / name)) and shutil.which("bash") is None:
        pytest.skip("there is no bash")
    assert follow(GUIDE / name, tmp_path), "a page has commands"


def test_every_page_is_in_the_contents_and_every_link_leads_somewhere() -> None:
    contents = re.findall(r"\]\((\S+\.md)\)", (GUIDE / "SUMMARY.md").read_text(encoding="utf-8"))
    assert sorted(contents) == sorted(set(PAGES) - {"SUMMARY.md"})
    for name in PAGES:
        links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", (GUIDE / name).read_text(encoding="utf-8"))
        assert [link for link in links if "://" not in link and not (GUIDE / link).exists()] == [], name
