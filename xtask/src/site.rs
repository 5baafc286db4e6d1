//! `site`: builds the pages for users of the Python package as a site with `MkDocs`, if that is installed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// The folder in which the pages are assembled.
const PAGES: &str = "target/site/pages";

/// The start page is that of the package.
const FIRST: &str = "crates/mega-batch-py/README.md";

/// The five jobs of `docs/python.md`, by their scripts.
const EXAMPLES: &str = "crates/mega-batch-py/examples";
const JOBS: [(&str, &str); 5] = [
    ("Self-consistency", "self_consistency.py"),
    ("A reward", "reward.py"),
    ("Tasks to train on", "make_tasks.py"),
    ("A genetic search", "genetic_search.py"),
    ("A training", "train.py"),
];

/// The modules on the page of the API.
const MODULES: [&str; 5] = [
    "mega_batch",
    "mega_batch.synth",
    "mega_batch.charts",
    "mega_batch.ray",
    "mega_batch.typing",
];

/// The packages that must be installed.
const NEEDED: &str =
    "import material, mega_batch, mkdocs, mkdocstrings, mkdocstrings_handlers.python";

/// Arguments of `site`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The Python that has `MkDocs`, its theme Material, mkdocstrings for Python, and the wheel.
    #[arg(long, value_name = "FILE", default_value = "python3")]
    python: PathBuf,
}

pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    if let Some(lacks) = missing(&arguments.python) {
        println!("site: skipped: {lacks}");
        return Ok(());
    }
    let pages = root.join(PAGES);
    if pages.exists() {
        fs::remove_dir_all(&pages)?;
    }
    fs::create_dir_all(&pages)?;
    for entry in fs::read_dir(root.join("docs"))? {
        let page = entry?.path();
        if let (true, Some(name)) = (page.is_file(), page.file_name()) {
            let text = fs::read_to_string(&page).with_context(|| page.display().to_string())?;
            fs::write(pages.join(name), without_links_outside(&text))?;
        }
    }
    fs::copy(root.join(FIRST), pages.join("index.md")).context(FIRST)?;
    fs::write(pages.join("cookbook.md"), cookbook(root)?)?;
    fs::write(pages.join("api.md"), api())?;
    let status = Command::new(&arguments.python)
        .args(["-m", "mkdocs", "build", "--clean", "--quiet"])
        .current_dir(root)
        .status()
        .context("mkdocs cannot be run")?;
    ensure!(status.success(), "`mkdocs build` failed ({status})");
    println!("site: target/site/html/index.html");
    Ok(())
}

/// The page with links to files that are not pages of the site replaced by their text.
fn without_links_outside(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some(link) = rest.find("](../") {
        let (Some(begin), Some(length)) = (rest[..link].rfind('['), rest[link..].find(')')) else {
            break;
        };
        text += &rest[..begin];
        text += &rest[begin + 1..link];
        rest = &rest[link + length + 1..];
    }
    text + rest
}

/// Why the site cannot be built by this Python.
fn missing(python: &Path) -> Option<String> {
    let mut command = Command::new(python);
    let output = command.args(["-c", NEEDED]).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr);
            Some(match not_installed(&told) {
                Some(module) => format!("{module} is not installed"),
                None => format!("{} cannot import what is needed", python.display()),
            })
        }
        Err(_) => Some(format!("there is no {}", python.display())),
    }
}

/// The module that Python's message reports as missing.
fn not_installed(told: &str) -> Option<&str> {
    let (_, rest) = told.split_once("No module named '")?;
    rest.split(['\'', '.']).next()
}

/// The scripts of the five jobs, each with its own description.
fn cookbook(root: &Path) -> Result<String> {
    let mut page = "# Cookbook\n\nEach of these is a script that runs as it stands.\n".to_owned();
    for (title, name) in JOBS {
        let path = root.join(EXAMPLES).join(name);
        let code = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let _ = write!(page, "\n## {title}\n\n```python\n{code}```\n");
    }
    Ok(page)
}

fn api() -> String {
    let mut page = "# API\n".to_owned();
    for module in MODULES {
        let _ = write!(page, "\n::: {module}\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_installed_is_named() {
        let told = "Traceback ...\nModuleNotFoundError: No module named 'mkdocs'\n";
        assert_eq!(not_installed(told), Some("mkdocs"));
        let told = "ModuleNotFoundError: No module named 'mkdocstrings_handlers.python'\n";
        assert_eq!(not_installed(told), Some("mkdocstrings_handlers"));
        assert_eq!(not_installed("SyntaxError"), None);
        let none = missing(Path::new("no-such-python"));
        assert_eq!(none.as_deref(), Some("there is no no-such-python"));
    }

    #[test]
    fn links_to_files_that_are_no_pages_are_words() {
        let page = "A [`Form`](../crates/a.rs), [words](words.md) and [all\nof it](../b(.md).";
        let expected = "A `Form`, [words](words.md) and all\nof it.";
        assert_eq!(without_links_outside(page), expected);
        assert_eq!(without_links_outside("](../no link"), "](../no link");
    }

    #[test]
    fn the_cookbook_has_all_five_jobs() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let page = cookbook(root).unwrap();
        for (title, name) in JOBS {
            assert!(
                page.contains(&format!("## {title}\n\n```python\n\"\"\"")),
                "{name}"
            );
        }
        // A fence in a script would end that of the page.
        let fences = page.lines().filter(|line| line.starts_with("```"));
        assert_eq!(fences.count(), 2 * JOBS.len());
    }
}
