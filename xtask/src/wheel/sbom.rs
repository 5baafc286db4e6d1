//! The bill of materials of a wheel (PEP 770): the crates that are linked into its binaries, as `CycloneDX`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{COMMAND_CRATE, CRATE, only_dist_info};

/// A crate by its name and version.
type Name = (String, String);

/// Writes it into an unpacked wheel, replacing those of the tools, which include crates that are only used to build
/// and crates of other systems, and omit those of the command.
pub(super) fn write(root: &Path, package: &Path) -> Result<()> {
    let host = &crate::cargo::host()?;
    let mut linked = BTreeSet::new();
    for of in [CRATE, COMMAND_CRATE] {
        let tree = output_of(
            crate::cargo::command()
                .args(["tree", "--locked", "--edges", "normal,no-proc-macro"])
                .args(["--prefix", "none", "--format", "{p}", "--target", host])
                .arg("--manifest-path")
                .arg(root.join(of).join("Cargo.toml")),
        )?;
        linked.extend(tree.lines().filter_map(name_in_tree));
    }
    let metadata = crate::cargo::metadata(root, &["--locked", "--filter-platform", host])?;
    let document = document(&metadata, &linked)?;
    let folder = only_dist_info(package)?.join("sboms");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let file = folder.join("mega-batch.cyclonedx.json");
    fs::write(&file, serde_json::to_string_pretty(&document)? + "\n")
        .with_context(|| format!("{} cannot be written", file.display()))
}

/// The output of a command.
fn output_of(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("{command:?} cannot be run"))?;
    ensure!(output.status.success(), "{command:?} failed");
    Ok(String::from_utf8(output.stdout)?)
}

/// The crate of a line such as `serde v1.0.228 (*)`.
fn name_in_tree(line: &str) -> Option<Name> {
    let mut words = line.split(' ');
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    Some((name.to_owned(), version.to_owned()))
}

/// The document, which is the same for the same crates: it has no time and no serial number.
fn document(metadata: &Value, linked: &BTreeSet<Name>) -> Result<Value> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut packages = BTreeMap::new();
    for package in list(&metadata["packages"]) {
        let name = (text(&package["name"]), text(&package["version"]));
        if let ((Some(name), Some(version)), Some(id)) = (name, text(&package["id"]))
            && linked.contains(&(name.clone(), version.clone()))
        {
            packages.insert(id, ((name, version), package));
        }
    }
    ensure!(
        packages.len() == linked.len(),
        "`cargo metadata` tells of {} of the {} linked crates",
        packages.len(),
        linked.len()
    );
    let reference = |(name, version): &Name| format!("pkg:cargo/{name}@{version}");
    let components = packages.values().map(|(name, package)| {
        let mut component = json!({
            "type": "library",
            "bom-ref": reference(name),
            "name": name.0,
            "version": name.1,
            "scope": "required",
            "purl": reference(name),
        });
        if let Some(licence) = text(&package["license"]) {
            // The slash is the old form, from before SPDX expressions.
            let expression = licence.replace('/', " OR ");
            component["licenses"] = json!([{ "expression": expression }]);
        }
        if let Some(address) = text(&package["repository"]) {
            component["externalReferences"] = json!([{ "type": "vcs", "url": address }]);
        }
        component
    });
    let needs = list(&metadata["resolve"]["nodes"]);
    let needs = needs.iter().filter_map(|node| {
        let (name, _) = packages.get(node["id"].as_str()?)?;
        let needs: BTreeSet<_> = list(&node["deps"])
            .iter()
            .filter(|needed| {
                list(&needed["dep_kinds"])
                    .iter()
                    .any(|of| of["kind"].is_null())
            })
            .filter_map(|needed| packages.get(needed["pkg"].as_str()?))
            .map(|(name, _)| reference(name))
            .collect();
        Some(json!({ "ref": reference(name), "dependsOn": needs }))
    });
    let own = |of: &str| {
        let name = of.rsplit('/').next().unwrap_or(of);
        packages.values().find(|((found, _), _)| found == name)
    };
    let (module, command) = (own(CRATE), own(COMMAND_CRATE));
    let ((_, version), of) = module.context("the module's crate is not linked")?;
    let itself = format!("pkg:pypi/mega-batch@{version}");
    let parts: Vec<_> = [module, command]
        .into_iter()
        .flatten()
        .map(|(name, _)| reference(name))
        .collect();
    let mut dependencies = vec![json!({ "ref": itself, "dependsOn": parts })];
    dependencies.extend(needs);
    let components: Vec<_> = components.collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": itself,
                "name": "mega-batch",
                "version": version,
                "licenses": [{ "expression": of["license"] }],
                "purl": itself,
            },
        },
        "components": components,
        "dependencies": dependencies,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, license: &str) -> Value {
        json!({ "id": format!("id-{name}"), "name": name, "version": "1.2.0", "license": license })
    }

    fn name(name: &str) -> Name {
        (name.to_owned(), "1.2.0".to_owned())
    }

    #[test]
    fn lines_of_a_tree_are_crates() {
        let lines = [
            "serde v1.2.0 (*)",
            "arc-dsl v1.2.0 (/some where/arc-dsl)",
            "",
        ];
        let names: Vec<_> = lines.into_iter().filter_map(name_in_tree).collect();
        assert_eq!(names, [name("serde"), name("arc-dsl")]);
    }

    #[test]
    fn the_document_has_what_is_linked_and_who_needs_it() {
        let metadata = json!({
            "packages": [
                package("mega-batch-py", "MIT OR Apache-2.0"),
                package("linked", "MIT/Apache-2.0"),
                package("builds", "MIT"),
            ],
            "resolve": { "nodes": [
                { "id": "id-mega-batch-py", "deps": [
                    { "pkg": "id-linked", "dep_kinds": [{ "kind": "dev" }, { "kind": null }] },
                    { "pkg": "id-builds", "dep_kinds": [{ "kind": "build" }] },
                ] },
                { "id": "id-linked", "deps": [] },
                { "id": "id-builds", "deps": [] },
            ] },
        });
        let linked = BTreeSet::from([name("mega-batch-py"), name("linked")]);
        let made = document(&metadata, &linked).unwrap();
        let names: Vec<_> = made["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|component| component["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["linked", "mega-batch-py"]);
        assert_eq!(
            made["components"][0]["licenses"][0]["expression"],
            "MIT OR Apache-2.0"
        );
        assert_eq!(
            made["dependencies"],
            json!([
                { "ref": "pkg:pypi/mega-batch@1.2.0", "dependsOn": ["pkg:cargo/mega-batch-py@1.2.0"] },
                { "ref": "pkg:cargo/mega-batch-py@1.2.0", "dependsOn": ["pkg:cargo/linked@1.2.0"] },
                { "ref": "pkg:cargo/linked@1.2.0", "dependsOn": [] },
            ])
        );
        let unknown = BTreeSet::from([name("mega-batch-py"), name("unknown")]);
        let error = document(&metadata, &unknown).unwrap_err().to_string();
        assert!(error.contains("1 of the 2 linked crates"), "{error}");
    }
}
