//! Programs whose text stands in JSON or JSONL, beside the id of their task.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_dsl::{FileForm, FileProgram, Program, Reading, TaskFile, read_file};

use super::{InputError, ProgramsRead, Walk, unpacked};

/// What the names of such files end with.
const ENDINGS: [&str; 3] = [".json", ".jsonl", ".ndjson"];

/// The programs of files of JSON, and what else there is to be read.
#[derive(Default)]
pub(super) struct ProgramsInJson {
    /// The programs, with their files.
    pub(super) programs: Vec<(PathBuf, TextOf)>,
    pub(super) errors: Vec<InputError>,
    pub(super) notes: Vec<InputError>,
    /// The paths that may hold other programs.
    pub(super) others: Vec<PathBuf>,
}

/// The text of a program, and how many of its task stand before it.
pub(super) struct TextOf {
    program: FileProgram,
    before: usize,
}

impl ProgramsInJson {
    /// Reads the files of JSON among the paths and in the folders among them.
    pub(super) fn read(paths: &[PathBuf]) -> Self {
        let mut read = Self::default();
        for path in paths {
            if path.is_dir() {
                let before = read.programs.len();
                for file in Walk::through(path, is_json).files {
                    // Most of them are tasks, or have nothing to do with programs.
                    read.file(&file, false);
                }
                let is_python =
                    |name: &str| Path::new(name).extension().is_some_and(|it| it == "py");
                let has_others = || !Walk::through(path, is_python).files.is_empty();
                if read.programs.len() == before || has_others() {
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

    fn file(&mut self, file: &Path, is_named: bool) {
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
        if !is_named && found.programs.is_empty() && found.form == FileForm::Foreign {
            let message = "passed over: no programs, which are the key `program` beside `task_id`";
            self.notes.push(InputError::whole(file, message));
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
        let mut counts = HashMap::new();
        for program in found.programs {
            let count: &mut usize = counts.entry(program.task.clone()).or_default();
            let before = *count;
            *count += 1;
            let text = TextOf { program, before };
            self.programs.push((file.to_owned(), text));
        }
    }
}

impl TextOf {
    /// Reads the program, which is then called after its task.
    pub(super) fn parse(&self, file: &Path, reading: &Reading, all: &mut ProgramsRead) {
        let FileProgram {
            task,
            text,
            line,
            column,
            path,
        } = &self.program;
        let name = match self.before {
            0 => format!("solve_{task}"),
            before => format!("solve{}_{task}", before + 1),
        };
        let source: Arc<str> = file.to_string_lossy().into();
        let mut read = read_file(text, reading, |_| name.clone()).programs;
        if read.len() > 1 {
            // What is defined besides is what the last one calls, or another program.
            let is_own = |it: &Result<Program, _>| {
                it.as_ref().is_ok_and(|it: &Program| it.task_id() == task)
            };
            if read.iter().any(is_own) {
                read.retain(|it| it.is_err() || is_own(it));
            }
        }
        let error =
            |message: String| InputError::at(file, *line, *column, message).about(path.clone());
        if read.is_empty() {
            all.errors.push(error("no program in this text".to_owned()));
        }
        for program in read {
            match program {
                Ok(program) => {
                    let program = program.with_name(name.clone());
                    all.programs.push(program.with_source(Arc::clone(&source)));
                }
                Err(found) => all.errors.push(error(format!(
                    "line {}, column {} of the program: {}",
                    found.line, found.column, found.kind
                ))),
            }
        }
    }
}

fn is_json(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}
