//! `circles`: finds circular dependencies between the files of a crate.
//!
//! A file depends on another one if its code names an item that the other defines, or that module itself, by an import
//! or by a path, through any re-exports. A re-export itself is no dependency: it only makes items visible. Nor is the
//! use of an item of an enclosing module: a module consists of its parts, which may use what it defines. Tests are
//! ignored. A circle is a set of files of which each depends on every other, directly or not.
//!
//! Macros are not expanded. A module that calls one as an item is taken to name what the macro's body names, and to
//! define whatever the body or the call could: the names behind `struct`, `fn` and the like, and all names in the call.
//! What a module imports by name is what it imports, so names that a call only uses do no harm.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Item, UseTree, Visibility};
use walkdir::WalkDir;

/// Checks all crates; fails if there is a circle, and lists its dependencies.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut told = Vec::new();
    for folder in crates(root)? {
        let modules = CrateModules::read(&folder)?;
        told.extend(
            modules
                .circles()
                .iter()
                .map(|circle| modules.describe(circle)),
        );
    }
    ensure!(
        told.is_empty(),
        "files that need each other in a circle: {}\n{}",
        told.len(),
        told.concat()
    );
    println!("no circles of files");
    Ok(())
}

/// The source folders of all crates that have more than one file.
fn crates(root: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = vec![root.join("xtask/src"), root.join("fuzz/src")];
    for entry in std::fs::read_dir(root.join("crates"))? {
        folders.push(entry?.path().join("src"));
    }
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    Ok(folders)
}

/// A path of a module or an item from the root of its crate.
type ItemPath = Vec<String>;

/// The modules of a crate, by their paths.
#[derive(Default)]
struct CrateModules {
    modules: BTreeMap<ItemPath, Module>,
    /// The bodies of its macros.
    macros: BTreeMap<String, TokenStream>,
    /// The modules that are compiled for tests only.
    tests: Vec<ItemPath>,
}

/// A module: a file, or a block within one.
#[derive(Default)]
struct Module {
    file: PathBuf,
    /// The names that it may define itself.
    defines: BTreeSet<String>,
    imports: Vec<Import>,
    /// The paths in its code, as they are written; single names are paths too.
    paths: BTreeSet<Vec<String>>,
    /// The names in calls of macros that stand as items.
    calls: BTreeSet<String>,
}

struct Import {
    /// The local name; `None` for a glob import.
    name: Option<String>,
    path: Vec<String>,
    is_public: bool,
}

impl CrateModules {
    fn read(folder: &Path) -> Result<Self> {
        let mut all = Self::default();
        for entry in WalkDir::new(folder).sort_by_file_name() {
            let entry = entry?;
            let path = entry.path();
            let within = path.strip_prefix(folder)?;
            if path.extension().is_none_or(|end| end != "rs") {
                continue;
            }
            let mut module: ItemPath = within
                .with_extension("")
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            if matches!(
                module.last().map(String::as_str),
                Some("lib" | "main" | "mod")
            ) {
                module.pop();
            }
            let text = std::fs::read_to_string(path)?;
            let file = syn::parse_file(&text).with_context(|| path.display().to_string())?;
            all.add(&module, path, file.items);
        }
        let tests = std::mem::take(&mut all.tests);
        let is_test = |at: &ItemPath| tests.iter().any(|test| at.starts_with(test));
        all.modules.retain(|at, _| !is_test(at));
        for module in all.modules.values_mut() {
            let calls = std::mem::take(&mut module.calls);
            for body in calls.iter().filter_map(|name| all.macros.get(name)) {
                module.read(body.clone());
            }
            module.defines.extend(calls);
        }
        Ok(all)
    }

    /// Adds a module and its submodules.
    fn add(&mut self, at: &ItemPath, file: &Path, items: Vec<Item>) {
        let mut module = Module {
            file: file.to_owned(),
            ..Module::default()
        };
        for item in items {
            let is_test = is_for_tests(item.to_token_stream());
            match item {
                Item::Mod(item) if is_test => {
                    self.tests
                        .push([at, &[item.ident.to_string()][..]].concat());
                }
                _ if is_test => {}
                Item::Use(item) => {
                    let is_public = !matches!(item.vis, Visibility::Inherited);
                    imports(&item.tree, &mut Vec::new(), is_public, &mut module.imports);
                }
                Item::Mod(item) => {
                    if let Some((_, items)) = item.content {
                        let path = [at, &[item.ident.to_string()][..]].concat();
                        self.add(&path, file, items);
                    }
                }
                Item::Macro(item) => {
                    module.read(item.mac.to_token_stream());
                    if let Some(name) = item.ident {
                        let body = self.macros.entry(name.to_string()).or_default();
                        body.extend(item.mac.tokens);
                        module.defines.insert(name.to_string());
                    } else {
                        idents(item.mac.to_token_stream(), &mut module.calls);
                    }
                }
                item => module.read(item.to_token_stream()),
            }
        }
        self.modules.insert(at.clone(), module);
    }

    /// The file that defines the item of a path in a module; of a module its own file.
    fn file_of(&self, at: &ItemPath, path: &[String], depth: usize) -> Option<&Path> {
        // An import may resolve to itself, such as `use super::*` within a block.
        if depth > 16 {
            return None;
        }
        let module = self.modules.get(at)?;
        let Some((first, rest)) = path.split_first() else {
            return Some(&module.file);
        };
        let next = match first.as_str() {
            "crate" => Some(Vec::new()),
            "self" => Some(at.clone()),
            "super" => Some(at.split_last()?.1.to_vec()),
            _ => Some([at, &[first.clone()][..]].concat())
                .filter(|child| self.modules.contains_key(child)),
        };
        if let Some(next) = next {
            return self.file_of(&next, rest, depth + 1);
        }
        let imported = |name: Option<&String>, rest: &[String]| {
            let mut named = module.imports.iter();
            named.find_map(|import| {
                let is_meant = import.name.as_ref() == name && import.path != path;
                is_meant.then(|| self.file_of(at, &[&import.path, rest].concat(), depth + 1))?
            })
        };
        imported(Some(first), rest)
            .or_else(|| module.defines.contains(first).then_some(&*module.file))
            .or_else(|| imported(None, path))
    }

    /// The files that each file depends on, with the names that it uses.
    fn needs(&self) -> BTreeMap<(&Path, &Path), BTreeSet<&str>> {
        let mut needs: BTreeMap<(&Path, &Path), BTreeSet<&str>> = BTreeMap::new();
        for (at, module) in &self.modules {
            let hidden = module.imports.iter().filter(|import| !import.is_public);
            let imported = hidden.filter(|import| import.name.is_some());
            let all = imported.map(|import| &import.path).chain(&module.paths);
            for path in all {
                let file = self.file_of(at, path, 0);
                if let Some(file) = file.filter(|file| !is_within(&module.file, file)) {
                    let names = needs.entry((&module.file, file)).or_default();
                    names.extend(path.last().map(String::as_str));
                }
            }
        }
        needs
    }

    /// The circles, each as its files in order.
    fn circles(&self) -> BTreeSet<Vec<&Path>> {
        let needs = self.needs();
        // All files that each file depends on, directly or not.
        let mut all: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for (from, _) in needs.keys() {
            let (found, mut next) = (all.entry(from).or_default(), vec![*from]);
            while let Some(file) = next.pop() {
                let direct = needs.keys().filter(|(from, _)| *from == file);
                next.extend(direct.map(|(_, to)| *to).filter(|to| found.insert(to)));
            }
        }
        let depends = |from: &Path, to: &Path| all.get(from).is_some_and(|all| all.contains(to));
        let circle = |file: &&Path| {
            let files = all.keys().copied();
            files
                .filter(|other| depends(file, other) && depends(other, file))
                .collect::<Vec<_>>()
        };
        all.keys().map(circle).filter(|it| !it.is_empty()).collect()
    }

    /// A circle as text.
    fn describe(&self, circle: &[&Path]) -> String {
        let needs = self.needs().into_iter();
        let within = needs.filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
        let lines = within.map(|((from, to), names)| {
            let names: Vec<_> = names.into_iter().collect();
            let (from, to, names) = (from.display(), to.display(), names.join(", "));
            format!("  {from} needs {to}: {names}\n")
        });
        std::iter::once("a circle:\n".to_owned())
            .chain(lines)
            .collect()
    }
}

impl Module {
    /// Adds what tokens name and define.
    fn read(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        // How many colons follow what was read; a dot before a name makes it a field or a method.
        let (mut colons, mut is_member) = (0, false);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    let ident = ident.to_string();
                    if colons != 2 && !path.is_empty() {
                        if KEYWORDS.iter().any(|keyword| path == [*keyword]) {
                            self.defines.insert(ident.clone());
                        }
                        self.paths.insert(std::mem::take(&mut path));
                    }
                    if !is_member {
                        path.push(ident);
                    }
                    (colons, is_member) = (0, false);
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                token => {
                    if !path.is_empty() {
                        self.paths.insert(std::mem::take(&mut path));
                    }
                    colons = 0;
                    is_member = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
                    if let TokenTree::Group(group) = token {
                        self.read(group.stream());
                    }
                }
            }
        }
        if !path.is_empty() {
            self.paths.insert(path);
        }
    }
}

/// What stands before the name that an item defines.
const KEYWORDS: [&str; 9] = [
    "const", "enum", "fn", "mod", "static", "struct", "trait", "type", "union",
];

/// All names in tokens.
fn idents(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => _ = found.insert(ident.to_string()),
            TokenTree::Group(group) => idents(group.stream(), found),
            _ => {}
        }
    }
}

/// Whether a file is `whole` or a submodule of it.
fn is_within(file: &Path, whole: &Path) -> bool {
    let of_all = matches!(
        whole.file_stem().and_then(OsStr::to_str),
        Some("lib" | "main")
    );
    let folder = if of_all {
        whole.parent().unwrap_or(whole).to_owned()
    } else {
        whole.with_extension("")
    };
    file == whole || file.starts_with(folder)
}

/// Whether the attributes of an item restrict it to tests.
fn is_for_tests(item: TokenStream) -> bool {
    let attributes = |input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        input.parse::<TokenStream>().map(|_| attributes)
    };
    let is_for_tests = |attribute: &Attribute| {
        let text = attribute.to_token_stream().to_string();
        attribute.path().is_ident("cfg") && text.contains("test") && !text.contains("not")
    };
    let attributes = attributes.parse2(item);
    attributes.is_ok_and(|all| all.iter().any(is_for_tests))
}

/// The imports of a `use` tree.
fn imports(tree: &UseTree, path: &mut Vec<String>, is_public: bool, found: &mut Vec<Import>) {
    let mut import = |name: Option<String>, path: Vec<String>| {
        found.push(Import {
            name,
            path,
            is_public,
        });
    };
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            imports(&tree.tree, path, is_public, found);
            path.pop();
        }
        UseTree::Name(tree) if tree.ident == "self" => import(path.last().cloned(), path.clone()),
        UseTree::Name(tree) => {
            let name = tree.ident.to_string();
            let whole = path.iter().cloned().chain([name.clone()]);
            import(Some(name), whole.collect());
        }
        UseTree::Rename(tree) => {
            let whole = path.iter().cloned().chain([tree.ident.to_string()]);
            import(Some(tree.rename.to_string()), whole.collect());
        }
        UseTree::Glob(_) => import(None, path.clone()),
        UseTree::Group(group) => {
            for tree in &group.items {
                imports(tree, path, is_public, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles of a crate of these files.
    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let modules = CrateModules::read(folder.path()).unwrap();
        let name = |path: &&Path| {
            let name = path.strip_prefix(folder.path()).unwrap();
            name.to_string_lossy().into_owned()
        };
        let circles = modules.circles().into_iter();
        circles
            .map(|circle| circle.iter().map(name).collect())
            .collect()
    }

    #[test]
    fn files_that_need_each_other_are_a_circle() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b; pub use a::A;"),
            ("a.rs", "pub struct A; fn f() { crate::b::g() }"),
            ("b.rs", "use crate::A; pub fn g() { let _: Option<A>; }"),
        ]);
        assert_eq!(found, [["a.rs", "b.rs"]]);
    }

    #[test]
    fn a_circle_may_go_through_what_stands_in_a_macro_and_through_a_module() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "fn f() { assert!(super::b::g()) } pub struct A;"),
            ("b.rs", "use crate::c; pub fn g() -> bool { c::h() }"),
            (
                "c.rs",
                "use crate::a::*; pub fn h() -> bool { let _ = A; true }",
            ),
        ]);
        assert_eq!(found, [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn a_circle_may_go_through_an_item_that_a_macro_defines() {
        let lib = ("lib.rs", "mod a; mod b; mod table;");
        let makes = "macro_rules! make { ($name:ident) => { pub enum $name {} } }";
        let named_by_the_call = circles(&[
            lib,
            (
                "a.rs",
                &format!("{makes} make!(Made); fn f() {{ crate::b::g() }}"),
            ),
            (
                "b.rs",
                "use crate::a::Made; pub fn g() { let _: Option<Made>; }",
            ),
        ]);
        assert_eq!(named_by_the_call, [["a.rs", "b.rs"]]);
        // What a macro's body names is needed by the file that calls it, and what it defines is defined there.
        let named_by_the_body = circles(&[
            lib,
            (
                "table.rs",
                "macro_rules! rows { ($with:ident) => { $with! { b::g } } } pub(crate) use rows;",
            ),
            (
                "a.rs",
                "use crate::{b, table::rows};
                macro_rules! make { ($g:path) => { pub enum Made {} fn f() { $g() } } }
                rows!(make);",
            ),
            ("b.rs", "pub fn g() -> Option<crate::a::Made> { None }"),
        ]);
        assert_eq!(named_by_the_body, [["a.rs", "b.rs"]]);
        // What a call names and the file imports is not defined there.
        let imported = circles(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            (
                "a.rs",
                &format!("{makes} pub use crate::b::Made; make!(Made); fn f() {{ crate::c::g() }}"),
            ),
            ("b.rs", "pub struct Made;"),
            ("c.rs", "use crate::a::Made; pub fn g() { let _ = Made; }"),
        ]);
        assert_eq!(imported, Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_file_that_shows_what_is_in_another_does_not_need_it_and_parts_may_use_what_the_whole_defines()
     {
        let found = circles(&[
            (
                "lib.rs",
                "mod a; mod b; mod c; fn g() { a::f(Shown) } pub struct Shown;",
            ),
            (
                "a.rs",
                "mod part; pub fn f(_: crate::Shown) { part::f() } struct A;",
            ),
            ("a/part.rs", "pub fn f() { let _ = super::A; }"),
            ("b.rs", "pub use crate::c::f; pub fn g() {}"),
            (
                "c.rs",
                "pub fn f() { crate::b::g() } #[cfg(test)] mod tests { use super::*; }",
            ),
            ("c/tests.rs", "use crate::b;"),
        ]);
        assert_eq!(found, Vec::<Vec<String>>::new());
        // A file that uses an item that it re-exports depends on it.
        let found = circles(&[
            ("lib.rs", "mod b; mod c;"),
            ("b.rs", "pub use crate::c::f; pub fn g() { f() }"),
            ("c.rs", "pub fn f() { crate::b::g() }"),
        ]);
        assert_eq!(found, [["b.rs", "c.rs"]]);
    }
}
