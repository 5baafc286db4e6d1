//! Tasks and programs from files: everything that can be read is, and everything else has an
//! [`InputError`].

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use arc_dsl::{Challenges, ParseError, Solutions, Task, TaskError};
use serde::{Serialize, Serializer};

use crate::escape::escaped;

mod programs;

pub use programs::{ProgramsRead, read_batts, read_programs, read_renames};

/// How large a file of tasks or programs may be: 1 GiB, ten times the public data in one file.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// What is wrong with an input file or something in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputError {
    /// The file or folder, as it was given or found.
    #[serde(serialize_with = "lossily")]
    pub file: PathBuf,
    /// The line, counted from 1, where the error has a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The JSON path to the value, as `train[0].input[2]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was found and what was expected.
    pub message: String,
}

impl InputError {
    /// An error about a whole file or folder.
    pub fn whole(file: &Path, message: impl Into<String>) -> Self {
        let (line, column, path) = (None, None, None);
        Self {
            file: file.to_owned(),
            line,
            column,
            path,
            message: message.into(),
        }
    }

    fn at(file: &Path, line: usize, column: usize, message: impl Into<String>) -> Self {
        let (line, column) = (Some(line), Some(column));
        Self {
            line,
            column,
            ..Self::whole(file, message)
        }
    }

    fn in_program(file: &Path, error: &ParseError) -> Self {
        let (line, column) = (error.line as usize, error.column as usize);
        Self::at(file, line, column, error.kind.to_string())
    }

    fn in_tasks(file: &Path, error: TaskError) -> Self {
        let TaskError {
            line,
            column,
            path,
            message,
            ..
        } = error;
        let path = (!path.is_empty()).then_some(path);
        Self {
            path,
            ..Self::at(file, line, column, message)
        }
    }
}

/// A path as text, whatever bytes its name is made of.
fn lossily<S: Serializer>(file: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&file.display())
}

/// One line: `FILE:LINE:COLUMN: PATH: message`, [escaped].
impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", escaped(&self.file.to_string_lossy()))?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "{line}:{column}:")?;
        }
        if let Some(path) = &self.path {
            write!(f, " {}:", escaped(path))?;
        }
        write!(f, " {}", escaped(&self.message))
    }
}

impl std::error::Error for InputError {}

/// Reads tasks from files and folders.
///
/// A path is a folder of `*.json` files, which are read by name, or a file: of one task, whose id is
/// the name of the file, or of many by id, as Kaggle's `*_challenges.json`. `solutions` is Kaggle's
/// `*_solutions.json` with the test outputs of the latter. A task that is given twice is read once;
/// two different tasks of one id are an error. What is no regular file, a pipe or a device, is refused,
/// and so is a file of more than [`MAX_FILE_BYTES`].
pub fn read_tasks(paths: &[PathBuf], solutions: Option<&Path>) -> (Vec<Task>, Vec<InputError>) {
    let mut found = Found::default();
    for path in paths {
        match files(path, "json", "task files") {
            Ok(files) => files.iter().for_each(|file| found.read(file)),
            Err(error) => found.errors.push(error),
        }
    }
    if let Some(file) = solutions {
        found.solve(file);
    }
    (found.tasks, found.errors)
}

/// Reads Kaggle's file of solutions, `*_solutions.json`; those that cannot be read are the errors.
pub fn read_solutions(file: &Path) -> (Solutions, Vec<InputError>) {
    let mut solutions = match read_file(file) {
        Ok(bytes) => Solutions::from_json(&bytes),
        Err(error) => return (Solutions::default(), vec![error]),
    };
    let errors = std::mem::take(&mut solutions.errors).into_iter();
    let errors = errors.map(|error| InputError::in_tasks(file, error));
    (solutions, errors.collect())
}

/// Reads a file of UTF-8 text. The bounds of [`read_tasks`] hold.
pub fn read_text(file: &Path) -> Result<String, InputError> {
    text(file, read_file(file)?)
}

/// What has been read so far.
#[derive(Default)]
struct Found {
    tasks: Vec<Task>,
    errors: Vec<InputError>,
    /// Where each id was read: the place of its task, and the file.
    read: HashMap<String, (usize, PathBuf)>,
    /// The places of tasks that came from challenges, to which solutions may belong.
    challenges: HashSet<usize>,
    /// The ids of challenges that could not be read.
    rejected: HashSet<String>,
    any_challenges: bool,
}

impl Found {
    fn read(&mut self, file: &Path) {
        let bytes = match read_file(file) {
            Ok(bytes) => bytes,
            Err(error) => return self.errors.push(error),
        };
        if Challenges::is_form_of(&bytes) {
            self.any_challenges = true;
            let Challenges { tasks, errors } = Challenges::from_json(&bytes);
            for error in errors {
                self.rejected.extend(error.task.clone());
                self.errors.push(InputError::in_tasks(file, error));
            }
            for task in tasks {
                let at = self.add(file, task);
                self.challenges.extend(at);
            }
        } else {
            let id = file.file_stem().unwrap_or_default().to_string_lossy();
            match Task::from_json(id, &bytes) {
                Ok(task) => drop(self.add(file, task)),
                Err(error) => self.errors.push(InputError::in_tasks(file, error)),
            }
        }
    }

    /// Adds a task, unless its id is taken; its place.
    fn add(&mut self, file: &Path, task: Task) -> Option<usize> {
        if let Some((at, other)) = self.read.get(&task.id) {
            if self.tasks[*at] == task {
                return Some(*at);
            }
            let message = format!(
                "task {} differs from the task of that id in {}, which is used",
                task.id,
                other.display(),
            );
            self.errors.push(InputError::whole(file, message));
            return None;
        }
        let at = self.tasks.len();
        self.read.insert(task.id.clone(), (at, file.to_owned()));
        self.tasks.push(task);
        Some(at)
    }

    fn solve(&mut self, file: &Path) {
        let (solutions, errors) = read_solutions(file);
        if !self.any_challenges {
            let message =
                "solutions without challenges: expected a file of tasks by id among the tasks";
            return self.errors.push(InputError::whole(file, message));
        }
        self.errors.extend(errors);
        let challenges = &self.challenges;
        let tasks = self.tasks.iter_mut().enumerate();
        let tasks = tasks
            .filter(|(at, _)| challenges.contains(at))
            .map(|(_, task)| task);
        let errors = solutions.apply(tasks, &self.rejected).into_iter();
        let errors = errors.map(|error| InputError::in_tasks(file, error));
        self.errors.extend(errors);
    }
}

/// The file itself, or the files of a folder that have this extension, by name.
fn files(path: &Path, extension: &str, what: &str) -> Result<Vec<PathBuf>, InputError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(path).and_then(Iterator::collect);
    let entries = entries.map_err(|error| unreadable(path, &error))?;
    let mut files: Vec<PathBuf> = entries
        .into_iter()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|e| e == extension) && !file.is_dir())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(InputError::whole(
            path,
            format!("no {what} (*.{extension}) in this folder"),
        ));
    }
    Ok(files)
}

pub(crate) fn read_file(file: &Path) -> Result<Vec<u8>, InputError> {
    let unreadable = |error| unreadable(file, &error);
    // Before it is opened: to open a pipe is to wait for who writes into it.
    let metadata = fs::metadata(file).map_err(unreadable)?;
    if !metadata.is_file() {
        let found = kind_of(metadata.file_type());
        return Err(InputError::whole(
            file,
            format!("expected a file, found {found}"),
        ));
    }
    let mut bytes = Vec::new();
    if metadata.len() <= MAX_FILE_BYTES {
        let reader = File::open(file).map_err(unreadable)?;
        // Whatever its size was, it may have grown.
        let mut reader = reader.take(MAX_FILE_BYTES + 1);
        let reserved = bytes.try_reserve_exact(metadata.len() as usize + 1);
        reserved.map_err(|_| unreadable(io::ErrorKind::OutOfMemory.into()))?;
        reader.read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 <= MAX_FILE_BYTES {
            return Ok(bytes);
        }
    }
    let size = metadata.len().max(bytes.len() as u64);
    let message = format!("file of {size} bytes: expected {MAX_FILE_BYTES} at most");
    Err(InputError::whole(file, message))
}

/// What it is that is no regular file.
fn kind_of(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    if kind.is_dir() {
        "a folder"
    } else {
        "something else"
    }
}

fn unreadable(file: &Path, error: &io::Error) -> InputError {
    match error.kind() {
        io::ErrorKind::NotFound => InputError::whole(file, "no such file or folder"),
        _ => InputError::whole(file, format!("cannot be read: {error}")),
    }
}

fn text(file: &Path, bytes: Vec<u8>) -> Result<String, InputError> {
    String::from_utf8(bytes).map_err(|error| {
        let bytes = error.as_bytes();
        let (before, rest) = bytes.split_at(error.utf8_error().valid_up_to());
        let mut lines = before.split(|&byte| byte == b'\n');
        let column = lines.next_back().map_or(0, <[u8]>::len) + 1;
        let line = lines.count() + 1;
        InputError::at(
            file,
            line,
            column,
            format!("not UTF-8 text: byte 0x{:02x}", rest[0]),
        )
    })
}
