//! Programs and batts from files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_dsl::{BattFile, Program, Reading, Renames, parse_batt, read_file, says_nothing};

use super::json_programs::ProgramsInJson;
use super::{InputError, files, read_text};

/// What files of programs came to.
#[derive(Debug, Clone, Default)]
pub struct ProgramsRead {
    /// The programs, file by file.
    pub programs: Vec<Program>,
    /// What was wrong.
    pub errors: Vec<InputError>,
    /// What is strange, but not wrong: what has no part in any program.
    pub notes: Vec<InputError>,
}

/// Names of files in folders of programs that hold something else.
const OTHER_FILES: &[&str] = &[
    "__init__",
    "arc_types",
    "common",
    "conftest",
    "constants",
    "generators",
    "helpers",
    "main",
    "setup",
    "test",
    "tests",
    "types",
    "util",
    "utils",
];

/// Reads programs from `*.py` files and folders of them, which are read by name. Each has the file as
/// its [source](Program::source). The text of a program may also stand in a file of JSON or JSONL, beside the
/// id of its task. A file may hold the lines of one program alone, that end in `O = ..`.
/// Such a program, and one whose name says nothing of a task, as `p` or `solve`, is named by its file:
/// `solve_ID`, where `ID` is what stands in the file's name behind the last `_`. A file of a folder that
/// holds no program is a note. The bounds of [`read_tasks`](super::read_tasks) hold.
pub fn read_programs(paths: &[PathBuf], reading: &Reading) -> ProgramsRead {
    let in_json = ProgramsInJson::read(paths);
    let mut read = ProgramsRead {
        errors: in_json.errors,
        ..ProgramsRead::default()
    };
    for text in texts(&in_json.others, "program files") {
        match text {
            Ok(text) => read.file(&text, reading),
            Err(error) => read.errors.push(error),
        }
    }
    for (file, text) in &in_json.programs {
        text.parse(file, reading, &mut read);
    }
    read
}

impl ProgramsRead {
    fn file(
        &mut self,
        PythonFile {
            file,
            text,
            is_named,
        }: &PythonFile,
        reading: &Reading,
    ) {
        let id = id_of(file);
        let parsed = read_file(text, reading, |number| match number {
            1 => format!("solve_{id}"),
            _ => format!("solve{number}_{id}"),
        });
        let is_bare = !parsed.programs.is_empty() && parsed.is_bare;
        let source: Arc<str> = file.to_string_lossy().into();
        let (before, mut errors) = (self.programs.len(), Vec::new());
        for program in parsed.programs {
            match program {
                Ok(program) => {
                    let program = program.with_source(Arc::clone(&source));
                    let name = program.name();
                    self.programs.push(if is_bare {
                        let name = name.to_owned();
                        program.named_by_file(name)
                    } else if says_nothing(name) {
                        let name = format!("{name}_{id}");
                        program.named_by_file(name)
                    } else {
                        program
                    });
                }
                Err(error) => errors.push(InputError::in_program(file, &error)),
            }
        }
        let notes = parsed.notes.iter();
        self.notes
            .extend(notes.map(|note| InputError::in_program(file, note)));
        let has_programs = self.programs.len() > before;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let is_other = OTHER_FILES.contains(&&*stem) || stem.starts_with("test_");
        if !has_programs && errors.is_empty() {
            errors.push(InputError::whole(
                file,
                "no program: expected `def NAME(I):`, or lines that end in `O = ..`",
            ));
            if !is_named {
                self.notes.append(&mut errors);
            }
        } else if !has_programs && is_other && !is_named {
            // One note says enough of a file that was not asked for.
            let error = errors.swap_remove(0);
            let message = format!("no program is read: {}", error.message);
            self.notes.push(InputError { message, ..error });
            errors.clear();
        }
        self.errors.append(&mut errors);
    }
}

/// Reads a table of names of the DSL as another project calls them.
pub fn read_renames(file: &Path) -> Result<Renames, InputError> {
    let text = read_text(file)?;
    Renames::parse(&text).map_err(|(line, message)| InputError::at(file, line, 1, message))
}

/// Reads batts from `*.py` files and folders of them, which are read by name, each with its file.
/// Companions (`*_call.py`) are passed over. The bounds of [`read_tasks`](super::read_tasks) hold.
pub fn read_batts(paths: &[PathBuf]) -> (Vec<(PathBuf, BattFile)>, Vec<InputError>) {
    let (mut batts, mut errors) = (Vec::new(), Vec::new());
    for read in texts(paths, "batts") {
        let batt = read.and_then(|PythonFile { file, text, .. }| match parse_batt(&text) {
            Ok(batt) => Ok((file, batt)),
            Err(error) => Err(InputError::in_program(&file, &error)),
        });
        match batt {
            Ok(batt) => batts.push(batt),
            Err(error) => errors.push(error),
        }
    }
    (batts, errors)
}

/// A file of Python.
struct PythonFile {
    file: PathBuf,
    text: String,
    /// Whether it was asked for itself, rather than a folder that it is in.
    is_named: bool,
}

/// The `*.py` files, and those of folders, each read when it is asked for; `what` names them.
fn texts<'p>(
    paths: &'p [PathBuf],
    what: &'static str,
) -> impl Iterator<Item = Result<PythonFile, InputError>> + 'p {
    let found = paths.iter().flat_map(move |path| {
        let found = files(path, "py", what);
        let named = |file: PathBuf| {
            let is_named = file == *path;
            Ok((file, is_named))
        };
        let files = found.map(|files| files.into_iter().map(named).collect());
        files.unwrap_or_else(|error| vec![Err(error)])
    });
    let wanted = found.filter(|file| !file.as_ref().is_ok_and(|(file, _)| is_companion(file)));
    wanted.map(|file| {
        let (file, is_named) = file?;
        let text = read_text(&file)?;
        Ok(PythonFile {
            file,
            text,
            is_named,
        })
    })
}

/// The id of the task that a file of programs seems to be of, to name programs by: what stands behind the
/// last `_` of its name.
fn id_of(file: &Path) -> String {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let id = name.rsplit_once('_').map_or(&*name, |(_, id)| id);
    id.to_owned()
}

/// Whether it is the file of calls that is written beside a batt.
fn is_companion(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with("_call.py")
}
