//! Links between the pages: each must lead to a file of the project and to a heading in that file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use walkdir::{DirEntry, WalkDir};

/// Fails if a link of a page is broken, and lists all such links with their pages.
pub(super) fn check(root: &Path) -> Result<()> {
    let mut pages = HashMap::new();
    for entry in WalkDir::new(root)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(is_ours)
    {
        let entry = entry?;
        if entry.path().extension().is_some_and(|end| end == "md") {
            let path = entry.path().canonicalize()?;
            let text =
                std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            pages.insert(path, prose(&text));
        }
    }
    let mut broken = Vec::new();
    for (page, text) in &pages {
        let folder = page.parent().unwrap_or(root);
        for target in targets(text) {
            if let Some(reason) = fault(&pages, page, folder, target) {
                let page = page.strip_prefix(root.canonicalize()?).unwrap_or(page);
                broken.push(format!("{}: `{target}`: {reason}", page.display()));
            }
        }
    }
    broken.sort();
    ensure!(
        broken.is_empty(),
        "links that lead nowhere:\n{}",
        broken.join("\n")
    );
    Ok(())
}

/// Whether a folder or file belongs to the project: neither build output nor hidden.
fn is_ours(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.depth() == 0 || !(name == "target" || name.starts_with('.'))
}

/// Why a link from a page is broken; `None` if it is valid or leads outside the project.
fn fault(
    pages: &HashMap<PathBuf, String>,
    page: &Path,
    folder: &Path,
    target: &str,
) -> Option<&'static str> {
    if ["http://", "https://", "mailto:"]
        .iter()
        .any(|out| target.starts_with(out))
    {
        return None;
    }
    let (path, heading) = match target.split_once('#') {
        Some((path, heading)) => (path, Some(heading)),
        None => (target, None),
    };
    let path = match path {
        "" => page.to_owned(),
        path => match folder.join(path).canonicalize() {
            Ok(path) => path,
            Err(_) => return Some("there is no such file"),
        },
    };
    let found = heading.is_none_or(|heading| {
        pages
            .get(&path)
            .is_some_and(|text| headings(text).contains(heading))
    });
    (!found).then_some("the page has no such heading")
}

/// A page without its code blocks.
fn prose(page: &str) -> String {
    let mut in_code = false;
    let mut text = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// The link targets of a text: the text in parentheses directly after a closing bracket, outside of inline code.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for paragraph in text.split("\n\n") {
        let parts = paragraph.split("](").skip(1);
        // After an odd number of backticks the link is inside code.
        let mut before = 0;
        for (part, first) in parts.zip(paragraph.split("](")) {
            before += first.matches('`').count();
            let end = part.find([')', ' ']);
            if let Some(end) = end.filter(|_| before % 2 == 0) {
                found.push(&part[..end]);
            }
        }
    }
    found
}

/// The anchors of a text's headings, as GitHub generates them.
fn headings(text: &str) -> HashSet<String> {
    let titles = text.lines().filter_map(|line| {
        let title = line.trim_start_matches('#');
        title.strip_prefix(' ').filter(|_| title.len() < line.len())
    });
    let mut anchors = HashSet::new();
    for title in titles {
        let letters = title.trim().chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter if letter.is_alphanumeric() => Some(letter),
            _ => None,
        });
        let anchor: String = letters.flat_map(char::to_lowercase).collect();
        // Repeated headings are numbered.
        let mut numbered = anchor.clone();
        let mut number = 0;
        while !anchors.insert(numbered.clone()) {
            number += 1;
            numbered = format!("{anchor}-{number}");
        }
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_but_in_code() {
        let text = prose(
            "[a](b.md) and\n[two\nlines](c.md#d) `[no](x)`\n```\n[no](y)\n```\n![p](q.svg)\n",
        );
        assert_eq!(targets(&text), ["b.md", "c.md#d", "q.svg"]);
    }

    #[test]
    fn headings_are_anchored_as_github_does() {
        let anchors = headings("# The `Form`, text\n## A_b - c\n## Ends\n## Ends\n#no heading\n");
        let wanted = ["the-form-text", "a_b---c", "ends", "ends-1"];
        assert_eq!(anchors, wanted.map(str::to_owned).into());
    }

    #[test]
    fn what_leads_nowhere_is_told_with_its_page() {
        let folder = tempfile::tempdir().unwrap();
        let page = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        page(
            "a.md",
            "# One\n[b](b.md#two), [self](#one), [out](https://x.org/#y)\n",
        );
        page("b.md", "## Two\n[a](a.md)\n");
        check(folder.path()).unwrap();
        page("b.md", "## Three\n[a](c.md)\n");
        let told = check(folder.path()).unwrap_err().to_string();
        assert_eq!(
            told,
            "links that lead nowhere:\n\
             a.md: `b.md#two`: the page has no such heading\n\
             b.md: `c.md`: there is no such file"
        );
    }
}
