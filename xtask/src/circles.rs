//! `circles`: whether files of a crate need each other in a circle.
//!
//! A file needs another one where its code names something that the other defines, by an import or by a path,
//! through whatever re-exports. A re-export alone is no need: it is how a crate shows what is in it. Nor is what
//! a module takes of one that it stands in: the whole is made of its parts, which may use what it defines. Tests
//! and what macros write are not looked at. Circles are the strongly connected components of that graph
//! (Tarjan 1972).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, UseTree, Visibility};
use walkdir::WalkDir;

/// Checks all crates; fails where a circle is, and names what ties it.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut told = Vec::new();
    for folder in crates(root)? {
        let house = House::read(&folder)?;
        told.extend(house.circles().iter().map(|circle| house.tell(circle)));
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

/// The folders of sources of all crates.
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
struct House {
    modules: BTreeMap<ItemPath, Module>,
}

/// A module: a file, or a block within one.
#[derive(Default)]
struct Module {
    file: PathBuf,
    /// Names that it defines itself, and what it has under a name by an import.
    defines: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths of its code, as they are written; names that stand alone are paths too.
    paths: BTreeSet<Vec<String>>,
}

struct Import {
    /// The name under which it is known, or all names of the path.
    name: Option<String>,
    path: Vec<String>,
    is_shown: bool,
}

impl House {
    fn read(folder: &Path) -> Result<Self> {
        let mut house = Self {
            modules: BTreeMap::new(),
        };
        for entry in WalkDir::new(folder).sort_by_file_name() {
            let entry = entry?;
            let path = entry.path();
            let within = path.strip_prefix(folder)?;
            let is_test = within
                .iter()
                .any(|part| matches!(part.to_str(), Some("tests" | "tests.rs" | "testing.rs")));
            if is_test || path.extension().is_none_or(|end| end != "rs") {
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
            house.add(&module, path, file.items);
        }
        Ok(house)
    }

    /// Adds a module and those in it.
    fn add(&mut self, at: &ItemPath, file: &Path, items: Vec<Item>) {
        let mut module = Module {
            file: file.to_owned(),
            ..Module::default()
        };
        for item in items {
            if attributes(&item).iter().any(is_for_tests) {
                continue;
            }
            match item {
                Item::Use(item) => {
                    let is_shown = !matches!(item.vis, Visibility::Inherited);
                    imports(&item.tree, &mut Vec::new(), is_shown, &mut module.imports);
                }
                Item::Mod(item) => {
                    if let Some((_, items)) = item.content {
                        let mut path = at.clone();
                        path.push(item.ident.to_string());
                        self.add(&path, file, items);
                    }
                }
                item => {
                    module.defines.extend(name(&item));
                    paths(item.to_token_stream(), &mut module.paths);
                }
            }
        }
        self.modules.insert(at.clone(), module);
    }

    /// The file that defines what a path means in a module.
    fn file_of(&self, at: &ItemPath, path: &[String], depth: usize) -> Option<&Path> {
        // An import may be of itself, as `use super::*` within a block is.
        if depth > 16 {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let next = match first.as_str() {
            "crate" => Some(Vec::new()),
            "self" => Some(at.clone()),
            "super" => Some(at[..at.len().checked_sub(1)?].to_vec()),
            _ => {
                let mut child = at.clone();
                child.push(first.clone());
                self.modules.contains_key(&child).then_some(child)
            }
        };
        if let Some(next) = next {
            // A module by itself is no thing of its file.
            return self.file_of(&next, rest, depth + 1);
        }
        let module = self.modules.get(at)?;
        if module.defines.contains(first) {
            return Some(&module.file);
        }
        let mut named = module.imports.iter().filter(|import| {
            import.name.as_ref().is_none_or(|name| name == first) && import.path != path
        });
        named.find_map(|import| {
            let mut whole = import.path.clone();
            match import.name {
                Some(_) => whole.extend_from_slice(rest),
                None => whole.extend_from_slice(path),
            }
            self.file_of(at, &whole, depth + 1)
        })
    }

    /// What each file needs of which, by the names.
    fn needs(&self) -> BTreeMap<(&Path, &Path), BTreeSet<&str>> {
        let mut needs: BTreeMap<(&Path, &Path), BTreeSet<&str>> = BTreeMap::new();
        for (at, module) in &self.modules {
            let hidden = module.imports.iter().filter(|import| !import.is_shown);
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

    /// Files that need each other, each circle with its files in their order.
    fn circles(&self) -> Vec<Vec<&Path>> {
        let needs = self.needs();
        let mut files: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
        for (from, to) in needs.keys() {
            files.entry(from).or_default().push(to);
            files.entry(to).or_default();
        }
        let mut search = Components {
            files: &files,
            numbers: BTreeMap::new(),
            stack: Vec::new(),
            found: Vec::new(),
        };
        for file in files.keys() {
            if !search.numbers.contains_key(file) {
                search.visit(file);
            }
        }
        search.found
    }

    /// A circle in words.
    fn tell(&self, circle: &[&Path]) -> String {
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

/// Tarjan's search for strongly connected components.
struct Components<'f, 'h> {
    files: &'f BTreeMap<&'h Path, Vec<&'h Path>>,
    /// The number of each file that was visited, and the least that is reached from it.
    numbers: BTreeMap<&'h Path, (usize, usize)>,
    stack: Vec<&'h Path>,
    found: Vec<Vec<&'h Path>>,
}

impl<'h> Components<'_, 'h> {
    /// The least number that is reached from a file.
    fn visit(&mut self, file: &'h Path) -> usize {
        let number = self.numbers.len();
        self.numbers.insert(file, (number, number));
        self.stack.push(file);
        let mut least = number;
        for next in &self.files[file] {
            least = least.min(match self.numbers.get(next) {
                None => self.visit(next),
                Some((number, _)) if self.stack.contains(next) => *number,
                Some(_) => continue,
            });
        }
        self.numbers.insert(file, (number, least));
        if least == number {
            let first = self.stack.iter().rposition(|it| *it == file).unwrap_or(0);
            let mut circle = self.stack.split_off(first);
            if circle.len() > 1 {
                circle.sort();
                self.found.push(circle);
            }
        }
        least
    }
}

/// Whether a file is this one, or of a module within that one's.
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

/// Whether it is built for tests alone.
fn is_for_tests(attribute: &Attribute) -> bool {
    let text = attribute.to_token_stream().to_string();
    attribute.path().is_ident("cfg") && text.contains("test") && !text.contains("not")
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// The name that an item defines.
fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Macro(it) => it.ident.as_ref()?,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::Type(it) => &it.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// The imports of a tree.
fn imports(tree: &UseTree, path: &mut Vec<String>, is_shown: bool, found: &mut Vec<Import>) {
    let mut import = |name: Option<String>, path: Vec<String>| {
        found.push(Import {
            name,
            path,
            is_shown,
        });
    };
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            imports(&tree.tree, path, is_shown, found);
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
                imports(tree, path, is_shown, found);
            }
        }
    }
}

/// The paths among tokens, and the names that stand alone.
fn paths(tokens: TokenStream, found: &mut BTreeSet<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    // How many colons stand behind what is read; a dot before a name makes it a field or a method.
    let (mut colons, mut is_member) = (0, false);
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                if colons != 2 && !path.is_empty() {
                    found.insert(std::mem::take(&mut path));
                }
                if !is_member {
                    path.push(ident.to_string());
                }
                (colons, is_member) = (0, false);
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            token => {
                if !path.is_empty() {
                    found.insert(std::mem::take(&mut path));
                }
                colons = 0;
                is_member = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
                if let TokenTree::Group(group) = token {
                    paths(group.stream(), found);
                }
            }
        }
    }
    if !path.is_empty() {
        found.insert(path);
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
        let house = House::read(folder.path()).unwrap();
        let name = |path: &&Path| {
            let name = path.strip_prefix(folder.path()).unwrap();
            name.to_string_lossy().into_owned()
        };
        let circles = house.circles().into_iter();
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
        // One that uses what it shows does.
        let found = circles(&[
            ("lib.rs", "mod b; mod c;"),
            ("b.rs", "pub use crate::c::f; pub fn g() { f() }"),
            ("c.rs", "pub fn f() { crate::b::g() }"),
        ]);
        assert_eq!(found, [["b.rs", "c.rs"]]);
    }
}
