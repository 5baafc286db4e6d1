"""Compiles the kernels to PTX, which is committed and embedded, so that a build needs only Rust.

Usage: python3 ptx.py OPTIONS

OPTIONS is a JSON object with `check` and `nvcc` of `cargo xtask ptx`, which says what they mean; with the project's root;
and with a file for the reason if the compiler cannot be had here.

One PTX for compute capability 6.0 serves every newer GPU: the driver compiles it when it loads it. The compiler is pinned,
since a newer one writes a newer version of PTX, which older drivers reject, and since only the same compiler produces the
same bytes.
"""

import ctypes
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

KERNELS, SOURCE, IMAGE = "kernels", "kernels/programs.cu", "kernels/ptx/programs.ptx"

# For the oldest GPUs that are supported; CUDA 13 no longer compiles for them. The includes are resolved against the folder.
OPTIONS = ["--gpu-architecture=compute_60", "--std=c++17", f"--include-path={KERNELS}"]

# GPUs of each generation: P100, T4, A100, L4, H100, and the 50 series.
ARCHITECTURES = [f"sm_{number}" for number in (60, 75, 80, 89, 90, 120)]


class Missing(Exception):
    """Why the compiler cannot be had here."""


def expect(holds, what):
    if not holds:
        raise SystemExit(what)


@dataclass(frozen=True)
class Wheel:
    """A pinned tool: a wheel of the Python package index for Linux on x86-64, with a file that it contains."""

    package: str
    version: str
    sha256: str
    holds: str

    def fetch(self, root):
        """The folder that it is unpacked in; pip downloads it if necessary."""
        cache = root / "target/cuda"
        folder = cache / f"{self.package}-{self.version}"
        if (folder / self.holds).is_file():
            return folder
        if (sys.platform, platform.machine()) != ("linux", "x86_64"):
            raise Missing("the pinned compiler is for Linux on x86_64; elsewhere give `--nvcc PATH`")
        cache.mkdir(parents=True, exist_ok=True)
        # Unpacked elsewhere and renamed, so that an interrupted download leaves nothing behind.
        with tempfile.TemporaryDirectory(dir=cache) as aside:
            unpacked = pathlib.Path(aside) / "unpacked"
            print(f"fetching {self.package} {self.version} with pip", file=sys.stderr, flush=True)
            self.install(pathlib.Path(aside) / "requirements.txt", unpacked)
            expect((unpacked / self.holds).is_file(), f"{self.package} {self.version} does not hold {self.holds}")
            shutil.rmtree(folder, ignore_errors=True)
            unpacked.rename(folder)
        return folder

    def requirement(self):
        """The line of a requirements file that admits only this wheel."""
        return f"{self.package}=={self.version} --hash=sha256:{self.sha256}\n"

    def install(self, requirements, target):
        requirements.write_text(self.requirement())
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--no-deps", "--no-compile"]
        command += ["--disable-pip-version-check", "--only-binary=:all:", "--target", str(target)]
        # Without a network this must not take minutes.
        command += ["--retries=1", "--timeout=30", "--require-hashes", "--requirement", str(requirements)]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if ended.returncode != 0:
            raise Missing(
                f"{self.package} {self.version} was not fetched; Python 3 with pip is needed to fetch the compiler (or "
                f"give `--nvcc PATH`), and access to its package index:\n{ended.stderr.strip()}"
            )


# The compiler from CUDA C++ to PTX. Its PTX is of version 8.2, which drivers from 535 on load.
NVRTC = Wheel(
    "nvidia-cuda-nvrtc-cu12",
    "12.2.140",
    "b1cdcae6443cb7cdcfb5d1bf51896a148c9f82f9e65b27db9ab095eaed689aa7",
    "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
)

# The assembler, which knows the newest GPUs; it reads older PTX.
NVCC = Wheel(
    "nvidia-cuda-nvcc-cu12",
    "12.9.86",
    "5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0",
    "nvidia/cuda_nvcc/bin/ptxas",
)


def compiled(folder, name, source):
    """The PTX of a source, by the library of an unpacked wheel."""
    library = folder / NVRTC.holds
    # The compiler opens it by its bare name, which succeeds because it is already open.
    builtins = ctypes.CDLL(str(library.with_name("libnvrtc-builtins.so.12.2")))
    nvrtc = ctypes.CDLL(str(library))
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    program = ctypes.c_void_p()

    def succeeded(call, status):
        expect(status == 0, f"{call}: {nvrtc.nvrtcGetErrorString(status).decode()}")

    def text(what):
        size = ctypes.c_size_t()
        succeeded("asking for a size", getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        succeeded("asking for a text", getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
        return buffer.value.decode()

    create = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    succeeded("nvrtcCreateProgram", create)
    options = (ctypes.c_char_p * len(OPTIONS))(*(option.encode() for option in OPTIONS))
    status = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), options)
    log = text("ProgramLog").strip()
    expect(status == 0 and not log, f"{name} does not compile without errors and warnings:\n{log}")
    image = text("PTX")
    succeeded("nvrtcDestroyProgram", nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))
    del builtins
    return image


def compiled_by_nvcc(nvcc):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "programs.ptx"
        command = [nvcc, "--ptx", "--Werror=all-warnings", *OPTIONS, SOURCE, "--output-file", str(path)]
        ended = logged(command)
        expect(ended.returncode == 0, f"{nvcc} failed ({ended.returncode}):\n{ended.stdout}")
        return path.read_text()


def logged(command):
    """Runs a command, and collects what it says."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        raise SystemExit(f"{command[0]} cannot be run: {error}") from None


def warnings(folder, image):
    """Assembles the PTX for GPUs of each generation, by the assembler of an unpacked wheel, and prints what that says of
    registers, spills and memory; gives its warnings.
    """
    ptxas, found = str(folder / NVCC.holds), []
    with tempfile.TemporaryDirectory() as work:
        for architecture in ARCHITECTURES:
            # Without -Werror, so that the caller lists all warnings.
            flags = ["-v", "--warn-on-spills", "--warn-on-local-memory-usage", f"-arch={architecture}"]
            ended = logged([ptxas, *flags, str(image), "-o", f"{work}/image.cubin"])
            log = ended.stdout.strip()
            expect(ended.returncode == 0, f"the PTX does not assemble for {architecture}:\n{log}")
            print(f"{architecture}\n{log}", flush=True)
            found += warnings_in(architecture, log)
    return found


def warnings_in(architecture, log):
    lines = [line for line in log.splitlines() if line.startswith("ptxas warning")]
    return [f"{architecture}: {line.split(' : ', 1)[-1]}" for line in lines]


# A `setp` of a register and a number, and a branch.
COMPARISON = re.compile(r"setp\.(\w+)\.(?:s32|u32|b32)\s+([^,\s]+),\s*([^,\s]+),\s*(-?\d+);")
BRANCH = re.compile(r"(?:@(!?)(\S+)\s+)?bra(?:\.uni)?\s+(\S+);")

HOLDS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def tabulated(image):
    """The PTX with a branch table for each marked switch.

    NVRTC 12.2 compiles a switch to a tree of comparisons, eight deep for the opcodes of the kernels. `ARC_SWITCH`
    (`kernels/arc.cuh`) leaves a comment where such a tree begins, with the register and the number of cases; here the tree
    is followed for each number, and an indexed branch (`brx.idx.uni` of the PTX ISA) replaces it. The kernels guarantee
    that the number is the same in all lanes and less than the number of cases.
    """
    switches = Switches(image)
    for at, line in enumerate(switches.lines):
        mark = re.fullmatch(r"// arc switch (\S+) of (\d+)", line.strip())
        if mark:
            try:
                switches.replace(at, mark[1], int(mark[2]))
            except SystemExit as error:
                raise SystemExit(f"line {at + 1}: {line.strip()}: {error}") from None
    return switches.applied()


class Switches:
    def __init__(self, image):
        self.lines = image.removesuffix("\n").split("\n")
        self.labels = {line.strip()[:-1]: at for at, line in enumerate(self.lines) if line.strip().endswith(":")}
        # The numbers of lines that go; the texts and the labels that come before lines.
        self.dropped, self.inserted, self.new_labels = set(), {}, {}

    def comparison(self, at):
        return COMPARISON.fullmatch(self.lines[at].strip())

    def applied(self):
        text = []
        for at, line in enumerate(self.lines):
            if at in self.new_labels:
                text.append(f"{self.new_labels[at]}:\n")
            text.append(self.inserted.get(at, ""))
            if at not in self.dropped:
                text.append(f"{line}\n")
        return "".join(text)

    def replace(self, mark, register, count):
        """Replaces the tree of a mark by a table."""
        paths = [self.follow(mark, register, number) for number in range(count)]
        expect(paths, "expected numbers")
        branch = paths[0][0]
        expect(all(path[0] == branch for path in paths), "the tree begins at several places")
        read = self.still_read(mark)
        table = f"$L_arc_switch_{len(self.inserted)}"
        targets, detours = [], ""
        for number, (_, target, predicates) in enumerate(paths):
            label = self.label_before(target)
            if label is None:
                label = self.new_labels.setdefault(target, f"{table}_target_{number}")
            # Predicates that the rest of the function reads are set on a detour.
            said = sorted((name, holds) for name, holds in predicates.items() if name in read)
            if not said:
                targets.append(label)
                continue
            targets.append(f"{table}_{number}")
            detours += f"\n{targets[-1]}:\n"
            detours += "".join(f"\tmov.pred \t{name}, {-int(holds)};\n" for name, holds in said)
            detours += f"\tbra.uni \t{label};\n"
        listed = ",\n\t".join(targets)
        self.inserted[branch] = (
            f"\t{table}: .branchtargets\n\t{listed};\n\tbrx.idx.uni \t{register}, {table};\n{detours}"
        )

    def follow(self, mark, register, number):
        """Follows the tree for a number: the line of its first branch, the line where it leaves the tree, and the results
        of its comparisons.
        """
        predicates, first, at = {}, None, mark + 1
        for _ in self.lines:
            expect(at < len(self.lines), "the file ends in the tree")
            line = self.lines[at].strip()
            if line.startswith("// arc part"):
                break
            if not line or line.startswith(("//", ".pragma")) or line.endswith(":"):
                at += 1
                continue
            comparison = COMPARISON.fullmatch(line)
            if comparison and comparison[3] == register:
                expect(comparison[1] in HOLDS, f"a comparison by {comparison[1]}")
                self.dropped.add(at)
                predicates[comparison[2]] = HOLDS[comparison[1]](number, int(comparison[4]))
                at += 1
                continue
            branch, holds = BRANCH.fullmatch(line), None
            if branch and branch[2]:
                holds = predicates.get(branch[2])
            elif branch and self.is_other_way(at, register):
                # An unconditional jump belongs to a case's body, unless the tree jumps over it.
                holds = True
            if holds is not None:
                first = at if first is None else first
                self.dropped.add(at)
                if holds == bool(branch[1]):
                    at += 1
                else:
                    expect(branch[3] in self.labels, "a branch to nowhere")
                    at = self.labels[branch[3]]
            elif first is None:
                # Code before the first branch stays.
                at += 1
            else:
                break
        expect(first is not None, "expected a tree of comparisons")
        return first, at, predicates

    def is_other_way(self, at, register):
        """Whether a jump directly follows a branch of the tree."""
        before = [line for line in range(at) if self.lines[line].strip()][-2:]
        if len(before) < 2:
            return False
        branch, comparison = BRANCH.fullmatch(self.lines[before[1]].strip()), self.comparison(before[0])
        predicate = branch[2] if branch else None
        return bool(comparison) and comparison[3] == register and comparison[2] == predicate

    def still_read(self, mark):
        """The predicates of removed comparisons that the rest of the function still reads."""
        begin = next((at for at in range(mark - 1, -1, -1) if self.lines[at] == "{"), 0)
        end = next((at for at in range(mark, len(self.lines)) if self.lines[at] == "}"), len(self.lines))
        function = range(begin, end)
        gone = {comparison[2] for at in function if at in self.dropped and (comparison := self.comparison(at))}
        kept = (self.lines[at] for at in function if at not in self.dropped)
        return {word for line in kept for word in re.split(r"[^\w%$]", line) if word in gone}

    def label_before(self, at):
        """The label of a line, if only comments are in between."""
        for back, line in enumerate(line.strip() for line in reversed(self.lines[: at + 1])):
            is_mark = line.startswith("// arc part") and back > 0
            if is_mark or line and not line.startswith("//") and (back > 0 or line.endswith(":")):
                return line[:-1] if line.endswith(":") else None
        return None


def difference(found, expected):
    """Where the committed PTX is unlike what its sources give, if it is."""
    if found == expected:
        return None
    if not found:
        return "there is none"
    both = [[*text.splitlines(), "the end"] for text in (found, expected)]
    for number, (ours, theirs) in enumerate(zip(*both), 1):
        if ours != theirs:
            return f"line {number}: `{ours.strip()}`, expected `{theirs.strip()}`"
    return "its last line has another end"


def main():
    options = json.loads(sys.argv[1])
    root = pathlib.Path(options["root"])
    # So that the source and its includes have the same names everywhere, which the PTX contains.
    os.chdir(root)
    path = pathlib.Path(IMAGE)
    committed = path.read_text() if path.exists() else ""
    try:
        if options["nvcc"]:
            image = compiled_by_nvcc(options["nvcc"])
        else:
            nvrtc, nvcc = NVRTC.fetch(root), NVCC.fetch(root) if options["check"] else None
            image = compiled(nvrtc, SOURCE, pathlib.Path(SOURCE).read_text())
    except Missing as reason:
        return pathlib.Path(options["told"]).write_text(str(reason))
    image = tabulated(image)
    if options["check"]:
        unlike = difference(committed, image)
        expect(not unlike, f"{IMAGE} is out of date ({unlike}): run `cargo xtask ptx`")
        found = "\n  ".join(warnings(nvcc, path))
        expect(not found, f"{IMAGE} assembles, but\n  {found}")
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text(image)
        print(f"{IMAGE}: {'unchanged' if committed == image else 'written'}, {len(image)} bytes")


if __name__ == "__main__":
    main()
