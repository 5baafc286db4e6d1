//! Reads programs and batts from files.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_dsl::{
    BattFile, Beside, ParseError, ParseErrorKind, Reading, Renames, imported_modules, package_of,
    parse_batt, read_file, says_nothing, says_program,
};

use super::json_programs::{OtherFile, ProgramsInJson};
use super::packed::{ArchiveListing, Content, contents};
use super::{
    InputError, ProgramsRead, files, id_of_folder, is_json, is_python, read_text, stem, text,
};

/// The modules of the DSL, which contain no programs. If the first two lie beside programs, Python takes names from
/// them.
const DSL_MODULES: &[&str] = &["dsl.py", "constants.py", "arc_types.py"];
const NAME_MODULES: &[&str] = DSL_MODULES.split_at(2).0;

/// Reads programs from `*.py` files and folders of them, in the order of names. Each has the file as its
/// [source](arc_dsl::Program::source). The text of a program may also be in a JSON or JSONL file, with the id of its
/// task. A file may consist of the lines of one program that end in `O = ..`. Such a program, and one whose name does
/// not identify a task, like `p` or `solve`, is named after its file: `solve_ID`, where `ID` is the part of the
/// file's name behind the last `_`. A file in a folder without programs is noted. The size limits of
/// [`read_tasks`](super::read_tasks) hold.
pub fn read_programs(paths: &[PathBuf], reading: &Reading) -> ProgramsRead {
    let mut in_json = ProgramsInJson::read(paths);
    let others = std::mem::take(&mut in_json.others);
    let mut read = ProgramsRead {
        errors: std::mem::take(&mut in_json.errors),
        notes: std::mem::take(&mut in_json.notes),
        ..ProgramsRead::default()
    };
    let mut modules = Modules::among(&others);
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
                if !read.file(&text, &reading) {
                    empty.push(text.file);
                }
            }
            Err(error) => read.errors.push(error),
        }
    }
    read.notes.append(&mut in_json.notes);
    in_json.parse(reading, &mut read);
    read.note_empty(&empty);
    read.notes.extend(modules.notes());
    read.note_unknown();
    let listed = ArchiveListing::of_named(paths, |name| is_json(name) || is_python(name));
    read.errors.extend(listed.errors);
    read.notes.extend(listed.notes);
    read
}

/// The modules beside files of programs, from which Python would import names.
struct Modules {
    /// By the folder of the programs and the modules that they import.
    known: BTreeMap<(PathBuf, Vec<String>), Option<Arc<Beside>>>,
    /// The texts of modules, by file; `None` for what is no readable file.
    texts: HashMap<PathBuf, Option<Arc<str>>>,
}

impl Modules {
    /// Keeps the texts of modules in archives, which are not read again.
    fn among(files: &[OtherFile]) -> Self {
        let packed = || {
            files.iter().filter_map(|file| match file {
                OtherFile::Packed(content) => Some(content),
                _ => None,
            })
        };
        let own = NAME_MODULES.iter().map(|name| stem(Path::new(name)));
        let mut wanted: HashSet<String> = own.collect();
        for content in packed() {
            let text = String::from_utf8_lossy(&content.bytes);
            for path in imported_modules("", &text) {
                wanted.extend(path.split('.').map(ToOwned::to_owned));
            }
        }
        let is_wanted = |file: &Path| {
            let is_package = file.ends_with("__init__.py");
            is_package || wanted.contains(&*stem(file))
        };
        let texts = packed().filter(|content| is_wanted(&content.name));
        let texts = texts.map(|Content { name, bytes }| {
            let text = text(name, bytes.clone()).ok();
            (name.clone(), text.map(Into::into))
        });
        Self {
            known: BTreeMap::new(),
            texts: texts.collect(),
        }
    }

    /// The modules that Python would import beside a file; `None` if the user passes the names of a fork.
    fn beside(&mut self, file: &Path, text: &str, reading: &Reading) -> Option<Arc<Beside>> {
        let is_one = NAME_MODULES.iter().any(|name| file.ends_with(name));
        if reading.names != Renames::default() || is_one {
            return None;
        }
        let folder = file.parent().unwrap_or(file);
        let mut imported = imported_modules("", text);
        // Names that a text does not import are the DSL's.
        imported.extend(["dsl", "constants"].map(str::to_owned));
        let key = (folder.to_owned(), imported);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let mut found: BTreeMap<String, (String, Arc<str>)> = BTreeMap::new();
        let mut paths = key.1.clone();
        while let Some(path) = paths.pop() {
            if !found.contains_key(&path)
                && let Some((module, text)) = self.module(folder, &path)
                && module != file
            {
                let module = module.to_string_lossy().into_owned();
                paths.extend(imported_modules(package_of(&path, &module), &text));
                found.insert(path, (module, text));
            }
        }
        let modules = found.iter();
        let modules = modules.map(|(path, (file, text))| (&**path, &**file, &**text));
        let beside = (!found.is_empty()).then(|| Arc::new(Beside::of(modules)));
        self.known.insert(key, beside.clone());
        beside
    }

    /// The file and the text of the module that programs in this folder import as `path`.
    fn module(&mut self, folder: &Path, path: &str) -> Option<(PathBuf, Arc<str>)> {
        let name = path.trim_start_matches('.');
        let up = (path.len() - name.len()).saturating_sub(1);
        let folder = folder.ancestors().nth(up)?;
        let inner: PathBuf = name.split('.').collect();
        let mut folders = vec![folder];
        // Python may be run above the package that the folder is a part of.
        let first = name.split('.').next()?;
        let packages = folder.ancestors();
        let packages = packages.filter(|it| it.file_name().is_some_and(|it| it == first));
        folders.extend(packages.filter_map(Path::parent));
        let mut files: Vec<_> = folders
            .iter()
            .flat_map(|it| {
                let module = it.join(&inner);
                [module.with_extension("py"), module.join("__init__.py")]
            })
            .collect();
        // The DSL's modules may lie beside what imports them from a package.
        let last = Path::new(inner.file_name()?).with_extension("py");
        if NAME_MODULES.iter().any(|name| last == Path::new(name)) {
            files.push(folder.join(last));
        }
        files.into_iter().find_map(|file| {
            let text = self.texts.entry(file.clone()).or_insert_with(|| {
                let text = file.is_file().then(|| read_text(&file).ok());
                text.flatten().map(Into::into)
            });
            Some((file, text.clone()?))
        })
    }

    /// Notes functions that differ from the DSL's, which are used instead.
    fn notes(&self) -> Vec<InputError> {
        let modules = self.known.values().flatten();
        let modules = modules.flat_map(|beside| beside.rewritten());
        let modules: BTreeMap<_, _> = modules.collect();
        let notes = modules.into_iter().filter_map(|(file, names)| {
            let names = list_names(names.iter().map(String::as_str))?;
            let message =
                format!("functions other than the DSL's own, which are used instead: {names}");
            Some(InputError::whole(Path::new(file), message))
        });
        notes.collect()
    }
}

/// Lists the first of many names; `None` if there are none.
fn list_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> Option<String> {
    let count = names.len();
    let mut told: Vec<_> = names
        .take(MAX_NAMES)
        .map(|name| format!("`{name}`"))
        .collect();
    if let Some(more @ 1..) = count.checked_sub(MAX_NAMES) {
        told.push(format!("{more} more"));
    }
    (count > 0).then(|| told.join(", "))
}

/// How many names a note lists.
const MAX_NAMES: usize = 10;

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
    ) -> bool {
        let id = id_of(file, !is_named);
        let parsed = read_file(text, reading, |number| match number {
            1 => format!("solve_{id}"),
            _ => format!("solve{number}_{id}"),
        });
        let is_bare = !parsed.programs.is_empty() && parsed.is_bare;
        let source: Arc<str> = file.to_string_lossy().into();
        let (before, mut errors, mut unknown) = (self.programs.len(), Vec::new(), Vec::new());
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
                Err(error) => {
                    if let Some(name) = unknown_name(&error) {
                        unknown.push((file.clone(), name.to_owned()));
                    }
                    errors.push(InputError::in_program(file, &error));
                }
            }
        }
        let has_programs = self.programs.len() > before;
        // A file that was not named and defines no function that looks like a program may fail to parse without an
        // error.
        let is_meant = *is_named || (!errors.is_empty() && defines_programs(text));
        if !has_programs && !is_meant {
            return false;
        }
        if !has_programs && errors.is_empty() {
            errors.push(InputError::whole(
                file,
                "no program: expected `def NAME(I):`, or lines that end in `O = ..`",
            ));
        }
        let notes = parsed.notes.iter();
        self.notes
            .extend(notes.map(|note| InputError::in_program(file, note)));
        self.errors.append(&mut errors);
        self.unknown.append(&mut unknown);
        true
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
    let is_batt = |name: &str| is_python(name) && !is_companion(Path::new(name));
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
            | OtherFile::Packed(Content { name, bytes }) => (text(&name, bytes)?, name),
        };
        Ok(Self {
            file,
            text,
            is_named,
        })
    }
}

/// The name that is unknown to the DSL, if that is the error.
fn unknown_name(error: &ParseError) -> Option<&str> {
    match &error.kind {
        ParseErrorKind::UnknownPrimitive { name, .. }
        | ParseErrorKind::UnknownName { name, .. } => Some(name),
        _ => None,
    }
}

/// Whether the text defines a function whose name looks like a program, or contains lines of a program.
fn defines_programs(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| {
        let name = line
            .strip_prefix("def ")
            .and_then(|rest| rest.split('(').next());
        name.is_some_and(|name| says_program(name.trim()))
            || line.starts_with("O =")
            || line.starts_with("O=")
            || (!line.starts_with(char::is_whitespace) && line.contains("(I"))
    })
}

/// The task id in the name of a file of programs, for naming them: the part behind the last `_`.
fn id_of(file: &Path, is_found: bool) -> String {
    let name = id_of_folder(file, is_found).unwrap_or_else(|| stem(file));
    let id = name.rsplit_once('_').map_or(&*name, |(_, id)| id);
    id.to_owned()
}

/// Whether the file contains the calls that belong to a batt.
fn is_companion(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with("_call.py")
}
