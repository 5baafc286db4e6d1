//! Reads programs and batts from files.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_dsl::Program;
use arc_tasks::{broken_json, is_arc_id, is_common_name, says_no_task, says_nothing};
use arc_text::{BattFile, ParseErrorKind, Reading, Renames, parse_batt, read_file};
use python_pool::Pool;
use serde_json::Value;

use super::entry::{Chosen, FreePython, defines_programs, functions, is_program, name_defined};
use super::foreign::{Candidate, Foreign};
use super::json_programs::{OtherFile, ProgramsInJson};
use super::modules::{DSL_MODULES, MAX_NAMES, Modules, list_names};
use super::packed::{ArchiveListing, Content, contents};
use super::{
    InputError, NOTEBOOK, ProgramsRead, ends_with_one, files, id_of_folder, is_json, is_python,
    numbered, read_text, stem, text,
};

/// Reads programs from `*.py` files and folders of them, in the order of names. Each has the file as its
/// [source](arc_dsl::Program::source). The text of a program may also be in a JSON or JSONL file, with the id of its
/// task. A file may consist of the lines of one program that end in `O = ..`. Such a program, and one whose name does
/// not identify a task, like `p` or `solve`, is named after its file: `solve_ID`, where `ID` is the part of the
/// file's name behind the last `_`. A file in a folder without programs is noted. The size limits of
/// [`read_tasks`](super::read_tasks) hold.
pub fn read_programs(paths: &[PathBuf], reading: &Reading) -> ProgramsRead {
    read_with(paths, reading, None)
}

/// The same, with the programs in free Python among them, each of which is one text. Nothing is executed.
pub fn read_programs_with_python(
    paths: &[PathBuf],
    reading: &Reading,
    pool: &Pool,
) -> ProgramsRead {
    read_with(paths, reading, Some(pool))
}

/// Reads the rows of a table, lines of JSON that are called `name`, as those of a file with them.
pub fn read_program_rows(name: &Path, lines: &[u8], reading: &Reading) -> ProgramsRead {
    let mut rows = ProgramsInJson::default();
    rows.json(name, lines, true);
    let mut read = ProgramsRead {
        errors: std::mem::take(&mut rows.errors),
        notes: std::mem::take(&mut rows.notes),
        ..ProgramsRead::default()
    };
    let mut foreign = Foreign::new(None);
    let mut modules = Modules::among([].into_iter());
    rows.parse(reading, &mut modules, &mut read, &mut foreign);
    foreign.finish(&mut read, &mut Vec::new());
    read
}

fn read_with(paths: &[PathBuf], reading: &Reading, pool: Option<&Pool>) -> ProgramsRead {
    let mut foreign = Foreign::new(pool);
    let mut in_json = ProgramsInJson::read(paths);
    let others = std::mem::take(&mut in_json.others);
    let mut read = ProgramsRead {
        errors: std::mem::take(&mut in_json.errors),
        notes: std::mem::take(&mut in_json.notes),
        ..ProgramsRead::default()
    };
    let mut modules = Modules::among(others.iter().filter_map(|file| match file {
        OtherFile::Packed(content) => Some(content),
        _ => None,
    }));
    let mut empty = Vec::new();
    for other in others {
        match PythonFile::read(other) {
            Ok(text)
                if !text.is_named && DSL_MODULES.iter().any(|name| text.file.ends_with(name)) =>
            {
                empty.push(text.file);
            }
            Ok(text) => {
                let reading = Reading {
                    beside: modules.beside(&text.file, &text.text, reading),
                    ..reading.clone()
                };
                if !read.file(&text, &reading, &mut foreign) {
                    empty.push(text.file);
                }
            }
            Err(error) => read.errors.push(error),
        }
    }
    read.notes.append(&mut in_json.notes);
    in_json.parse(reading, &mut modules, &mut read, &mut foreign);
    foreign.finish(&mut read, &mut empty);
    read.note_empty(&empty);
    read.notes.extend(modules.notes());
    read.note_unknown();
    let listed = ArchiveListing::of_named(paths, |name| is_json(name) || is_python(name));
    read.errors.extend(listed.errors);
    read.notes.extend(listed.notes);
    read
}

impl ProgramsRead {
    /// Notes the files in folders that contain no program.
    fn note_empty(&mut self, files: &[PathBuf]) {
        let names = files
            .iter()
            .map(|file| file.file_name().unwrap_or_default().to_string_lossy());
        let names: Vec<_> = names.collect();
        if let (Some(first), Some(names)) =
            (files.first(), list_names(names.iter().map(|name| &**name)))
        {
            let message = format!("no programs in {names}");
            let folder = first.parent().unwrap_or(first);
            self.notes.push(InputError::whole(folder, message));
        }
    }

    /// Notes unknown names if many programs use such: usually they belong to a fork of the DSL.
    fn note_unknown(&mut self) {
        const MANY: u64 = 10;
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for (_, name) in &self.unknown {
            *counts.entry(name).or_default() += 1;
        }
        let total: u64 = counts.values().sum();
        let Some((file, _)) = self.unknown.first().filter(|_| total >= MANY) else {
            return;
        };
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|&(name, count)| (Reverse(count), name));
        let told = counts.iter().take(MAX_NAMES);
        let told: Vec<_> = told
            .map(|(name, count)| format!("`{name}` {count} times"))
            .collect();
        let more = match counts.len().checked_sub(MAX_NAMES) {
            Some(more @ 1..) => format!(" and {more} more names"),
            _ => String::new(),
        };
        let message = format!(
            "names that the DSL does not have: {}{more}; if they belong to a fork, --names FILE maps them to the \
             DSL's",
            told.join(", ")
        );
        self.notes.push(InputError::whole(file, message));
    }

    /// Adds the programs of a file; returns false if it contains none and need not.
    fn file(
        &mut self,
        PythonFile {
            file,
            text,
            is_named,
        }: &PythonFile,
        reading: &Reading,
        foreign: &mut Foreign<'_>,
    ) -> bool {
        let id = id_of(file, !is_named);
        let name = |number| format!("{}_{id}", numbered("solve", number));
        let mut parsed = read_file(text, reading, name);
        let is_bare = !parsed.programs.is_empty() && parsed.is_bare;
        let parsed_notes = std::mem::take(&mut parsed.notes);
        let source: Arc<str> = file.to_string_lossy().into();
        let has_table = parsed.has_table;
        let chosen = Chosen::of(functions(parsed, &text.as_str().into()), &id, has_table);
        let defines = defines_programs(text);
        // A file that was not named may fail to parse without an error, if it defines no function that looks like a
        // program or is a notebook.
        let is_meant = *is_named || defines && !is_notebook(file);
        let is_asked = foreign.is_asked(file, text, chosen.python, is_meant);
        let reason = chosen.python >= FreePython::Maybe;
        let notes = parsed_notes.iter();
        let helpers = chosen
            .helpers_note()
            .map(|note| InputError::whole(file, note));
        let mut dsl = Self {
            notes: notes
                .map(|note| InputError::in_program(file, note))
                .chain(helpers)
                .collect(),
            ..Self::default()
        };
        for program in foreign.counting(chosen) {
            match program {
                Ok(program) => {
                    let program = program.with_source(Arc::clone(&source));
                    let name = program.name();
                    dsl.programs.push(if is_bare {
                        let name = name.to_owned();
                        program.named_by_file(name)
                    } else if says_nothing(name) {
                        let name = format!("{name}_{id}");
                        program.named_by_file(name)
                    } else {
                        program
                    });
                }
                Err(error) => {
                    if let ParseErrorKind::Unknown { name, .. } = &error.kind {
                        dsl.unknown.push((file.clone(), name.clone()));
                    }
                    dsl.errors.push(InputError::in_program(file, &error));
                }
            }
        }
        let has_programs = !dsl.programs.is_empty();
        if is_asked {
            let name = format!("solve_{id}");
            let code = vec![vec![(0, text.clone())]];
            foreign.candidates.push(Candidate {
                at: self.programs.len(),
                program: Program::in_python(name.clone(), code)
                    .with_source(source)
                    .named_by_file(name),
                otherwise: (*is_named || defines || has_programs).then_some(dsl),
                reason: reason.then(|| InputError::at(file, 1, 1, "")),
            });
            return true;
        }
        if !has_programs && !*is_named && (dsl.errors.is_empty() || !is_meant) {
            let note = within_other(file, text);
            let is_told = note.is_some();
            self.notes.extend(note);
            return is_told;
        }
        if !has_programs && dsl.errors.is_empty() {
            dsl.errors.push(InputError::whole(
                file,
                "no program: expected `def NAME(I):`, or lines that end in `O = ..`",
            ));
        }
        self.append(dsl);
        true
    }

    /// Adds what was read of another text.
    pub(super) fn append(&mut self, mut other: Self) {
        self.programs.append(&mut other.programs);
        self.errors.append(&mut other.errors);
        self.notes.append(&mut other.notes);
        self.unknown.append(&mut other.unknown);
    }
}

/// Reads a table that maps another project's names to those of the DSL.
pub fn read_renames(file: &Path) -> Result<Renames, InputError> {
    let text = read_text(file)?;
    Renames::parse(&text).map_err(|(line, message)| InputError::at(file, line, 1, message))
}

/// Reads batts from `*.py` files and folders of them, in the order of names, each with its file. Skips companions
/// (`*_call.py`). The size limits of [`read_tasks`](super::read_tasks) hold.
pub fn read_batts(paths: &[PathBuf]) -> (Vec<(PathBuf, BattFile)>, Vec<InputError>) {
    let (mut batts, mut errors) = (Vec::new(), Vec::new());
    let mut add = |read: Result<PythonFile, InputError>| {
        let batt = read.and_then(|PythonFile { file, text, .. }| match parse_batt(&text) {
            Ok(batt) => Ok((file, batt)),
            Err(error) => Err(InputError::in_program(&file, &error)),
        });
        match batt {
            Ok(batt) => batts.push(batt),
            Err(error) => errors.push(error),
        }
    };
    let what = "batts (*.py)";
    let is_batt = |name: &str| ends_with_one(name, &[".py"]) && !is_companion(Path::new(name));
    for path in paths {
        if path.is_dir() {
            let found = files(path, is_batt, what);
            for error in found.errors {
                add(Err(error));
            }
            for file in found.files {
                add(PythonFile::read(OtherFile::Found(file)));
            }
        } else if !is_companion(path) {
            contents(path, what, is_batt, |it| {
                add(it.and_then(|it| PythonFile::read(OtherFile::Packed(it))));
            });
        }
    }
    (batts, errors)
}

/// A Python file.
struct PythonFile {
    file: PathBuf,
    text: String,
    /// Whether it was named itself, not a folder that contains it.
    is_named: bool,
}

impl PythonFile {
    fn read(other: OtherFile) -> Result<Self, InputError> {
        let is_named = matches!(other, OtherFile::Named(_));
        let (text, file) = match other {
            OtherFile::Found(file) => (read_text(&file)?, file),
            OtherFile::Named(Content { name, bytes })
            | OtherFile::Packed(Content { name, bytes }) => (text(&name, &bytes)?, name),
        };
        let text = if is_notebook(&file) {
            code_of_notebook(&file, &text)?
        } else {
            text
        };
        Ok(Self {
            file,
            text,
            is_named,
        })
    }
}

fn is_notebook(file: &Path) -> bool {
    ends_with_one(&file.to_string_lossy(), &[NOTEBOOK])
}

/// The code of a notebook, cell by cell, without the commands that are not Python.
fn code_of_notebook(file: &Path, json: &str) -> Result<String, InputError> {
    let notebook: Value = serde_json::from_str(json).map_err(|error| {
        InputError::at(
            file,
            error.line(),
            error.column(),
            broken_json(&error, json),
        )
    })?;
    let Some(cells) = notebook["cells"].as_array() else {
        return Err(InputError::at(
            file,
            1,
            1,
            "expected a notebook: an object with the key `cells`",
        ));
    };
    let cells = cells.iter().filter(|cell| cell["cell_type"] == "code");
    let sources = cells.map(|cell| match &cell["source"] {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        source => source.as_str().unwrap_or_default().to_owned(),
    });
    let mut code = String::new();
    for source in sources {
        let is_other = source.trim_start().starts_with("%%");
        let is_python = ["%%writefile", "%%time", "%%capture"]
            .iter()
            .any(|it| source.contains(it));
        for line in source.lines() {
            let is_command = line.trim_start().starts_with(['%', '!', '?']);
            code.push_str(if is_command || is_other && !is_python {
                ""
            } else {
                line
            });
            code.push('\n');
        }
    }
    Ok(code)
}

/// A note on a function that is called as programs are and is part of another statement, if there is one.
fn within_other(file: &Path, text: &str) -> Option<InputError> {
    let mut lines = text.lines().zip(1..);
    lines.find_map(|(line, number)| {
        let indent = line.len() - line.trim_start().len();
        let name = name_defined(&line[indent..]).filter(|name| indent > 0 && is_program(name))?;
        let message = format!(
            "no programs: `{name}` is defined within another statement, such as `class` or `if`, expected it at the \
             beginning of a line"
        );
        Some(InputError::at(file, number, indent + 1, message))
    })
}

/// The task id in the name of a file of programs, for naming them: the part behind the last `_`; or that of a folder
/// around it, as in `ID/attempt_1/solution.py`.
fn id_of(file: &Path, is_found: bool) -> String {
    let folders = file.ancestors().skip(1).filter_map(Path::file_name);
    let mut folders = folders.map(|name| name.to_string_lossy().into_owned());
    let around = folders.find(|name| !is_common_name(name));
    let around = around.filter(|name| is_arc_id(name) && says_no_task(&stem(file)));
    let name = around.or_else(|| id_of_folder(file, is_found));
    let name = name.unwrap_or_else(|| stem(file));
    let id = name.rsplit_once('_').map_or(&*name, |(_, id)| id);
    id.to_owned()
}

/// Whether the file contains the calls that belong to a batt.
fn is_companion(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with("_call.py")
}
