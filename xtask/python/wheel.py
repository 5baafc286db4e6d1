"""Builds the Python package, and tests it in a fresh environment.

Usage: python3 wheel.py OPTIONS

OPTIONS is a JSON object with the options of `cargo xtask wheel`, which say what they mean; with the project's root; and
with a file for the reason if the package cannot be built here, which is no failure.

The package has the module and the command: maturin makes a wheel of each, and both are packed into one.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

CRATE, COMMAND_CRATE = "crates/mega-batch-py", "crates/mega-batch-cli"
EXE = ".exe" if os.name == "nt" else ""
COMMAND = f"mega-batch{EXE}"
CARGO = os.environ.get("CARGO", "cargo")

# Besides what maturin puts into a source distribution.
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")


class Skipped(Exception):
    """Why the package cannot be built here."""


def expect(holds, what):
    if not holds:
        raise SystemExit(what)


def run(command, **settings):
    """Runs a command that must succeed."""
    command = [str(word) for word in command]
    shown = " ".join(command)
    print(f"$ {shown}", file=sys.stderr, flush=True)
    try:
        ended = subprocess.run(command, **settings)
    except OSError as error:
        raise SystemExit(f"`{shown}` cannot be run: {error}") from None
    expect(ended.returncode == 0, f"`{shown}` failed ({ended.returncode})")
    return ended


def stage(name, work, *arguments):
    print(f"wheel: {name} ...", file=sys.stderr, flush=True)
    began = time.monotonic()
    made = work(*arguments)
    print(f"wheel: {name}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return made


def output(command, **settings):
    return run(command, stdout=subprocess.PIPE, text=True, **settings).stdout


def metadata(root, *arguments):
    return json.loads(output([CARGO, "metadata", "--format-version=1", *arguments], cwd=root))


def environment(folder):
    """The interpreter of a new virtual environment."""
    run([sys.executable, "-m", "venv", "--clear", folder])
    return folder / ("Scripts" if os.name == "nt" else "bin") / f"python{EXE}"


def pip(python, *arguments):
    return [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]


def install(python, packages):
    """Installs packages of the index, which may be out of reach."""
    ended = subprocess.run([str(word) for word in pip(python, *packages)], stderr=subprocess.PIPE, text=True)
    errors = [line for line in ended.stderr.splitlines() if line.startswith("ERROR")]
    if ended.returncode != 0:
        raise Skipped(f"packages of PyPI cannot be installed: {(errors or ['pip failed'])[-1]}")


def only(paths, what):
    found = list(paths)
    expect(len(found) == 1, f"expected one {what}, found {len(found)}")
    return found[0]


def emptied(folder):
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


class Builder:
    def __init__(self, options):
        self.options, self.root = options, pathlib.Path(options["root"])
        folder = pathlib.Path(metadata(self.root, "--no-deps")["target_directory"]) / "wheel"
        self.folder = folder
        self.out = pathlib.Path(options["out"] or folder / "dist").absolute()
        self.requirements = self.root / CRATE / "requirements"

    def build_and_test(self):
        options = self.options
        if options["log"]:
            with open(options["log"], "w") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            return self.check(only(self.out.glob("*.whl"), f"wheel in {self.out}"))
        self.python = environment(self.folder / "build")
        tools = ["-r", self.requirements / "build.txt", *(["ziglang"] if options["zig"] else [])]
        stage("the tools that build it", install, self.python, tools)
        made = stage("the source distribution", self.sdist) if options["sdist"] else self.wheel()
        if options["check"]:
            self.check(made)
        print(f"{made}: {made.stat().st_size} bytes")

    def wheel(self):
        out = emptied(self.out)
        of_command, of_module = out / "command", out / "package"
        stage("the command", self.maturin, COMMAND_CRATE, of_command)
        stage("the module", self.maturin, CRATE, of_module)
        command, module = self.unpacked(of_command), self.unpacked(of_module)
        scripts = dist_info(module).with_suffix(".data") / "scripts"
        scripts.mkdir(parents=True)
        shutil.copy(dist_info(command).with_suffix(".data") / "scripts" / COMMAND, scripts)
        stage("its bill of materials", self.write_sbom, module)
        stage("one wheel of both", run, [self.python, "-m", "wheel", "pack", "--dest-dir", out, module])
        shutil.rmtree(of_command)
        shutil.rmtree(of_module)
        return only(out.glob("*.whl"), f"wheel in {out}")

    def maturin(self, package, out):
        command = [self.python, "-m", "maturin", "build", "--locked", "--profile", self.options["profile"]]
        command += ["--out", out, "--interpreter", self.python]
        variables = dict(os.environ)
        if self.options["zig"]:
            command += ["--zig", "--compatibility", "manylinux2014"]
            # maturin looks for ziglang there.
            variables["PATH"] = os.pathsep.join([str(self.python.parent), variables.get("PATH", "")])
        run(command, cwd=self.root / package, env=variables)

    def unpacked(self, folder):
        wheel = only(folder.glob("*.whl"), f"wheel in {folder}")
        run([self.python, "-m", "wheel", "unpack", "--dest", folder, wheel])
        return only((path for path in folder.iterdir() if path.is_dir()), f"folder in {folder}")

    def write_sbom(self, package):
        """The bill of materials (PEP 770): the crates that are linked into the wheel's binaries, as CycloneDX.

        It replaces those of the tools, which include crates that are only used to build and crates of other systems,
        and omit those of the command.
        """
        version = output([os.environ.get("RUSTC", "rustc"), "-vV"])
        host = only((line[6:] for line in version.splitlines() if line.startswith("host: ")), "host of rustc")
        tree = [CARGO, "tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]
        linked = set()
        for of in (CRATE, COMMAND_CRATE):
            manifest = self.root / of / "Cargo.toml"
            linked |= crates(output([*tree, "--target", host, "--manifest-path", manifest]))
        document = sbom(metadata(self.root, "--locked", "--filter-platform", host), linked)
        folder = emptied(dist_info(package) / "sboms")
        (folder / "mega-batch.cyclonedx.json").write_text(json.dumps(document, indent=2) + "\n")

    def sdist(self):
        """The source distribution: that of maturin, with the licences, and a lock file that is true of it."""
        work = emptied(self.out / "sdist")
        run([self.python, "-m", "maturin", "sdist", "--out", work], cwd=self.root / CRATE)
        packed = only(work.glob("*.gz"), f"archive in {work}")
        run([self.python, "-m", "tarfile", "-e", packed, work])
        folder = only((path for path in work.iterdir() if path.is_dir()), f"folder in {work}")
        for name in LICENCES:
            shutil.copy(self.root / name, folder)
        # It has fewer crates than the project, so cargo updates the lock file, and has nothing to change then.
        metadata(folder / CRATE)
        metadata(folder / CRATE, "--locked")
        archive = self.out / packed.name
        run([self.python, "-m", "tarfile", "-c", archive, folder.name], cwd=work)
        shutil.rmtree(work)
        return archive

    def check(self, made):
        python, is_source = environment(self.folder / "test"), self.options["sdist"]
        names = ["test", "all"] if self.options["all"] else ["test"]
        packages = [word for name in names for word in ("-r", self.requirements / f"{name}.txt")]
        stage("the packages of the tests", install, python, packages)
        where = ["--no-deps", made] if is_source else ["--no-index", "--find-links", made.parent, "mega_batch"]
        stage("its installation", run, pip(python, *where))
        run([python, "-m", "pip", "check"])
        stage("its tests", self.test, python, is_source)

    def test(self, python, is_source):
        settings = {"cwd": self.root / CRATE, "env": {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}}
        run([python, "-m", *"pytest -q -p no:cacheprovider -n auto --dist loadfile tests".split()], **settings)
        if is_source:
            # Without the command, and the types are those of the wheel.
            return
        run([python.with_name(COMMAND), "run", "--quiet"])
        cache = [] if os.name == "nt" else ["--cache-dir", os.devnull]
        run([python, "-m", "mypy", *cache, "tests", "examples"], **settings)
        allowed = "mega_batch --mypy-config-file pyproject.toml --allowlist stubtest-allowed.txt"
        run([python, "-m", "mypy.stubtest", *allowed.split(), "--ignore-unused-allowlist"], **settings)


def dist_info(package):
    return only(package.glob("*.dist-info"), f".dist-info in {package}")


def crates(tree):
    """The names and versions in the lines of `cargo tree`, such as `serde v1.0.228 (*)`."""
    lines = [line.split(" ") for line in tree.splitlines() if line]
    return {(name, version.removeprefix("v")) for name, version, *_ in lines}


def sbom(metadata, linked):
    """The document, which is the same for the same crates: it has no time and no serial number."""
    packages = {
        package["id"]: package
        for package in sorted(metadata["packages"], key=lambda package: package["id"])
        if (package["name"], package["version"]) in linked
    }
    told = f"`cargo metadata` tells of {len(packages)} of the {len(linked)} linked crates"
    expect(len(packages) == len(linked), told)
    references = {id: f"pkg:cargo/{of['name']}@{of['version']}" for id, of in packages.items()}
    own = {package["name"]: id for id, package in packages.items()}
    module, command = (own.get(pathlib.PurePath(of).name) for of in (CRATE, COMMAND_CRATE))
    expect(module, "the module's crate is not linked")
    itself = f"pkg:pypi/mega-batch@{packages[module]['version']}"

    def component(id, package):
        licence, address = package.get("license"), package.get("repository")
        licences = {"licenses": [{"expression": licence.replace("/", " OR ")}]} if licence else {}
        of_address = {"externalReferences": [{"type": "vcs", "url": address}]} if address else {}
        reference, name = references[id], {"name": package["name"], "version": package["version"]}
        about = {"bom-ref": reference, **name, "scope": "required", "purl": reference}
        return {"type": "library", **about, **licences, **of_address}

    def needs(node):
        needed = (of["pkg"] for of in node["deps"] if any(kind["kind"] is None for kind in of["dep_kinds"]))
        return {
            "ref": references[node["id"]],
            "dependsOn": sorted(references[id] for id in needed if id in references),
        }

    nodes = [node for node in metadata["resolve"]["nodes"] if node["id"] in packages]
    about = {"name": "mega-batch", "version": packages[module]["version"]}
    licences = [{"expression": packages[module]["license"]}]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "library", "bom-ref": itself, **about, "licenses": licences, "purl": itself}
        },
        "components": [component(*package) for package in packages.items()],
        "dependencies": [
            {"ref": itself, "dependsOn": [references[of] for of in (module, command) if of]},
            *map(needs, nodes),
        ],
    }


def main():
    options = json.loads(sys.argv[1])
    try:
        Builder(options).build_and_test()
    except Skipped as reason:
        pathlib.Path(options["told"]).write_text(str(reason))


if __name__ == "__main__":
    main()
