//! Programs whose text stands in JSON or JSONL, beside the id of their task.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_dsl::{FileForm, FileProgram, Reading, TaskFile, read_file};

use super::{InputError, ProgramsRead, Walk, unpacked};

/// What the names of such files end with.
const ENDINGS: [&str; 3] = [".json", ".jsonl", ".ndjson"];

/// The programs of files of JSON, and what else there is to be read.
#[derive(Default)]
pub(super) struct ProgramsInJson {
    /// The texts of programs, with their files.
    texts: Vec<(PathBuf, FileProgram)>,
    pub(super) errors: Vec<InputError>,
    pub(super) notes: Vec<InputError>,
    /// The paths that may hold other programs.
    pub(super) others: Vec<PathBuf>,
    /// The files that were read.
    files: HashSet<PathBuf>,
}

impl ProgramsInJson {
    /// Reads the files of JSON among the paths and in the folders among them.
    pub(super) fn read(paths: &[PathBuf]) -> Self {
        let mut read = Self::default();
        for path in paths {
            if path.is_dir() {
                let before = read.texts.len();
                for file in Walk::through(path, is_json).files {
                    // Most of them are tasks, or have nothing to do with programs.
                    read.file(&file, false);
                }
                let is_python =
                    |name: &str| Path::new(name).extension().is_some_and(|it| it == "py");
                let has_others = || !Walk::through(path, is_python).files.is_empty();
                if read.texts.len() == before || has_others() {
                    read.others.push(path.clone());
                }
            } else if is_json(&path.to_string_lossy()) {
                read.file(path, true);
            } else {
                read.others.push(path.clone());
            }
        }
        read
    }

    /// Whether a file is read for the first time; that it was given before is a note.
    pub(super) fn is_first(&mut self, file: &Path) -> bool {
        let place = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let is_first = self.files.insert(place);
        if !is_first {
            let message = "given a second time, read once";
            self.notes.push(InputError::whole(file, message));
        }
        is_first
    }

    fn file(&mut self, file: &Path, is_named: bool) {
        if !self.is_first(file) {
            return;
        }
        let bytes = match unpacked(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                if is_named {
                    self.errors.push(error);
                }
                return;
            }
        };
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let found = TaskFile::read(&name, &bytes);
        if !is_named && found.programs.is_empty() {
            // What is wrong with tasks is told where they are read.
            let error = found.errors.first().cloned();
            match (found.form, error) {
                (FileForm::Foreign, _) => {
                    let message =
                        "passed over: no programs, which are the key `program` beside `task_id`";
                    self.notes.push(InputError::whole(file, message));
                }
                (FileForm::Other, Some(error)) if found.tasks.is_empty() => {
                    let mut note = InputError::in_tasks(file, error);
                    note.message = format!("passed over: {}", note.message);
                    self.notes.push(note);
                }
                _ => {}
            }
        }
        if is_named && found.programs.is_empty() {
            let message = match found.form {
                FileForm::Tasks => {
                    "no programs beside the tasks: expected the key `program` with the text of one"
                }
                _ => "no programs: expected the key `program` with the text of one, and `task_id`",
            };
            let errors = found.errors.into_iter();
            self.errors
                .extend(errors.map(|error| InputError::in_tasks(file, error)));
            self.errors.push(InputError::at(file, 1, 1, message));
            return;
        }
        if found.form == FileForm::Programs {
            let errors = found.errors.into_iter();
            self.errors
                .extend(errors.map(|error| InputError::in_tasks(file, error)));
        }
        let programs = found.programs.into_iter();
        self.texts
            .extend(programs.map(|program| (file.to_owned(), program)));
    }

    /// Reads the programs. Each is called after its task, with a number where the file has several of one.
    pub(super) fn parse(self, reading: &Reading, all: &mut ProgramsRead) {
        let mut counts = HashMap::new();
        for (file, text) in &self.texts {
            let count = counts.entry((file, &text.task)).or_default();
            parse(text, file, count, reading, all);
        }
    }
}

/// Reads the programs of a text, of whose task there were so many before.
fn parse(
    text: &FileProgram,
    file: &Path,
    count: &mut usize,
    reading: &Reading,
    all: &mut ProgramsRead,
) {
    let FileProgram {
        task,
        text,
        line,
        column,
        path,
    } = text;
    let source: Arc<str> = file.to_string_lossy().into();
    let own = format!("solve_{task}");
    let mut read = read_file(text, reading, |_| own.clone()).programs;
    if read.len() > 1 {
        // What is defined besides is what the last one calls, or another program.
        let is_own =
            |it: &Result<arc_dsl::Program, _>| it.as_ref().is_ok_and(|it| it.task_id() == task);
        if read.iter().any(is_own) {
            read.retain(|it| it.is_err() || is_own(it));
        }
    }
    let error = |message: String| InputError::at(file, *line, *column, message).about(path.clone());
    if read.is_empty() {
        all.errors.push(error("no program in this text".to_owned()));
    }
    for program in read {
        match program {
            Ok(program) => {
                *count += 1;
                let name = match *count {
                    1 => own.clone(),
                    number => format!("solve{number}_{task}"),
                };
                let program = program.with_name(name);
                all.programs.push(program.with_source(Arc::clone(&source)));
            }
            Err(found) => all.errors.push(error(format!(
                "line {}, column {} of the program: {}",
                found.line, found.column, found.kind
            ))),
        }
    }
}

fn is_json(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}
