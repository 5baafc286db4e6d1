//! Programs as text in JSON or JSONL, with the id of their task.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_dsl::Program;
use arc_tasks::{FileForm, FileProgram, says_nothing};
use arc_text::{ParseError, Reading, read_file};

use super::completions;
use super::entry::{Chosen, FreePython, Parsed, defines_programs, functions};
use super::foreign::{Candidate, Foreign};
use super::modules::{Modules, list_names};
use super::packed::{Content, archive_contains, contents};
use super::{
    InputError, ProgramsRead, Walk, is_archive, is_json, is_python, numbered, read_text, stem,
    task_file, unpacked,
};

/// The programs in JSON files, and the other files.
#[derive(Default)]
pub(super) struct ProgramsInJson {
    /// The texts of programs, with their files.
    texts: Vec<(PathBuf, FileProgram)>,
    pub(super) errors: Vec<InputError>,
    pub(super) notes: Vec<InputError>,
    /// Files that may contain programs in another form.
    pub(super) others: Vec<OtherFile>,
    /// The files that were read.
    files: HashSet<PathBuf>,
}

/// A file that may contain programs and is not JSON.
pub(super) enum OtherFile {
    /// A file in a folder, which is not read yet.
    Found(PathBuf),
    /// A file that was named on its own.
    Named(Content),
    /// A file in an archive.
    Packed(Content),
}

impl ProgramsInJson {
    /// Reads JSON files: those among the paths, and those in the folders and archives among them.
    pub(super) fn read(paths: &[PathBuf]) -> Self {
        let mut read = Self::default();
        for path in paths {
            if path.is_dir() {
                read.folder(path);
            } else if read.is_first(path) {
                read.file(path);
            }
        }
        read
    }

    fn folder(&mut self, folder: &Path) {
        let is_wanted = |name: &str| is_json(name) || is_python(name) || is_archive(name);
        let walk = Walk::through(folder, is_wanted);
        let before = self.texts.len();
        let mut has_any = false;
        let is_whole = walk.errors.is_empty();
        self.errors.extend(walk.errors);
        self.notes.extend(walk.notes);
        let defines = |file: &&PathBuf| read_text(file).is_ok_and(|text| defines_programs(&text));
        let texts = walk.texts.iter().filter(defines);
        let names: Vec<_> = texts
            .map(|file| file.strip_prefix(folder).unwrap_or(file).to_string_lossy())
            .collect();
        if let Some(names) = list_names(names.iter().map(|name| &**name)) {
            let message = format!(
                "passed over: {names}; of a folder only files with the endings of programs are read"
            );
            self.notes.push(InputError::whole(folder, message));
        }
        for file in walk.files {
            let name = file.to_string_lossy();
            if is_python(&name) {
                has_any = true;
                if self.is_first(&file) {
                    self.others.push(OtherFile::Found(file));
                }
            } else if is_archive(&name) {
                // Archives with only tasks are not unpacked here.
                if archive_contains(&file, is_python) {
                    has_any = true;
                    if self.is_first(&file) {
                        self.file(&file);
                    }
                }
            } else if self.is_first(&file) {
                match unpacked(&file) {
                    Ok(bytes) => self.json(&file, &bytes, false),
                    Err(error) if file.is_file() => self.notes.push(InputError {
                        message: format!("passed over: {}", error.message),
                        ..error
                    }),
                    // Reading the tasks reports it.
                    Err(_) => {}
                }
            } else {
                has_any = true;
            }
        }
        if is_whole && !has_any && self.texts.len() == before {
            let message =
                "no programs (*.py, or JSON with the keys `program` and `task_id`) in this folder";
            self.errors.push(InputError::whole(folder, message));
        }
    }

    /// Reads a file, or the files in an archive.
    fn file(&mut self, file: &Path) {
        let is_wanted = |name: &str| is_json(name) || is_python(name);
        contents(
            file,
            "files of programs (*.py, *.json)",
            is_wanted,
            |it| match it {
                Err(error) => self.errors.push(error),
                Ok(content) => {
                    let is_named = content.name == file;
                    let name = content.name.to_string_lossy();
                    // Without a known extension, the beginning decides.
                    if is_json(&name) || !is_python(&name) && begins_as_json(&content.bytes) {
                        self.json(&content.name, &content.bytes, is_named);
                    } else if is_named {
                        self.others.push(OtherFile::Named(content));
                    } else {
                        self.others.push(OtherFile::Packed(content));
                    }
                }
            },
        );
    }

    /// Whether a file is read for the first time; notes it otherwise.
    fn is_first(&mut self, file: &Path) -> bool {
        let place = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let is_first = self.files.insert(place);
        if !is_first {
            let message = "given a second time, read once";
            self.notes.push(InputError::whole(file, message));
        }
        is_first
    }

    /// Reads JSON, or lines of it.
    pub(super) fn json(&mut self, file: &Path, bytes: &[u8], is_named: bool) {
        let mut found = task_file(file, bytes);
        let told = (is_named || found.tasks.is_empty()).then(|| found.expect_programs());
        if !is_named && found.programs.is_empty() {
            // Reading the tasks reports their errors.
            let told = told.flatten();
            let is_keyless = told.is_none();
            match (found.form, told.or_else(|| found.errors.first().cloned())) {
                (FileForm::Foreign, _) if is_keyless => {
                    let message =
                        "passed over: no programs, which are the key `program` beside `task_id`";
                    self.notes.push(InputError::whole(file, message));
                }
                (FileForm::Foreign | FileForm::Other, Some(error)) if found.tasks.is_empty() => {
                    let mut note = InputError::in_tasks(file, error);
                    note.message = format!("passed over: {}", note.message);
                    self.notes.push(note);
                }
                _ => {}
            }
        }
        let has_none = is_named && found.programs.is_empty();
        let told = self.errors.len();
        if has_none || found.form == FileForm::Programs {
            let errors = found.errors.into_iter();
            self.errors
                .extend(errors.map(|error| InputError::in_tasks(file, error)));
        }
        if has_none {
            let message = match found.form {
                FileForm::Tasks => {
                    "no programs beside the tasks: expected the key `program` with the text of one"
                }
                _ => {
                    "no programs: expected the key `program` (or `code`, `solution`, `response`, ..) with the text of one, \
                      and `task_id`"
                }
            };
            // What is wrong with the rows is told.
            if self.errors.len() == told {
                self.errors.push(InputError::at(file, 1, 1, message));
            }
        }
        if let Some((first, count)) = found.without_program {
            let mut note = InputError::in_tasks(file, first);
            note.message = format!(
                "{count} texts in lists of programs hold none (no `def`, `lambda` or `O =`), the first of them here"
            );
            self.notes.push(note);
        }
        self.note_others(file, &found.programs);
        let programs = found.programs.into_iter();
        self.texts
            .extend(programs.map(|program| (file.to_owned(), program)));
    }

    /// Notes programs beside the ones that are read.
    fn note_others(&mut self, file: &Path, programs: &[FileProgram]) {
        let mut with_others = programs.iter().filter(|it| !it.others.is_empty());
        let Some(first) = with_others.next() else {
            return;
        };
        let key = first.key.as_deref().unwrap_or_default();
        let others = first.others.join("`, `");
        let more = match with_others.count() {
            0 => String::new(),
            more => format!("; the same for {more} more with several keys"),
        };
        let message =
            format!("programs under `{key}` and `{others}`: that under `{key}` is read{more}");
        let note = InputError::at(file, first.line, first.column, message);
        self.notes.push(note.about(first.path.clone()));
    }

    /// Parses the programs. Each is named after its task, with a number if the file has several for it.
    pub(super) fn parse(
        self,
        reading: &Reading,
        modules: &mut Modules,
        all: &mut ProgramsRead,
        foreign: &mut Foreign<'_>,
    ) {
        let mut counts = HashMap::new();
        let mut notes: BTreeMap<&Path, (InputError, usize)> = BTreeMap::new();
        for (file, text) in &self.texts {
            let count = counts.entry((file, &text.task)).or_default();
            let reading = Reading {
                beside: modules.beside(file, &text.text, reading),
                ..reading.clone()
            };
            if let Some(note) = parse(text, file, count, &reading, all, foreign) {
                notes.entry(file).or_insert((note, 0)).1 += 1;
            }
        }
        all.notes
            .extend(notes.into_values().map(|(mut note, count)| {
                if count > 1 {
                    let message = note.message;
                    let more = count - 1;
                    note.message =
                        format!("{message}; {more} more of the file's programs have such notes");
                }
                note
            }));
    }
}

/// Parses the programs in a text, and returns the first note about it; `count` is the number of earlier ones for the same
/// task.
fn parse(
    given: &FileProgram,
    file: &Path,
    count: &mut usize,
    reading: &Reading,
    all: &mut ProgramsRead,
    foreign: &mut Foreign<'_>,
) -> Option<InputError> {
    let FileProgram {
        task,
        text,
        line,
        column,
        path,
        ..
    } = given;
    let source: Arc<str> = file.to_string_lossy().into();
    let mut helpers = None;
    let mut notes = Vec::new();
    let (mut read, python) = if given.is_answer() {
        let answer = completions::answer(text, reading);
        let python = answer.python;
        let read = answer.of_dsl(foreign.has_pool());
        let read = read.map_or_else(|error| error.map(Err), |program| Some(Ok(program)));
        (read.into_iter().collect(), python)
    } else {
        let mut parsed = read_file(text, reading, |_| format!("solve_{task}"));
        notes = std::mem::take(&mut parsed.notes);
        let has_table = parsed.has_table;
        let functions = functions(parsed, &text.as_str().into());
        let chosen = Chosen::of(functions, task, has_table);
        helpers = chosen.helpers_note();
        let python = chosen.python;
        (foreign.counting(chosen), python)
    };
    let is_asked = foreign.is_asked(file, text, python, true);
    if read.len() > 1 {
        // Other functions are other programs.
        let is_own = |it: &Parsed| it.as_ref().is_ok_and(|it| it.task_id() == task);
        if read.iter().any(is_own) {
            read.retain(|it| it.is_err() || is_own(it));
        }
    }
    let error = |message: String| InputError::at(file, *line, *column, message).about(path.clone());
    let within = |found: &ParseError| {
        let ParseError {
            line, column, kind, ..
        } = found;
        error(format!(
            "line {line}, column {column} of the program: {kind}"
        ))
    };
    let is_nameless = |it: &Parsed| it.as_ref().is_ok_and(|it| says_nothing(it.name()));
    let lacks_id = !given.is_said && *task != stem(file) && read.iter().any(is_nameless);
    let note = notes.first().map(within);
    let note = note.or_else(|| helpers.map(error)).or_else(|| {
        lacks_id.then(|| {
            error("no id of a task beside this program: expected the key `task_id`".to_owned())
        })
    });
    let first = *count;
    let mut next_name = || {
        *count += 1;
        format!("{}_{task}", numbered("solve", *count))
    };
    let mut dsl = ProgramsRead::default();
    if read.is_empty() {
        dsl.errors.push(error("no program in this text".to_owned()));
    }
    for program in read {
        match program {
            Ok(program) => {
                // Where the file says no id, the text may.
                let keeps = !given.is_said && !says_nothing(program.name());
                let name = if keeps {
                    program.name().to_owned()
                } else {
                    next_name()
                };
                let program = program.with_name(name);
                dsl.programs.push(program.with_source(Arc::clone(&source)));
            }
            Err(found) => dsl.errors.push(within(&found)),
        }
    }
    if !is_asked {
        all.append(dsl);
        return note;
    }
    // It is one program, whatever it is.
    *count = (*count).max(first + 1);
    let code = if given.is_answer() {
        completions::code(text)
    } else {
        vec![vec![(0, text.clone())]]
    };
    let name = format!("{}_{task}", numbered("solve", first + 1));
    dsl.notes.extend(note);
    foreign.candidates.push(Candidate {
        at: all.programs.len(),
        program: Program::in_python(name, code).with_source(source),
        otherwise: Some(dsl),
        reason: (python >= FreePython::Maybe).then(|| error(String::new())),
    });
    None
}

/// Whether a text begins with a list or an object, which no program does.
fn begins_as_json(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    text.trim_ascii_start().starts_with(b"{") || text.trim_ascii_start().starts_with(b"[")
}
