"""Tests of pack.py, which `cargo test -p xtask` runs."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

import kaggle
import pack

NAMES = ("somebody", "Some runs", "some-competition")


class Tests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, *names):
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)

    def fault(self, call, *arguments):
        with self.assertRaises(SystemExit) as caught:
            call(*arguments)
        return str(caught.exception)

    def test_a_submission_is_looked_at_place_by_place(self):
        kaggle.check_the_scorer()

    def test_programs_are_files_or_all_of_a_folder(self):
        self.write("mine/b.py", "mine/a.py", "mine/notes.txt", "one.py")
        found = pack.files([self.folder / "one.py", self.folder / "mine"], "py")
        self.assertEqual(found, [self.folder / name for name in ("one.py", "mine/a.py", "mine/b.py")])
        self.assertEqual(pack.files([], "py"), [])

    def test_what_is_no_program_is_an_error_that_says_what_was_expected(self):
        self.write("a/same.py", "b/same.py", "none/notes.txt")

        def fault(*names):
            return self.fault(pack.files, [self.folder / name for name in names], "py")

        self.assertTrue(fault("absent.py").endswith("absent.py: expected a file or a folder, found none"))
        self.assertTrue(fault("none").endswith("expected *.py in this folder, found none"))
        self.assertTrue(fault("none/notes.txt").endswith("expected a file *.py or a folder of such files"))
        twice = fault("a", "b")
        for part in ("expected another name for each", "a/same.py", "b/same.py"):
            self.assertIn(part, twice)

    def test_a_machine_shape_is_a_name_or_none(self):
        page = (pathlib.Path(__file__).parent.parent.parent / pack.PAGE).read_text()
        for known in ("NvidiaTeslaT4", pack.NO_GPU):
            pack.check_shape(known)
            self.assertIn(f"| `{known}` |", page)
        for bad in ("", "T4 x2"):
            self.assertTrue(self.fault(pack.check_shape, bad).startswith(f"--machine-shape `{bad}`"))

    def test_a_wheel_that_kaggle_s_pip_would_not_install_is_an_error(self):
        pack.check_wheel("mega_batch-0.2.0-cp311-abi3-manylinux_2_34_x86_64.whl")
        pack.check_wheel("mega_batch-0.2.0-cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl")
        pack.check_wheel("other-1.0-1-py3-none-any.whl")
        for bad in (
            "mega_batch-0.2.0-cp311-abi3-manylinux_2_36_x86_64.whl",
            "mega_batch-0.2.0-cp311-abi3-manylinux_2_34_aarch64.whl",
            "mega_batch-0.2.0-cp311-abi3-linux_x86_64.whl",
            "mega_batch-0.2.0-cp311-abi3-win_amd64.whl",
            "any.whl",
        ):
            fault = self.fault(pack.check_wheel, bad)
            self.assertTrue(fault.startswith(f"{bad}: expected a wheel for Linux"), fault)

    def test_a_folder_is_made_anew_and_never_another_one_s(self):
        self.write("engine", "a.py", "b.py", "c.whl", "LICENSE", "other/dataset/precious")
        out = self.folder / "out"

        def made(out, programs, wheels):
            at = [[self.folder / name for name in names] for names in (programs, wheels, ["LICENSE"])]
            pack.pack(out, pack.Names(*NAMES), "NvidiaTeslaT4", self.folder / "engine", *at)
            return (out / "dataset/README.md").read_text()

        self.assertNotIn("wheels", made(out, ["a.py"], []))
        readme = made(out, ["b.py"], ["c.whl"])
        self.assertIn("pip install --no-index --find-links FOLDER/wheels mega_batch", readme)
        self.assertIn("`programs/` has 1 files of programs", readme)
        self.assertIn("The notebook somebody/some-runs copies it", readme)
        for folder, names in (
            ("dataset", ["LICENSE", "README.md", "dataset-metadata.json", "mega-batch", "programs", "wheels"]),
            ("dataset/programs", ["b.py"]),
            ("dataset/wheels", ["c.whl"]),
            ("notebook", ["kernel-metadata.json", "some-runs.ipynb"]),
        ):
            self.assertEqual(sorted(os.listdir(out / folder)), names)
        metadata = json.loads((out / "notebook/kernel-metadata.json").read_text())
        lines = [
            line.rstrip()
            for cell in json.loads((out / "notebook" / metadata["code_file"]).read_text())["cells"]
            if cell["cell_type"] == "code"
            for line in cell["source"]
        ]
        for setting in ('COMPETITION = "some-competition"', 'OWNER = "somebody"', 'DATASET = "some-runs-engine"'):
            self.assertEqual(lines.count(setting), 1, setting)
        made(self.folder / "bare", [], [])
        self.assertFalse((self.folder / "bare/dataset/programs").exists())
        fault = self.fault(made, self.folder / "other", [], [])
        self.assertIn("expected a folder that this command has made", fault)
        self.assertTrue((self.folder / "other/dataset/precious").is_file())

    def test_a_notebook_is_called_by_its_title(self):
        names = pack.Names("somebody", "My  ARC runs (2)", pack.COMPETITION)
        self.assertEqual((names.notebook, names.dataset), ("my-arc-runs-2", "my-arc-runs-2-engine"))
        metadata = names.of_notebook("run.ipynb", "NvidiaTeslaT4")
        self.assertEqual(metadata["id"], "somebody/my-arc-runs-2")
        self.assertEqual((metadata["enable_gpu"], metadata["enable_internet"]), (True, False))
        self.assertEqual(metadata["machine_shape"], "NvidiaTeslaT4")
        self.assertEqual(metadata["dataset_sources"], [names.of_dataset()["id"]])
        self.assertEqual(metadata["competition_sources"], [pack.COMPETITION])
        without = names.of_notebook("run.ipynb", pack.NO_GPU)
        self.assertEqual((without["enable_gpu"], without.get("machine_shape")), (False, None))

    def test_the_dataset_keeps_kaggle_s_bounds(self):
        for title in ("12345", "mega-batch", "a" * 43):
            names = pack.Names("somebody", title, pack.COMPETITION)
            dataset = names.of_dataset()
            for name in (dataset["title"], names.dataset):
                self.assertTrue(pack.SHORTEST <= len(name) <= pack.LONGEST, name)
            self.assertTrue(20 <= len(dataset["subtitle"]) <= 80)
            self.assertEqual(len(dataset["licenses"]), 1)

    def test_a_name_that_kaggle_would_refuse_is_an_error(self):
        for start, *names in (
            ("--owner `some body`", "some body", "mega-batch", pack.COMPETITION),
            ("--owner", "", "mega-batch", pack.COMPETITION),
            ("--title `mega`", "a", "mega", pack.COMPETITION),
            ("--title", "a", "a" * 44, pack.COMPETITION),
            ("--title", "a", "--------", pack.COMPETITION),
            ('--competition `a/b"`', "a", "mega-batch", 'a/b"'),
        ):
            self.assertTrue(self.fault(pack.Names, *names).startswith(start), names)

    def test_a_source_falls_into_its_cells(self):
        source = "# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\nx = 1\n\n\ny = 2\n\n"
        self.assertEqual(pack.cells(source), [(False, "# Title\n\nWords."), (True, "x = 1\n\n\ny = 2")])

    def test_an_error_says_the_line_and_what_was_expected(self):
        for source, fault in (
            ("x = 1\n", "line 1: expected `# %%`, found `x = 1`"),
            ("# %% [markdown]\nx = 1\n", "line 2: expected a comment, found `x = 1`"),
            ("# %%\n# %% [raw]\n", "line 2: expected `# %%` or `# %% [markdown]`, found `[raw]`"),
        ):
            self.assertEqual(self.fault(pack.cells, source), f"the notebook, {fault}")

    def test_a_source_without_a_setting_is_an_error(self):
        names = pack.Names(*NAMES)
        for source, fault in (
            ('COMPETITION = "a"\nDATASET = "b"', "0 settings OWNER"),
            ('OWNER = "a"\nOWNER = "b"\nCOMPETITION = "a"\nDATASET = "b"', "2 settings OWNER"),
        ):
            self.assertEqual(self.fault(pack.with_settings, source, names), f"the notebook has {fault}, expected one")

    def needs(self, **versions):
        needs = pack.Requirements.__new__(pack.Requirements)
        needs.linker, needs.libraries, needs.versions = pack.LINKER, ["libc.so.6"], versions
        return needs

    def test_versions_are_compared_as_numbers(self):
        self.assertLess(pack.glibc("GLIBC_2.4"), pack.glibc("GLIBC_2.34"))
        self.assertLess(pack.glibc("GLIBC_2.2.5"), pack.glibc("GLIBC_2.3"))
        self.assertEqual(pack.glibc("GLIBC_2.34"), pack.GLIBC)
        for name in ("GLIBC_ABI_DT_RELR", "GLIBC_PRIVATE", "GCC_3.0", "GLIBC_2.2.5.1"):
            self.assertIsNone(pack.glibc(name), name)

    def test_what_is_too_new_is_named_with_its_symbols(self):
        fits = self.needs(**{"GLIBC_2.34": ["__libc_start_main"], "GCC_3.0": []})
        self.assertEqual((fits.lacking(pack.GLIBC), fits.newest()), ([], pack.GLIBC))
        newer = self.needs(**{"GLIBC_2.38": ["__isoc23_strtol", "__isoc23_sscanf"], "GLIBC_ABI_DT_RELR": []})
        expected = ["GLIBC_2.38, by __isoc23_strtol, __isoc23_sscanf", "GLIBC_ABI_DT_RELR, by no symbol"]
        self.assertEqual(newer.lacking(pack.GLIBC), expected)

    def test_another_linker_and_unknown_libraries_are_named(self):
        other = self.needs()
        other.linker = "/lib/ld-musl-x86_64.so.1"
        other.libraries.append("libcuda.so.1")
        linker = f"expected the dynamic linker {pack.LINKER}, found {other.linker}"
        self.assertEqual(other.lacking(pack.GLIBC), [linker, "the library libcuda.so.1"])

    def test_what_python_itself_needs_is_read(self):
        data = pathlib.Path(sys.executable).resolve().read_bytes()
        if data[:6] != b"\x7fELF\2\1" or os.uname().machine != "x86_64":
            self.skipTest("no program for Linux on x86-64")
        needs = pack.Requirements(data)
        self.assertEqual(needs.linker, pack.LINKER)
        self.assertIn("libc.so.6", needs.libraries)
        of_start = [name for name, symbols in needs.versions.items() if "__libc_start_main" in symbols]
        self.assertEqual(len(of_start), 1)
        self.assertLessEqual(pack.glibc(of_start[0]), needs.newest())
        # A very old glibc has none of it.
        self.assertTrue(any("__libc_start_main" in line for line in needs.lacking((2, 2))))

    def test_what_is_no_program_is_an_error(self):
        for data in (b"#!/bin/sh\n", b"", b"\x7fELF\x02\x01\x01", b"\x7fELF\2\1" + b"\0" * 60):
            with self.assertRaises(ValueError):
                pack.Requirements(data)
        self.write("engine")
        fault = self.fault(pack.check_engine, self.folder / "engine")
        self.assertIn("engine: expected a program for Linux on x86-64", fault)


if __name__ == "__main__":
    unittest.main()
