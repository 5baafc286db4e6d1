"""Writes the two folders to upload to Kaggle: a dataset with the engine, and a notebook that runs it.

Usage: python3 pack.py OPTIONS

OPTIONS is a JSON object with the options of `cargo xtask kaggle`, which say what they mean, and with the engine and the
files of licences.
"""

import json
import pathlib
import re
import shutil
import string
import struct
import sys

# The page that explains how to use the folders.
PAGE = "docs/kaggle.md"
SOURCE = pathlib.Path(__file__).parent.parent / "src/kaggle/notebook.py"

# The competition and the uploader, if none is given; the last day of that competition's submissions; the machine shape
# that means no GPU.
COMPETITION, CLOSED = "arc-prize-2026-arc-agi-2", "2 November 2026"
OWNER, NO_GPU = "KAGGLE_USER", "none"

# The names of the metadata's files, by which the command line tool of Kaggle finds them.
DATASET_METADATA, NOTEBOOK_METADATA = "dataset-metadata.json", "kernel-metadata.json"

# The suffix of the dataset's title, and the number of characters that a title may have.
OF_DATASET, SHORTEST, LONGEST = " engine", 6, 50

# What Kaggle's machines have: the version of glibc, the dynamic linker, and the libraries of both and of the compiler.
GLIBC = (2, 34)
LINKER = "/lib64/ld-linux-x86-64.so.2"
LIBRARIES = {
    *("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2"),
    *("libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"),
}


def expect(holds, what):
    if not holds:
        raise SystemExit(what)


class Names:
    """The uploader and all names, if Kaggle accepts them."""

    def __init__(self, owner, title, competition):
        what = "expected the name in the address of"
        part = r"[0-9A-Za-z_-]+"
        expect(
            re.fullmatch(part, owner),
            f"--owner `{owner}`: {what} a profile at Kaggle: letters, digits, `-` and `_`",
        )
        expect(
            re.fullmatch(part, competition),
            f"--competition `{competition}`: {what} the competition, as `{COMPETITION}`",
        )
        # The notebook's own limits are unknown; 5 characters have been enough.
        longest = LONGEST - len(OF_DATASET)
        expect(
            re.fullmatch(r"[ -~]{5,%d}" % longest, title) and len(re.findall("[0-9A-Za-z]", title)) >= 5,
            f"--title `{title}`: expected 5 to {longest} ASCII characters, 5 of them letters or digits",
        )
        # Kaggle derives a notebook's name in addresses from its title, so it cannot be another one.
        self.owner, self.title, self.competition = owner, title, competition
        self.notebook, self.dataset = slug(title), slug(title + OF_DATASET)

    def of_dataset(self):
        return {
            "id": f"{self.owner}/{self.dataset}",
            "title": self.title + OF_DATASET,
            "subtitle": "The engine mega-batch for Linux, and programs in the ARC DSL",
            # The programs in it belong to their authors.
            "licenses": [{"name": "other"}],
            "description": "mega-batch is licensed under either of MIT or Apache-2.0. README.md says more.",
        }

    def of_notebook(self, file, shape):
        metadata = {
            "id": f"{self.owner}/{self.notebook}",
            "title": self.title,
            "code_file": file,
            "language": "python",
            "kernel_type": "notebook",
            "is_private": True,
            "enable_gpu": shape != NO_GPU,
            "enable_tpu": False,
            "enable_internet": False,
            "dataset_sources": [f"{self.owner}/{self.dataset}"],
            "competition_sources": [self.competition],
            "kernel_sources": [],
            "model_sources": [],
        }
        return metadata if shape == NO_GPU else {**metadata, "machine_shape": shape}


def slug(title):
    """A title in the form that Kaggle uses in an address."""
    return "-".join(re.findall("[0-9a-z]+", title.lower()))


def check_shape(name):
    """Kaggle adds machine shapes from time to time, so which there are is not checked."""
    expect(
        re.fullmatch("[0-9A-Za-z]+", name),
        f"--machine-shape `{name}`: expected a name as NvidiaTeslaT4, or `{NO_GPU}`",
    )


def files(places, ending):
    """The files with this ending at these paths. Their names must differ, since they go into one folder."""
    found = {}
    for place in map(pathlib.Path, places):
        expect(place.exists(), f"{place}: expected a file or a folder, found none")
        inside = sorted(place.iterdir()) if place.is_dir() else [place]
        inside = [path for path in inside if path.is_file() and path.suffix == f".{ending}"]
        expect(inside or not place.is_dir(), f"{place}: expected *.{ending} in this folder, found none")
        expect(inside, f"{place}: expected a file *.{ending} or a folder of such files")
        for path in inside:
            other = found.setdefault(path.name, path)
            expect(
                other is path,
                f"{other} and {path}: expected another name for each, since they go into one folder",
            )
    return list(found.values())


def check_wheel(path):
    """Whether pip installs a wheel at Kaggle, by its name."""
    # The name, the version, perhaps the number of a build, the Python, its interface, and the platforms.
    tags = pathlib.Path(path).stem.split("-")
    old = {"any", "manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64"}

    def suits(platform):
        version = re.fullmatch(r"manylinux_(\d+)_(\d+)_x86_64", platform)
        return platform in old or version and tuple(map(int, version.groups())) <= GLIBC

    expect(
        len(tags) in (5, 6) and any(map(suits, tags[-1].split("."))),
        f"{path}: expected a wheel for Linux on x86-64 with glibc {shown(GLIBC)} at most, as manylinux_2_34_x86_64 at "
        "the end of its name says, or for any machine; `cargo xtask wheel --zig` builds one",
    )


def shown(version):
    return ".".join(map(str, version))


def glibc(name):
    """The version of glibc that a version of a symbol names, if any."""
    version = re.fullmatch(r"GLIBC_(\d+(?:\.\d+){0,2})", name)
    return version and tuple(map(int, version[1].split(".")))


class Requirements:
    """What a program needs of the machine that runs it."""

    def __init__(self, data):
        """From the bytes of an ELF file; what is no program for Linux on x86-64 is a `ValueError`."""
        self.linker, self.libraries, self.versions = None, [], {}
        if data[:6] != b"\x7fELF\2\1":
            raise ValueError("no ELF file of 64 bits")
        try:
            self.read(data)
        except (struct.error, IndexError, KeyError) as error:
            raise ValueError(f"a broken ELF file: {error}") from None

    def read(self, data):
        machine, programs, sections = struct.unpack_from("<H12xQQ", data, 18)
        if machine != 62:
            raise ValueError(f"for the machine with ELF's number {machine}")
        program_size, program_count, section_size, section_count = struct.unpack_from("<4H", data, 54)

        def text(at):
            return data[at : data.index(b"\0", at)].decode(errors="replace")

        for at in range(programs, programs + program_size * program_count, program_size):
            kind, offset = struct.unpack_from("<I4xQ", data, at)
            if kind == 3:
                self.linker = text(offset)
        if not self.linker:
            # It is linked statically.
            return
        # By its kind: where a section begins, its size, and the section of its names.
        at = [sections + section_size * number for number in range(section_count)]
        headers = [struct.unpack_from("<4xI16xQQI", data, place) for place in at]
        kinds = {kind: (begin, begin + size, headers[names][1]) for kind, begin, size, names in headers}
        begin, end, names = kinds[6]
        for tag, value in struct.iter_unpack("<qQ", data[begin:end]):
            if tag == 1:
                self.libraries.append(text(names + value))
        if 0x6FFFFFFE not in kinds:
            return
        of_symbols = {}
        file, _, names = kinds[0x6FFFFFFE]
        while True:
            count, first, next_file = struct.unpack_from("<2xH4xII", data, file)
            version = file + first
            for _ in range(count):
                number, name, next_version = struct.unpack_from("<6xHII", data, version)
                of_symbols[number] = self.versions.setdefault(text(names + name), [])
                version += next_version
            if not next_file:
                break
            file += next_file
        numbers, end, _ = kinds[0x6FFFFFFF]
        symbols, _, names = kinds[11]
        for at in range((end - numbers) // 2):
            (number,) = struct.unpack_from("<H", data, numbers + 2 * at)
            if number & 0x7FFF in of_symbols:
                (name,) = struct.unpack_from("<I", data, symbols + 24 * at)
                of_symbols[number & 0x7FFF].append(text(names + name))

    def newest(self):
        return max(filter(None, map(glibc, self.versions)), default=None)

    def lacking(self, most):
        """What a machine with this glibc lacks, a line each."""
        lines = []
        if self.linker and self.linker != LINKER:
            lines.append(f"expected the dynamic linker {LINKER}, found {self.linker}")
        lines += [f"the library {name}" for name in self.libraries if name not in LIBRARIES]
        for name, symbols in sorted(self.versions.items()):
            version = glibc(name)
            if version and version > most or not version and name.startswith("GLIBC_"):
                lines.append(f"{name}, by {', '.join(symbols) or 'no symbol'}")
        return lines


def check_engine(path):
    try:
        needs = Requirements(path.read_bytes())
    except ValueError as error:
        raise SystemExit(f"{path}: expected a program for Linux on x86-64: {error}") from None
    lacking = "\n  ".join(needs.lacking(GLIBC))
    expect(
        not lacking,
        f"{path}: expected what a machine with glibc {shown(GLIBC)} has, found that it needs\n  {lacking}\n"
        f"{PAGE} says how it is built for an older glibc",
    )
    return needs


def with_settings(source, names):
    """The notebook's source with these names as values of its settings."""
    for setting, value in (("COMPETITION", names.competition), ("OWNER", names.owner), ("DATASET", names.dataset)):
        source, count = re.subn(f'(?m)^{setting} = ".*$', f'{setting} = "{value}"', source)
        expect(count == 1, f"the notebook has {count} settings {setting}, expected one")
    return source


def cells(source):
    """The cells of a source: it has a line `# %%` before each, and `# %% [markdown]` before one of Markdown."""
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        where = f"the notebook, line {number}: expected"
        if line.startswith("# %%"):
            mark = line[4:].strip()
            expect(mark in ("", "[markdown]"), f"{where} `# %%` or `# %% [markdown]`, found `{mark}`")
            found.append((not mark, []))
            continue
        expect(found, f"{where} `# %%`, found `{line}`")
        is_code, lines = found[-1]
        if not is_code:
            expect(line.startswith("#") or not line, f"{where} a comment, found `{line}`")
            line = line[1:].removeprefix(" ")
        lines.append(line)
    return [(is_code, "\n".join(lines).strip("\n")) for is_code, lines in found]


def notebook(source):
    def cell(number, is_code, text):
        of_code = {"execution_count": None, "outputs": []} if is_code else {}
        kind, lines = ("code" if is_code else "markdown"), text.splitlines(keepends=True)
        return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **of_code}

    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "cells": [cell(number, *parts) for number, parts in enumerate(cells(source))],
    }


README = string.Template("""\
# $title

`mega-batch` runs programs in the ARC DSL on ARC tasks; this is the program for Linux on x86-64, with the kernels for \
NVIDIA GPUs in it. $programs

The notebook $owner/$notebook copies it to where it may be executed. By hand:

```
cp mega-batch /tmp/ && chmod +x /tmp/mega-batch && /tmp/mega-batch --help
```

${wheels}mega-batch is licensed under either of MIT or Apache-2.0, at your option.
""")

WHEELS = """\
`wheels/` has the Python package. In a notebook, with this dataset as FOLDER below /kaggle/input:

```
!pip install --no-index --find-links FOLDER/wheels mega_batch
import mega_batch
```

"""


def emptied(folder, mark):
    """The folder, emptied. An existing one is removed only if it has the file that this script writes into its folders."""
    if folder.exists():
        expect(
            (folder / mark).is_file(),
            f"{folder}: expected a folder that this command has made, with {mark} in it, or none",
        )
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def pack(out, names, shape, binary, programs, wheels, licences):
    """Writes both folders, replacing those written before."""
    dataset = emptied(out / "dataset", DATASET_METADATA)
    # First, so that an incomplete folder is known to be ours.
    write_json(dataset / DATASET_METADATA, names.of_dataset())
    shutil.copy(binary, dataset / "mega-batch")
    for name, some in ((".", licences), ("programs", programs), ("wheels", wheels)):
        (dataset / name).mkdir(exist_ok=True)
        for file in some:
            shutil.copy(file, dataset / name)
        if not some and name != ".":
            (dataset / name).rmdir()
    told = f"`programs/` has {len(programs)} files of programs in the ARC DSL."
    if not programs:
        told = "There are no programs here: the notebook runs the built-in ones."
    of_wheels = WHEELS if wheels else ""
    (dataset / "README.md").write_text(README.substitute(vars(names), programs=told, wheels=of_wheels))

    folder = emptied(out / "notebook", NOTEBOOK_METADATA)
    file = f"{names.notebook}.ipynb"
    write_json(folder / NOTEBOOK_METADATA, names.of_notebook(file, shape))
    write_json(folder / file, notebook(with_settings(SOURCE.read_text(), names)))


def main():
    options = json.loads(sys.argv[1])
    names = Names(options["owner"], options["title"], options["competition"])
    shape, out = options["machine_shape"], pathlib.Path(options["out"])
    check_shape(shape)
    programs, wheels = files(options["programs"], "py"), files(options["wheels"], "whl")
    for wheel in wheels:
        check_wheel(wheel)
    binary = pathlib.Path(options["binary"])
    if options["check"]:
        # It runs here, and is not uploaded.
        return pack(out, names, shape, binary, programs, wheels, [])
    needs = check_engine(binary)
    pack(out, names, shape, binary, programs, wheels, options["licences"])
    version = shown(needs.newest() or ["none"])
    print(
        f"{out}/dataset: the engine (glibc needed: {version}), {len(programs)} files of programs, {len(wheels)} wheels"
    )
    print(f"{out}/notebook: for {names.competition}, machine shape {shape}")
    if names.competition == COMPETITION:
        print(f"note: {COMPETITION} took submissions until {CLOSED}: say --competition NAME for another one")
    if names.owner == OWNER:
        print(f"note: the owner is {OWNER}, whom Kaggle does not know: say --owner NAME before you upload")
    print(f"kaggle datasets create -p {out}/dataset -r zip   # then: datasets version -m TEXT")
    # The same as in the metadata: users disagree on which of the two counts.
    accelerator = "" if shape == NO_GPU else f" --accelerator {shape}"
    print(f"kaggle kernels push -p {out}/notebook{accelerator}   # {PAGE} says what comes then")


if __name__ == "__main__":
    main()
