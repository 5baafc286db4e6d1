//! [`Beside`]: what the modules beside a text bind, from which Python would import names.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Which names of the DSL a module has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DslPart {
    Primitives,
    Constants,
    Both,
    /// Unknown: none that are the DSL's.
    Other,
}

impl DslPart {
    /// What the module at this path has, judging by its name: `dsl`, `arc_dsl.dsl`, `constants`.
    pub(super) fn of(path: &str) -> Self {
        let last = path
            .rsplit('.')
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        match last {
            "constants" => DslPart::Constants,
            "dsl" => DslPart::Primitives,
            _ if last.to_ascii_lowercase().contains("dsl") => DslPart::Both,
            _ => DslPart::Other,
        }
    }
}

/// What a module beside a text binds a name of the DSL to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// What the DSL has under this name.
    Dsl,
    /// Something else, with the file and the line that binds it.
    Other(Arc<str>, u32),
}

/// A module, and the names of the DSL that it binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BesideModule {
    /// The path under which the text imports it.
    pub(super) path: String,
    pub(super) file: Arc<str>,
    pub(super) names: HashMap<String, Meaning>,
    /// The only names that a star import binds, if the module has `__all__`.
    pub(super) exported: Option<HashSet<String>>,
    /// The names that are none of the DSL's: the file and the line that bind them.
    pub(super) own: HashMap<String, (Arc<str>, u32)>,
    /// The functions of a module that is the DSL's otherwise, whose text differs from the reference's and cannot be
    /// parsed: whether they do the same is not known.
    pub(super) rewritten: Vec<String>,
}

/// The modules next to program text, from which Python would import names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    pub(super) modules: Vec<BesideModule>,
}

impl Beside {
    /// The functions that are taken for the DSL's though their text differs, by file.
    pub fn rewritten(&self) -> impl Iterator<Item = (&str, &[String])> {
        let modules = self.modules.iter();
        modules.map(|module| (&*module.file, &*module.rewritten))
    }

    /// The index of the module with this path.
    pub(super) fn find(&self, path: &str) -> Option<usize> {
        self.modules.iter().position(|module| module.path == path)
    }

    /// What a module binds a name to; `None` if it does not bind it.
    pub(super) fn meaning(&self, module: usize, name: &str) -> Option<&Meaning> {
        self.modules.get(module)?.names.get(name)
    }

    /// What a star import of a module binds a name to; `None` if it does not bind it.
    pub(super) fn starred(&self, module: usize, name: &str) -> Option<&Meaning> {
        let exported = self.modules.get(module)?.exported.as_ref();
        let is_bound = exported.is_none_or(|exported| exported.contains(name));
        self.meaning(module, name).filter(|_| is_bound)
    }

    /// Whether a module binds a name of the DSL to something else.
    pub(super) fn has_others(&self, module: usize) -> bool {
        let module = self.modules.get(module);
        let mut names = module.into_iter().flat_map(|module| module.names.values());
        names.any(|meaning| matches!(meaning, Meaning::Other(..)))
    }
}

/// The package in which the module with this path, in this file, resolves relative imports.
#[must_use]
pub fn package_of<'p>(path: &'p str, file: &str) -> &'p str {
    if file.ends_with("__init__.py") {
        return path;
    }
    path.rsplit_once('.').map_or("", |(package, _)| package)
}

/// The path of a module that is imported in a package as `path`, which may begin with dots. Dots that lead out of the
/// outermost package remain.
pub(super) fn resolved(package: &str, path: &str) -> String {
    let name = path.trim_start_matches('.');
    let mut dots = path.len() - name.len();
    let mut package = if dots == 0 { "" } else { package };
    while dots > 1 && !package.is_empty() {
        package = package.rsplit_once('.').map_or("", |(outer, _)| outer);
        dots -= 1;
    }
    let dots = if dots > 1 { &path[..dots] } else { "" };
    match (package, name) {
        ("", name) => format!("{dots}{name}"),
        (package, "") => package.to_owned(),
        (package, name) => format!("{package}.{name}"),
    }
}

/// The path of a part of a module.
pub(super) fn joined(path: &str, name: &str) -> String {
    let dot = if path.is_empty() || path.ends_with('.') {
        ""
    } else {
        "."
    };
    format!("{path}{dot}{name}")
}

/// The paths of the modules that a text in this package may import, judging by its lines: some may be parts of modules
/// that are no modules themselves.
#[must_use]
pub fn imported_modules(package: &str, text: &str) -> Vec<String> {
    let (mut found, mut before) = (Vec::new(), 0);
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    for line in text.split_inclusive('\n') {
        let end = before + line.len();
        if line.contains("import") {
            for statement in line.split([';', ':']) {
                let statement = statement.trim_start();
                if let Some(modules) = statement.strip_prefix("import") {
                    let paths = modules.split(',').map(str::trim_start);
                    let paths = paths.map(|path| path.split(|c| !is_path(c)).next());
                    let paths = paths.flatten().filter(|path| !path.is_empty());
                    found.extend(paths.map(|path| resolved(package, path)));
                } else if let Some(rest) = statement.strip_prefix("from") {
                    let rest = rest.trim_start();
                    let path = rest.split(|c| !is_path(c)).next().unwrap_or_default();
                    let names = rest[path.len()..].trim_start().strip_prefix("import");
                    let Some(names) = names.filter(|_| !path.is_empty()) else {
                        continue;
                    };
                    found.push(resolved(package, path));
                    let more = if names.trim_start().starts_with('(') && !names.contains(')') {
                        text[end..].split(')').next().unwrap_or_default()
                    } else {
                        ""
                    };
                    for name in names.split(',').chain(more.split(',')) {
                        let name = name.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
                        let name = name.split(|c| !is_path(c)).next().unwrap_or_default();
                        if DslPart::of(name) != DslPart::Other {
                            found.push(resolved(package, &joined(path, name)));
                        }
                    }
                }
            }
        }
        before = end;
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_modules_are_found_by_their_lines() {
        let text = "import a.b as c, dsl2\nfrom .x import *\ntry: from ..y import z\nexcept: pass\n\
                    from m import (\n    dsl,\n    vmirror,\n)\nx = important(1)\nfrom. import constants\n";
        let expected = ["..y", "a.b", "constants", "dsl2", "m", "m.dsl", "x"];
        let mut found = imported_modules("", text);
        found.retain(|path| !path.is_empty());
        assert_eq!(found, expected);
        assert_eq!(
            imported_modules("p.q", "from ..y import z\nfrom . import dsl\n"),
            ["p.q", "p.q.dsl", "p.y"]
        );
        assert_eq!(package_of("p.q", "p/q.py"), "p");
        assert_eq!(package_of("p.q", "p/q/__init__.py"), "p.q");
    }
}
