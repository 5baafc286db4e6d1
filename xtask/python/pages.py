"""Pages of the site that are no files of docs/. MkDocs calls these functions (mkdocs.yml)."""

import re
from pathlib import Path

from mkdocs.structure.files import File

PACKAGE = Path(__file__).parents[2] / "crates/mega-batch-py"

# The five jobs of docs/python.md, by their scripts.
JOBS = {
    "Self-consistency": "self_consistency.py",
    "A reward": "reward.py",
    "Tasks to train on": "make_tasks.py",
    "A genetic search": "genetic_search.py",
    "A training": "train.py",
}

# The modules on the page of the API.
MODULES = ["mega_batch", "mega_batch.synth", "mega_batch.charts", "mega_batch.ray", "mega_batch.typing"]


def on_files(files, config):
    def job(title, name):
        code = (PACKAGE / "examples" / name).read_text(encoding="utf-8")
        return f"\n## {title}\n\n```python\n{code}```\n"

    pages = {
        # The start page is that of the package.
        "index.md": (PACKAGE / "README.md").read_text(encoding="utf-8"),
        "cookbook.md": "# Cookbook\n\nEach of these is a script that runs as it stands.\n"
        + "".join(job(title, name) for title, name in JOBS.items()),
        "api.md": "# API\n" + "".join(f"\n::: {module}\n" for module in MODULES),
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, **_):
    """Replaces links to files that are no pages of the site by their text."""
    return re.sub(r"\[([^\[]*?)\]\(\.\./[^)]*\)", r"\1", markdown)
