"""Tests of wheel.py, which `cargo test -p xtask` runs."""

import pathlib
import tempfile
import unittest

import wheel


def package(name, licence):
    return {"id": f"id-{name}", "name": name, "version": "1.2.0", "license": licence}


class Tests(unittest.TestCase):
    def test_lines_of_a_tree_are_crates(self):
        lines = "serde v1.2.0 (*)\narc-dsl v1.2.0 (/some where/arc-dsl)\n\n"
        self.assertEqual(wheel.crates(lines), {("serde", "1.2.0"), ("arc-dsl", "1.2.0")})

    def test_the_document_has_what_is_linked_and_who_needs_it(self):
        deps = [
            {"pkg": "id-linked", "dep_kinds": [{"kind": "dev"}, {"kind": None}]},
            {"pkg": "id-builds", "dep_kinds": [{"kind": "build"}]},
        ]
        metadata = {
            "packages": [
                package("mega-batch-py", "MIT OR Apache-2.0"),
                package("linked", "MIT/Apache-2.0"),
                package("builds", "MIT"),
            ],
            "resolve": {"nodes": [{"id": "id-mega-batch-py", "deps": deps}, {"id": "id-linked", "deps": []}]},
        }
        linked = {("mega-batch-py", "1.2.0"), ("linked", "1.2.0")}
        made = wheel.sbom(metadata, linked)
        self.assertEqual([of["name"] for of in made["components"]], ["linked", "mega-batch-py"])
        self.assertEqual(made["components"][0]["licenses"], [{"expression": "MIT OR Apache-2.0"}])
        py, linked_crate = "pkg:cargo/mega-batch-py@1.2.0", "pkg:cargo/linked@1.2.0"
        self.assertEqual(
            made["dependencies"],
            [
                {"ref": "pkg:pypi/mega-batch@1.2.0", "dependsOn": [py]},
                {"ref": py, "dependsOn": [linked_crate]},
                {"ref": linked_crate, "dependsOn": []},
            ],
        )
        with self.assertRaises(SystemExit) as caught:
            wheel.sbom(metadata, linked | {("unknown", "1.2.0")})
        self.assertIn("2 of the 3 linked crates", str(caught.exception))

    def test_one_is_expected_where_there_is_to_be_one(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for found in (0, 2):
                with self.assertRaises(SystemExit) as caught:
                    wheel.only(folder.glob("*.whl"), "wheel")
                self.assertEqual(str(caught.exception), f"expected one wheel, found {found}")
                (folder / "a.whl").touch()
                (folder / "b.whl").touch()
            (folder / "a.whl").unlink()
            self.assertEqual(wheel.only(folder.glob("*.whl"), "wheel"), folder / "b.whl")


if __name__ == "__main__":
    unittest.main()
