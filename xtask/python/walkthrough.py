"""Follows the page that explains how to add something, literally.

Usage: python3 walkthrough.py ROOT

The project's files are copied below the target directory. Each code block of the page is inserted into the copy at the
place that the sentence before it names, and the commands for the reader are run there. So a page that no longer fits the
code fails the check.

The sentence before a code block ends with its place: a file and a line of it, as in "In `src/a.rs`, before the line
`fn b() {`:", a test ("before the test `name`"), or a new file ("In a new file `src/c.rs`:"). A block without a language
has commands, one per line, with a comment after `#`; commands whose comment says that they need more than Rust are
skipped. Blocks of the language `text` are only to be read.
"""

import os
import pathlib
import re
import subprocess
import sys
import time
from typing import NamedTuple, Optional

PAGE = "docs/extending.md"

# The build settings of the copy: compiling takes longer than running.
SETTINGS = {
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
    "CARGO_PROFILE_TEST_OPT_LEVEL": "0",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_TEST_DEBUG": "0",
    # A copy below the project would get the project's flags twice, which the compiler refuses.
    "CARGO_ENCODED_RUSTFLAGS": "",
}

NEW_FILE, BEFORE, AFTER, INSTEAD_OF, BEFORE_TEST = range(5)
WAYS = {
    ", before the line": BEFORE,
    ", after the line": AFTER,
    ", in place of the line": INSTEAD_OF,
    ", before the test": BEFORE_TEST,
}


class Put(NamedTuple):
    """Text for a file, and where in it."""

    line: int
    path: str
    way: int
    at: Optional[str]
    text: str


class Run(NamedTuple):
    """A command, and why it is skipped if it is."""

    line: int
    command: str
    skipped: Optional[str]


def expect(holds, what):
    if not holds:
        raise SystemExit(what)


def steps(name, text):
    """The steps of a document; an error names the line of the block that is wrong."""
    found, paragraph, ended = [], "", False
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        stripped = line.strip()
        if not stripped.startswith("```"):
            begins = ended or stripped.startswith(("-", "#", "|"))
            ended = not stripped
            paragraph = ("" if begins and not ended else paragraph) + stripped + " "
            continue
        margin = len(line) - len(line.lstrip())
        block = []
        for at, inside in lines:
            if inside.strip() == "```":
                break
            block.append((at, inside[margin:]))
        if stripped == "```":
            found += [command(name, *one) for one in block if one[1].strip()]
        elif stripped != "```text":
            where = place(paragraph)
            expect(
                where,
                f"{name}, line {number}: expected a sentence before the block that ends with its place, as in \"In "
                '`src/a.rs`, before the line `fn b() {`:"',
            )
            found.append(Put(number, *where, "".join(f"{line}\n" for _, line in block)))
        paragraph = ""
    return found


def command(name, number, line):
    words, _, comment = line.partition(" #")
    expect(words.startswith("cargo "), f"{name}, line {number}: expected a command of cargo, found `{line}`")
    needs = comment.strip()
    skipped = f"it {needs}" if needs.startswith("needs ") else None
    return Run(number, words.strip(), skipped)


def place(paragraph):
    """The path, the way and the line or test that a paragraph ends with."""
    parts = paragraph.strip().split("`")
    if len(parts) >= 3 and parts[-3].endswith("In a new file ") and parts[-1] == ":":
        return parts[-2].strip(), NEW_FILE, None
    if len(parts) >= 5 and parts[-5].endswith("In ") and parts[-1] == ":" and parts[-3].strip() in WAYS:
        return parts[-4].strip(), WAYS[parts[-3].strip()], parts[-2].strip()
    return None


def files(root):
    """The project's files, by their names."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=root, stdout=subprocess.PIPE, check=True, text=True).stdout
    paths = ((name, root / name) for name in names.split("\0") if name)
    return {name: path.read_bytes() for name, path in paths if path.is_file()}


def put_all(files, steps):
    for step in steps:
        if isinstance(step, Put):
            try:
                put(files, step)
            except SystemExit as error:
                raise SystemExit(f"{PAGE}, line {step.line}: {error}") from None


def put(files, step):
    if step.way == NEW_FILE:
        expect(step.path not in files, f"expected no file `{step.path}`, which is there")
        files[step.path] = step.text.encode()
        return
    expect(step.path in files, f"expected a file `{step.path}`, which is not there")
    try:
        files[step.path] = with_block(files[step.path].decode(), step.way, step.at, step.text).encode()
    except SystemExit as error:
        raise SystemExit(f"{step.path}: {error}") from None


def with_block(file, way, line, block):
    """A file with a block at its place. An empty line at the place is repeated on the other side of the block."""
    lines, own = file.splitlines(), block.splitlines()
    wanted = f"fn {line}() {{" if way == BEFORE_TEST else line
    found = [at for at, one in enumerate(lines) if one.strip() == wanted]
    expect(len(found) == 1, f"expected the line `{wanted}` once, found it {len(found)} times")
    (at,) = found

    def indent(line):
        return len(line) - len(line.lstrip())

    pad = " " * max(indent(lines[at]) - (indent(own[0]) if own else 0), 0)
    own = [pad + one if one else "" for one in own]
    replaced = 0
    if way == AFTER:
        at += 1
        own = [""] * (at < len(lines) and not lines[at].strip()) + own
    elif way == BEFORE:
        own += [""] * (at > 0 and not lines[at - 1].strip())
    elif way == BEFORE_TEST:
        while at > 0 and lines[at - 1].strip().startswith("#["):
            at -= 1
        own.append("")
    else:
        replaced = 1
    return "".join(f"{one}\n" for one in [*lines[:at], *own, *lines[at + replaced :]])


def write(folder, files):
    """Writes the copy; what is unchanged keeps its time, so that it is not compiled again."""
    for path in list(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).as_posix() not in files:
            path.unlink()
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def main():
    """All blocks come first and then all commands, each once, so everything is compiled only once."""
    root = pathlib.Path(sys.argv[1])
    found = steps(PAGE, (root / PAGE).read_text())
    print(f"{PAGE}: {len(found)} steps", flush=True)
    folder = root / os.environ.get("CARGO_TARGET_DIR", "target") / "walkthrough"
    copy = files(root)
    put_all(copy, found)
    write(folder / "copy", copy)
    settings = {**os.environ, **SETTINGS, "CARGO_TARGET_DIR": str(folder / "target")}
    done = set()
    for step in found:
        if isinstance(step, Put) or step.command in done:
            continue
        done.add(step.command)
        if step.skipped:
            print(f"  {step.command}: skipped: {step.skipped}", flush=True)
            continue
        words = re.sub("^cargo xtask ", "cargo run --quiet --package xtask -- ", step.command).split()
        began = time.monotonic()
        ended = subprocess.run([settings.get("CARGO", "cargo"), *words[1:]], cwd=folder / "copy", env=settings)
        expect(ended.returncode == 0, f"{PAGE}, line {step.line}: `{step.command}` failed ({ended.returncode})")
        print(f"  {step.command}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
