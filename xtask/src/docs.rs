//! `docs`: generates files from the code: pages under docs/, and the kernels' header; and checks the links of the
//! pages.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use arc_dsl::{Primitive, Type};
use gpu_kernels::interface;

mod form;
mod links;

/// Writes the files, or checks that they are up to date; always checks the links of all pages.
pub(crate) fn run(root: &Path, check: bool) -> Result<()> {
    let files = [
        (
            DIALECTS,
            page(root, DIALECTS, &[("primitives", primitives())])?,
        ),
        (form::PAGE, page(root, form::PAGE, &form::stages()?)?),
        ("kernels/interface.cuh", interface::header_text()),
    ];
    for (name, text) in files {
        let path = root.join(name);
        let found = std::fs::read_to_string(&path)
            .unwrap_or_default()
            .replace("\r\n", "\n");
        if found == text {
            continue;
        }
        ensure!(!check, "{name} is out of date: run `cargo xtask docs`");
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    links::check(root)
}

/// The page of dialects.
const DIALECTS: &str = "docs/dialects.md";

/// A page with these parts regenerated.
fn page(root: &Path, name: &str, parts: &[(&str, String)]) -> Result<String> {
    let path = root.join(name);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut text = text.replace("\r\n", "\n");
    for (part, new) in parts {
        text = replaced(name, &text, part, new)?;
    }
    Ok(text)
}

/// A page with the text between the marks of `part` replaced: `<!-- begin PART -->`, `<!-- end PART -->`.
fn replaced(page: &str, old: &str, part: &str, text: &str) -> Result<String> {
    let (begin, end) = (
        format!("<!-- begin {part} -->\n"),
        format!("<!-- end {part} -->"),
    );
    let missing = || format!("{page} has no mark `{}`", begin.trim());
    let from = old.find(&begin).with_context(missing)? + begin.len();
    let to = from + old[from..].find(&end).with_context(missing)?;
    Ok(format!("{}{text}{}", &old[..from], &old[to..]))
}

/// All primitives by family: name, signature, description; and the types.
fn primitives() -> String {
    let mut page = String::new();
    for (family, about) in Primitive::FAMILIES {
        let about = about.trim();
        let _ = writeln!(page, "### {}\n\n{about}\n", capitalised(family));
        for primitive in Primitive::ALL.iter().filter(|p| p.family() == *family) {
            let _ = writeln!(
                page,
                "- `{}`: {}",
                signature(*primitive),
                plain(primitive.doc())
            );
        }
        page.push('\n');
    }
    page += "### Types\n\n";
    for ty in Type::ALL {
        let _ = writeln!(page, "- `{ty}`: {}", plain(ty.doc()));
    }
    page
}

fn signature(primitive: Primitive) -> String {
    let parameters: Vec<_> = primitive
        .parameters()
        .iter()
        .map(|(name, ty)| match ty.to_string() {
            // Many are called like their type.
            ty if ty.to_lowercase() == *name => ty.to_lowercase(),
            ty => format!("{name}: {ty}"),
        })
        .collect();
    format!(
        "{primitive}({}) -> {}",
        parameters.join(", "),
        primitive.returns()
    )
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// A documentation line with its links, whose targets only rustdoc knows, replaced by their text:
/// ``[`apply`](Primitive::Apply)`` becomes `` `apply` ``.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line.trim();
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, after)) = link.split_once("`]") else {
            break;
        };
        text = text + before + "`" + name + "`";
        rest = match after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
        {
            Some((_, after)) => after,
            None => after,
        };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn links_become_their_text() {
        assert_eq!(
            plain("[`apply`](Primitive::Apply), then [`merge`]."),
            "`apply`, then `merge`."
        );
        assert_eq!(plain(" (a, b) [x] and"), "(a, b) [x] and");
    }

    #[test]
    fn only_the_text_between_the_marks_is_replaced() {
        let page = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n";
        let new = replaced("page.md", page, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- begin x -->\nnew\n<!-- end x -->\nb\n");
        assert!(replaced("page.md", page, "y", "").is_err());
    }

    #[test]
    fn every_primitive_has_its_row() {
        let page = primitives();
        for primitive in Primitive::ALL {
            assert!(page.contains(&format!("- `{primitive}(")), "{primitive}");
        }
        assert!(!page.contains("Primitive::"));
    }

    /// Paths that a page names in backticks: with a slash, or with one of the project's file endings. Names that
    /// begin with a slash are not files of the project but operators or devices of the system.
    fn paths(page: &str) -> Vec<&str> {
        let inline = page.split("```").step_by(2);
        let inline = inline.flat_map(|text| text.split('`').skip(1).step_by(2));
        let path = |word: &&str| {
            let ending = [".rs", ".md", ".toml"];
            word.chars()
                .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
                && !word.starts_with('/')
                && (word.contains('/') || ending.iter().any(|ending| word.ends_with(ending)))
        };
        inline.filter(path).collect()
    }

    /// All files and folders of the project except build output and Git's folder.
    fn tree(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name();
            let skipped = name == "target" || name == ".git";
            if !skipped && entry.file_type().unwrap().is_dir() {
                tree(&entry.path(), found);
            }
            found.push(entry.path());
        }
    }

    #[test]
    fn every_path_that_the_pages_name_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files = Vec::new();
        tree(root, &mut files);
        let is_page = |path: &&PathBuf| {
            let folder = path.parent().unwrap();
            let folders = [
                root.to_owned(),
                root.join("docs"),
                root.join("benches/notes"),
            ];
            path.extension().is_some_and(|e| e == "md") && folders.iter().any(|f| f == folder)
        };
        let mut missing = Vec::new();
        let mut named = 0;
        for page in files.iter().filter(is_page) {
            let text = std::fs::read_to_string(page).unwrap();
            for path in paths(&text) {
                named += 1;
                // A full path from the root, or the end of a path.
                let is_new = text.contains(&format!("In a new file `{path}`"));
                if !is_new && !files.iter().any(|file| file.ends_with(path)) {
                    missing.push(format!("{}: `{path}`", page.display()));
                }
            }
        }
        assert!(named > 10, "{named} paths");
        assert!(missing.is_empty(), "{missing:#?}");
    }

    /// Whether a file has unsafe code; the word in a comment does not count.
    fn is_unsafe(text: &str) -> bool {
        let code = text.lines().map(|line| line.split("//").next().unwrap());
        let unsafe_code =
            ["{", "fn ", "impl ", "extern ", "trait "].map(|what| format!("{} {what}", "unsafe"));
        code.into_iter().any(|line| {
            unsafe_code.iter().any(|code| line.contains(code))
                || line.contains(concat!("#[un", "safe("))
        })
    }

    #[test]
    fn every_file_with_unsafe_code_is_listed_and_no_other() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files = Vec::new();
        tree(root, &mut files);
        let is_unsafe = |path: &&PathBuf| {
            path.extension().is_some_and(|e| e == "rs")
                && is_unsafe(&std::fs::read_to_string(path).unwrap())
        };
        let found = files.iter().filter(is_unsafe);
        let found = found.map(|path| path.strip_prefix(root).unwrap().to_str().unwrap());
        let mut found: Vec<_> = found.map(|path| path.replace('\\', "/")).collect();
        found.sort();
        let page = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
        let (_, table) = page
            .split_once("The lints refuse `unsafe` but in these files:")
            .unwrap();
        let table = table.split("\n## ").next().unwrap();
        let mut listed = paths(table);
        listed.sort_unstable();
        assert_eq!(found, listed);
    }

    /// The text of all source files of a crate.
    fn sources(root: &Path, name: &str) -> String {
        let mut files = Vec::new();
        tree(&root.join("crates").join(name).join("src"), &mut files);
        let texts = files
            .iter()
            .filter_map(|file| std::fs::read_to_string(file).ok());
        texts.collect()
    }

    #[test]
    fn every_type_that_the_words_name_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let page = std::fs::read_to_string(root.join("docs/rust.md")).unwrap();
        let (_, page) = page.split_once("\n## Words\n").unwrap();
        let mut texts = std::collections::HashMap::new();
        let names = page.split('`').skip(1).step_by(2);
        let (mut named, mut missing) = (0, Vec::new());
        for name in names.filter(|name| name.contains("::")) {
            let (crate_name, path) = name.split_once("::").unwrap();
            let last = path.rsplit("::").next().unwrap();
            let crate_name = crate_name.replace('_', "-");
            let text = texts
                .entry(crate_name.clone())
                .or_insert_with(|| sources(root, &crate_name));
            let declared = ["struct", "enum", "fn", "trait", "mod"]
                .iter()
                .any(|kind| text.contains(&format!("{kind} {last}")));
            // A variant has its own line.
            let is_variant = text.contains(&format!("\n    {last},\n"));
            // A type declared by a macro is found in the crate's re-exports.
            let mut given = text.lines().filter(|line| line.starts_with("pub use"));
            let is_given = given.any(|line| line.contains(last));
            named += 1;
            if !declared && !is_variant && !is_given {
                missing.push(name);
            }
        }
        assert!(named > 20 && missing.is_empty(), "{named}: {missing:?}");
    }
}
