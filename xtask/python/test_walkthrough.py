"""Tests of walkthrough.py, which `cargo test -p xtask` runs."""

import pathlib
import subprocess
import unittest

import walkthrough
from walkthrough import AFTER, BEFORE, BEFORE_TEST, INSTEAD_OF, NEW_FILE, Put, Run

ROOT = pathlib.Path(__file__).parent.parent.parent


class Tests(unittest.TestCase):
    def fault(self, call, *arguments):
        with self.assertRaises(SystemExit) as caught:
            call(*arguments)
        return str(caught.exception)

    def test_a_block_is_put_where_the_sentence_says(self):
        file = "fn a() {\n    one();\n    two();\n}\n\n#[test]\nfn b() {\n}\n"
        for way, line, block, old, new in (
            (AFTER, "one();", "more();\n", "one();", "one();\n    more();"),
            (BEFORE, "two();", "more();\n", "one();", "one();\n    more();"),
            (INSTEAD_OF, "two();", "three();\n", "two", "three"),
            (BEFORE_TEST, "b", "#[test]\nfn c() {\n}\n", "#[test]", "#[test]\nfn c() {\n}\n\n#[test]"),
        ):
            self.assertEqual(walkthrough.with_block(file, way, line, block), file.replace(old, new))
        # An empty line at the place is repeated.
        for way, line in ((BEFORE, "b"), (AFTER, "a")):
            self.assertEqual(walkthrough.with_block("a\n\nb\n", way, line, "c\n"), "a\n\nc\n\nb\n")

    def test_a_line_that_is_not_there_once_is_an_error(self):
        for line, count in (("a", 2), ("d", 0)):
            fault = self.fault(walkthrough.with_block, "a\nb\na\n", BEFORE, line, "c\n")
            self.assertEqual(fault, f"expected the line `{line}` once, found it {count} times")

    def test_every_block_of_the_page_has_its_place(self):
        """Everything but the commands, so that the tests find a line that has changed."""
        try:
            files = walkthrough.files(ROOT)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("outside a checkout the files are unknown")
        found = walkthrough.steps(walkthrough.PAGE, (ROOT / walkthrough.PAGE).read_text())
        blocks = sum(isinstance(step, Put) for step in found)
        self.assertTrue(10 < blocks < len(found), blocks)
        walkthrough.put_all(files, found)

    def test_a_block_has_the_place_that_its_paragraph_ends_with(self):
        text = "# Page\n\nIt counts `x`. In\n`src/a.rs`, before the line\n`fn b() {`:\n\n```rust\nfn c() {\n    d();\n}\n```\n"
        expected = Put(7, "src/a.rs", BEFORE, "fn b() {", "fn c() {\n    d();\n}\n")
        self.assertEqual(walkthrough.steps("page.md", text), [expected])
        for sentence, way, line in (
            ("In `a`, after the line `b`:", AFTER, "b"),
            ("In `a`, in place of the line `b`:", INSTEAD_OF, "b"),
            ("In `a`, before the test `b`:", BEFORE_TEST, "b"),
            ("In a new file `a`:", NEW_FILE, None),
        ):
            self.assertEqual(walkthrough.place(sentence), ("a", way, line))

    def test_a_block_in_a_list_loses_the_margin(self):
        (found,) = walkthrough.steps("page.md", "- In a new file `a`:\n\n  ```rust\n  x {\n    y\n  ```\n")
        self.assertEqual(found.text, "x {\n  y\n")

    def test_a_block_without_a_place_is_an_error(self):
        for before in (
            "",
            "In `a`, before the line `b`.",
            "In `a`, near the line `b`:",
            "In `a`, before the line `b`:\n\nAnother paragraph:",
        ):
            fault = self.fault(walkthrough.steps, "page.md", f"{before}\n\n```rust\nx\n```\n")
            line = max(len(before.splitlines()) + 2, 3)
            self.assertTrue(fault.startswith(f"page.md, line {line}: expected"), fault)

    def test_a_block_of_commands_has_one_of_cargo_in_each_line(self):
        fault = self.fault(walkthrough.steps, "page.md", "```\ncargo a # first\n--all cargo b\n```\n")
        self.assertEqual(fault, "page.md, line 3: expected a command of cargo, found `--all cargo b`")

    def test_commands_are_run_unless_they_need_more_than_rust(self):
        text = "```\ncargo a  # quick\n\ncargo b\ncargo c # needs a GPU\n```\n```text\nx\n```\n"
        expected = [Run(2, "cargo a", None), Run(4, "cargo b", None), Run(5, "cargo c", "it needs a GPU")]
        self.assertEqual(walkthrough.steps("page.md", text), expected)


if __name__ == "__main__":
    unittest.main()
