//! Follows docs/first-hour.md: writes its files, runs its commands, and checks that they print what the page says.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The page.
fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/first-hour.md");
    fs::read_to_string(path).unwrap().replace("\r\n", "\n")
}

/// The code blocks of a language; blocks without a language hold commands.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, block)) = rest.split_once("\n```") {
        let (named, block) = block.split_once('\n').unwrap();
        let (block, after) = block.split_once("```").unwrap();
        if named == language {
            found.push(block);
        }
        rest = after;
    }
    found
}

/// What is the same on every machine: no times and rates, no memory, no number of workers, and no list of the slowest
/// programs; of a line that ends in `...` only the text before it.
fn settled(printed: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_slowest = false;
    for line in printed.trim().lines() {
        in_slowest = (in_slowest || line.starts_with("slowest")) && !line.is_empty();
        let depends = [
            "calls/s",
            "evaluations/s",
            "most values",
            "peak memory",
            "seconds",
        ];
        if in_slowest || depends.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let line = line
            .split_once("compiling")
            .map_or(line, |(_, _)| "compiling");
        let words: Vec<_> = line
            .split_whitespace()
            .filter(|word| *word != "workers," && *word != "worker," && *word != "worker")
            .collect();
        let words = match words[..] {
            ["parallel,", _, ..] => [&words[..1], &words[2..]].concat(),
            [.., time, "s"] if time.contains('.') => words[..words.len() - 2].to_vec(),
            _ => words,
        };
        lines.push(words.join(" "));
    }
    lines
}

#[test]
fn the_first_hour_prints_what_its_page_says() {
    let page = page();
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine");
    fs::create_dir(&mine).unwrap();
    let python = blocks(&page, "python");
    fs::write(mine.join("twice.json"), blocks(&page, "json")[0]).unwrap();
    fs::write(mine.join("programs.py"), python[0]).unwrap();
    let binaries = Path::new(env!("CARGO_BIN_EXE_mega-batch"));
    let path = format!(
        "{}:{}",
        binaries.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let mut followed = 0;
    for block in blocks(&page, "") {
        for shown in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, printed) = shown.split_once('\n').unwrap();
            // Cargo's commands would start another build each.
            if command.starts_with("cargo ") {
                continue;
            }
            if command.contains("fails.py") {
                fs::write(mine.join("fails.py"), python[1]).unwrap();
            }
            let output = Command::new("bash")
                .args(["-c", &format!("exec 2>&1; {command}")])
                .env("PATH", &path)
                .current_dir(folder.path())
                .output()
                .unwrap();
            let mut given = settled(&String::from_utf8(output.stdout).unwrap());
            let mut wanted = settled(printed);
            if let Some(cut) = wanted.iter().position(|line| line == "...") {
                wanted.truncate(cut);
                given.truncate(cut);
            }
            assert_eq!(given, wanted, "{command}");
            followed += 1;
        }
    }
    assert!(followed > 10, "{followed} commands");
}
