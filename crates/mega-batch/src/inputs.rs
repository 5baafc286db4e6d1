//! Reads tasks and programs from files: everything that is readable, with an [`InputError`] for everything else.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use arc_dsl::Program;
pub(crate) use arc_tasks::is_arc_id;
use arc_tasks::{TaskError, TaskFile, says_no_task, utf8};
use arc_text::ParseError;
use python_pool::Failure;
use serde::{Serialize, Serializer};
use walkdir::WalkDir;

use crate::files::{is_descriptor, is_standard_input};
use crate::results::escape::escaped;

pub mod completions;
mod entry;
mod foreign;
mod json_programs;
mod merge;
mod modules;
mod packed;
mod programs;
#[cfg(feature = "tables")]
mod tables;
mod tasks;

use packed::ArchiveListing;
pub(crate) use packed::unpacked;
pub use programs::{
    read_batts, read_program_rows, read_programs, read_programs_with_python, read_renames,
};
pub use tasks::{TaskSource, TasksRead, read_solutions, read_sources, read_tasks};

/// The maximum size of a file of tasks or programs: 1 GiB, ten times the public data in one file.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// An error in an input file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct InputError {
    /// The file or folder, as it was given or found.
    #[serde(serialize_with = "lossily")]
    pub file: PathBuf,
    /// The line, counted from 1, if the error has a position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The JSON path to the value, as `train[0].input[2]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was expected and what was found.
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

    /// An error at this line and column, both counted from 1.
    pub fn at(file: &Path, line: usize, column: usize, message: impl Into<String>) -> Self {
        let (line, column) = (Some(line), Some(column));
        Self {
            line,
            column,
            ..Self::whole(file, message)
        }
    }

    /// Sets the JSON path of the error.
    pub(crate) fn about(self, path: impl Into<String>) -> Self {
        let path = Some(path.into());
        Self { path, ..self }
    }

    /// An error of a text, at a line of the same file or, if that has several texts, of the text.
    fn because(self, failure: &Failure) -> Self {
        match &self.path {
            None => Self {
                line: Some(failure.line.max(1) as usize),
                message: failure.message.clone(),
                ..self
            },
            Some(_) => Self {
                message: format!("line {} of the program: {}", failure.line, failure.message),
                ..self
            },
        }
    }

    fn in_program(file: &Path, error: &ParseError) -> Self {
        let (line, column) = (error.line as usize, error.column as usize);
        Self::at(file, line, column, error.kind.to_string())
    }

    pub(crate) fn in_tasks(file: &Path, error: TaskError) -> Self {
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

/// A path as text, even if it is not valid UTF-8.
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
        // The path of what is the whole of a line is empty.
        if let Some(path) = self.path.as_deref().filter(|path| !path.is_empty()) {
            write!(f, " {}:", escaped(path))?;
        }
        write!(f, " {}", escaped(&self.message))
    }
}

impl std::error::Error for InputError {}

/// A name for the program of this number, counted from 1, of several that have none of their own.
pub fn numbered(name: &str, number: usize) -> String {
    match number {
        1 => name.to_owned(),
        _ => format!("{name}{number}"),
    }
}

/// Reads a file of UTF-8 text, plain or compressed. The size limits of [`read_tasks`] hold.
pub fn read_text(file: &Path) -> Result<String, InputError> {
    text(file, &unpacked(file)?)
}

/// The files in a folder whose names are wanted; none of them is an error.
fn files(folder: &Path, is_wanted: impl Fn(&str) -> bool, what: &str) -> Walk {
    let mut walk = Walk::through(folder, is_wanted);
    if walk.files.is_empty() && walk.errors.is_empty() {
        let message = format!("no {what} in this folder");
        walk.errors.push(InputError::whole(folder, message));
    }
    walk
}

/// The JSON files in a folder.
pub(crate) fn json_files(folder: &Path) -> Walk {
    let is_wanted = |name: &str| is_json(name) && !ends_with_one(name, &TABLE_EXTENSIONS);
    files(folder, is_wanted, "files of attempts (*.json)")
}

/// What is wrong with most files that cannot be unpacked.
const DAMAGED: &str = "it is damaged or incomplete";

/// The extensions of compressed files.
const PACKED_EXTENSIONS: [&str; 4] = [".gz", ".xz", ".zst", ".bz2"];

/// The extensions of JSON files, without those of compressed ones.
const JSON_EXTENSIONS: [&str; 4] = [".json", ".jsonl", ".ndjson", ".jsonlines"];

/// The extensions of tables, whose rows are read as lines of JSON.
const TABLE_EXTENSIONS: [&str; 9] = [
    ".parquet", ".parq", ".pq", ".pqt", ".arrow", ".arrows", ".ipc", ".feather", ".ft",
];

/// Whether a file in a folder or an archive counts as JSON, by its name.
fn is_json(name: &str) -> bool {
    ends_with_one(name, &JSON_EXTENSIONS)
        || cfg!(feature = "tables") && ends_with_one(name, &TABLE_EXTENSIONS)
}

/// What a file of JSON, or a table as lines of JSON, holds.
fn task_file(file: &Path, json: &[u8]) -> TaskFile {
    let name = file.to_string_lossy();
    if ends_with_one(&name, &JSON_EXTENSIONS[1..]) || ends_with_one(&name, &TABLE_EXTENSIONS) {
        TaskFile::read_rows(&stem(file), json)
    } else {
        TaskFile::read(&stem(file), json)
    }
}

/// Whether a file in a folder or an archive counts as Python, by its name: a module or a notebook.
fn is_python(name: &str) -> bool {
    ends_with_one(name, &[".py", ".pyw", NOTEBOOK])
}

/// The extension of notebooks.
const NOTEBOOK: &str = ".ipynb";

/// Whether the name is that of an archive that is read: zip, or tar in any compression.
fn is_archive(name: &str) -> bool {
    const ARCHIVES: [&str; 7] = [".zip", ".tar", ".tgz", ".txz", ".tzst", ".tbz2", ".tbz"];
    ends_with_one(name, &ARCHIVES)
}

/// Whether the name is that of an archive that is not read.
fn is_other_archive(name: &str) -> bool {
    ends_with_one(name, &[".7z", ".rar", ".lzma", ".lz4", ".lz", ".z", ".br"])
}

/// Whether the name is that of data in a form that is not read.
fn is_other_data(name: &str) -> bool {
    const DATA: &str = ".avro .bson .cbor .csv .db .dill .duckdb .h5 .hdf5 .ipynb .joblib .jsonc .json5 .lance .mat \
         .msgpack .npy .npz .orc .pickle .pkl .pt .pth .rds .safetensors .sqlite .sqlite3 .tfrecord .tsv .xls \
         .xlsx .xml .yaml .yml";
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let mut endings = DATA.split(' ').chain(TABLE_EXTENSIONS);
    endings.any(|ending| ends_with_one(&name, &[ending]))
        || is_arc_id(&name)
        || name.contains(".json.")
        || without_packing(&name).len() < name.len() && !is_python(&name)
}

/// Whether a file begins as JSON does.
fn begins_as_json(file: &Path) -> bool {
    let mut begin = Vec::new();
    let read = File::open(file).and_then(|file| file.take(64).read_to_end(&mut begin));
    read.is_ok() && matches!(begin.trim_ascii_start(), [b'{' | b'[', ..])
}

/// What a file of text is, by its name, if it is in a form that is not read.
pub(crate) fn other_text(file: &Path) -> Option<&'static str> {
    match file
        .extension()?
        .to_string_lossy()
        .to_ascii_lowercase()
        .as_str()
    {
        "csv" => Some("a CSV file"),
        "tsv" => Some("a table with tabs"),
        "yaml" | "yml" => Some("a YAML file"),
        "pkl" | "pickle" => Some("a pickle of Python"),
        _ => None,
    }
}

fn ends_with_one(name: &str, endings: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    let name = without_packing(&name);
    endings.iter().any(|ending| name.ends_with(ending))
}

/// The name without the extension of a compressed file.
fn without_packing(name: &str) -> &str {
    let packed = PACKED_EXTENSIONS.iter();
    let mut plain = packed.filter_map(|extension| name.strip_suffix(extension));
    plain.next().unwrap_or(name)
}

/// The name of a file without its extension.
pub(crate) fn stem(file: &Path) -> String {
    if is_standard_input(file) {
        return "stdin".to_owned();
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = Path::new(without_packing(&name))
        .file_stem()
        .unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The name of the folder of a file whose own name is that of files of any task, as in `ID/task.json` and
/// `ID/solution.py`. `is_found` says that the folder was found, not named; otherwise it has to be an id of the ARC data.
fn id_of_folder(file: &Path, is_found: bool) -> Option<String> {
    let name = file.parent()?.file_name()?.to_string_lossy().into_owned();
    let is_id = is_arc_id(&name) || is_found && !says_no_task(&name) && !is_archive(&name);
    (is_id && says_no_task(&stem(file))).then_some(name)
}

/// The contents of a folder and its subfolders.
#[derive(Default)]
pub(crate) struct Walk {
    /// The wanted files, sorted by name within each folder.
    pub(crate) files: Vec<PathBuf>,
    /// Notes on what is skipped: links to folders, which are not followed so that the walk ends, archives, and data in
    /// other forms.
    pub(crate) notes: Vec<InputError>,
    pub(crate) errors: Vec<InputError>,
    /// Files of text in no form, which may hold anything.
    texts: Vec<PathBuf>,
}

impl Walk {
    /// Walks through a folder. Skips hidden files, and those that systems and notebooks leave behind.
    fn through(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Self {
        let mut walk = Self::default();
        let (mut archives, mut others) = (Vec::new(), Vec::new());
        let mut listed = ArchiveListing::default();
        let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
        let is_seen = |entry: &walkdir::DirEntry| {
            entry.depth() == 0 || !is_ignored(&entry.file_name().to_string_lossy())
        };
        for entry in entries.filter_entry(is_seen) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let place = error.path().unwrap_or(folder).to_owned();
                    let error = error
                        .into_io_error()
                        .unwrap_or_else(|| io::Error::other("a loop of links"));
                    walk.errors.push(unreadable(&place, &error));
                    continue;
                }
            };
            let is_link = entry.path_is_symlink() && entry.depth() > 0;
            let is_folder = if is_link {
                entry.path().is_dir()
            } else {
                entry.file_type().is_dir()
            };
            if is_folder {
                if is_link {
                    let message = "a link to a folder: not followed";
                    walk.notes.push(InputError::whole(entry.path(), message));
                }
                continue;
            }
            let name = entry.file_name().to_string_lossy();
            if is_wanted(&name) {
                if is_archive(&name) {
                    listed.add(entry.path(), |name| !is_archive(name) && is_wanted(name));
                }
                walk.files.push(entry.into_path());
            } else if is_archive(&name) || is_other_archive(&name) {
                archives.push(entry.into_path());
            } else if is_other_data(&name)
                || ends_with_one(&name, &[".txt"]) && begins_as_json(entry.path())
            {
                let name = entry.path().strip_prefix(folder).unwrap_or(entry.path());
                others.push(name.to_string_lossy().into_owned());
            } else if ends_with_one(&name, &[".txt", ".md"]) {
                walk.texts.push(entry.into_path());
            }
        }
        if let [first, more @ ..] = archives.as_slice() {
            let message = match more.len() {
                0 => "an archive that is not read here: it has to be unpacked first".to_owned(),
                more => format!(
                    "this archive and {more} more in the folder are not read here: they have to be unpacked first"
                ),
            };
            walk.notes.push(InputError::whole(first, message));
        }
        walk.notes.extend(note_others(folder, &others));
        walk.notes.extend(listed.notes);
        walk.errors.extend(listed.errors);
        walk
    }
}

/// A note on files of data in a folder or an archive that are not read, with one of each kind.
fn note_others(place: &Path, files: &[String]) -> Option<InputError> {
    let mut by_kind = BTreeMap::new();
    for file in files {
        by_kind
            .entry(Path::new(file).extension())
            .or_insert(&**file);
    }
    let told: Vec<_> = by_kind.into_values().collect();
    let count = match files.len() {
        0 => return None,
        1 => "a file".to_owned(),
        count => format!("{count} files"),
    };
    let more = match files.len() - told.len() {
        0 => String::new(),
        more => format!(" and {more} more of these kinds"),
    };
    let message = format!(
        "{count} of data in a form that is not read: {}{more}",
        told.join(", ")
    );
    Some(InputError::whole(place, message))
}

/// Whether a file or folder with this name is not user data: hidden ones, including `._*`, and the extra folder in
/// archives from macOS.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') && !matches!(name, "." | "..") || name == "__MACOSX"
}

pub(crate) fn read_file(file: &Path) -> Result<Vec<u8>, InputError> {
    let unreadable = |error| unreadable(file, &error);
    if is_standard_input(file) {
        return read_open(file, io::stdin().lock(), 0);
    }
    // Before opening: opening a pipe would wait for its writer.
    let metadata = fs::metadata(file).map_err(unreadable)?;
    if is_descriptor(file) && !metadata.is_file() && !metadata.is_dir() {
        return read_open(file, File::open(file).map_err(unreadable)?, 0);
    }
    if !metadata.is_file() {
        let found = file_kind(metadata.file_type());
        return Err(InputError::whole(
            file,
            format!("expected a file, found {found}"),
        ));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(too_large(file, metadata.len()));
    }
    let reader = File::open(file).map_err(unreadable)?;
    read_open(file, reader, metadata.len() as usize)
}

/// Reads an open file, which may have grown since it had this many bytes, to its end.
fn read_open(file: &Path, reader: impl Read, size: usize) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let reserved = bytes.try_reserve_exact(size + 1);
    let reserved = reserved.map_err(|_| io::ErrorKind::OutOfMemory.into());
    let read = reserved.and_then(|()| reader.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(unreadable(file, &error)),
        Ok(read) if read as u64 > MAX_FILE_BYTES => Err(too_large(file, read as u64)),
        Ok(_) => Ok(bytes),
    }
}

fn too_large(file: &Path, size: u64) -> InputError {
    let message = format!("file of {size} bytes: expected {MAX_FILE_BYTES} at most");
    InputError::whole(file, message)
}

/// The kind of a file that is not a regular one.
fn file_kind(kind: FileType) -> &'static str {
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

fn text(file: &Path, bytes: &[u8]) -> Result<String, InputError> {
    let text = utf8(bytes).map_err(|error| InputError::in_tasks(file, error))?;
    Ok(text.to_owned())
}

/// The programs read from files.
#[derive(Debug, Clone, Default)]
pub struct ProgramsRead {
    /// The programs, file by file.
    pub programs: Vec<Program>,
    /// The errors.
    pub errors: Vec<InputError>,
    /// What is odd but not an error: parts of files that belong to no program.
    pub notes: Vec<InputError>,
    /// Names that the DSL does not have, with the files that use them.
    unknown: Vec<(PathBuf, String)>,
}
