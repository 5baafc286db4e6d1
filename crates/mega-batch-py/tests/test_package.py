"""The files installed besides the modules: metadata, licences, and the list of linked crates."""

import importlib.metadata
import json

import pytest

try:
    INSTALLED = importlib.metadata.distribution("mega-batch")
except importlib.metadata.PackageNotFoundError:
    pytest.skip("mega-batch is imported from a folder and not installed", allow_module_level=True)


def test_the_metadata_says_what_it_is_and_under_which_terms() -> None:
    metadata = INSTALLED.metadata
    assert metadata["License-Expression"] == "MIT OR Apache-2.0" and metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"].startswith("text/markdown") and "# mega-batch" in INSTALLED.read_text("METADATA")  # type: ignore[operator]
    assert metadata["Keywords"] and "Typing :: Typed" in metadata.get_all("Classifier", [])
    files = {str(file).split("/", 1)[1]: file for file in INSTALLED.files or [] if ".dist-info" in str(file)}
    for name, words in [("LICENSE-MIT", "Permission is hereby granted"), ("LICENSE-APACHE", "Apache License")]:
        assert words in files[f"licenses/{name}"].read_text()


def test_the_wheel_lists_the_crates_that_are_linked_into_it() -> None:
    files = [file for file in INSTALLED.files or [] if "/sboms/" in str(file)]
    if not files and not any(str(file).endswith(("bin/mega-batch", "mega-batch.exe")) for file in INSTALLED.files or []):
        pytest.skip("built by pip from the source distribution, without the command and the list")
    (file,) = files
    document = json.loads(file.read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    names = {component["name"] for component in document["components"]}
    assert names >= {"arc-dsl", "arc-cpu", "mega-batch", "mega-batch-py", "mega-batch-cli", "pyo3", "numpy", "serde"}
    # Build-only dependencies are not in the wheel.
    assert not names & {"cc", "syn", "quote", "pyo3-build-config", "pyo3-macros", "serde_derive", "autocfg"}
    assert all(component["licenses"][0]["expression"] for component in document["components"])
    references = {component["bom-ref"] for component in document["components"]}
    needed = {of for each in document["dependencies"] for of in each["dependsOn"]}
    assert needed <= references and "file:" not in file.read_text()
