//! Reads tasks and solutions from files and folders, and merges what several of them contain.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use arc_dsl::Grid;
use arc_tasks::{
    FileForm, FileTask, MAX_SIDE, OtherSplit, Pair, Solutions, Task, TaskFile, bare_id, is_arc_id,
    whole_folder,
};
use xxhash_rust::xxh3::Xxh3;

use super::merge::{Difference, TestIndices, join, leave_places, merge, test_indices};
use super::packed::{ArchiveListing, Content, contents};
use super::{
    InputError, JSON_EXTENSIONS, TABLE_EXTENSIONS, Walk, id_of_folder, is_archive, is_json, stem,
    task_file,
};
use crate::results::score::digest;

/// The split for pairs in a bare list, if their task is also in another file.
const BARE: &str = "pairs";

/// The tasks read from files.
#[derive(Debug, Clone, Default)]
pub struct TasksRead {
    /// The tasks, in the order of their first occurrence.
    pub tasks: Vec<Task>,
    /// The errors.
    pub errors: Vec<InputError>,
    /// What is odd but not an error: files that are skipped, tasks that occur twice.
    pub notes: Vec<InputError>,
    /// The files that contain programs beside tasks.
    pub with_programs: Vec<PathBuf>,
}

impl TasksRead {
    /// Keeps only the tasks with these ids; missing ones are errors, attributed to the file `named`.
    pub fn choose(&mut self, ids: &[String], named: &Path) {
        // Several tasks of one name are meant by it, too.
        let names = |task: &Task| {
            let (_, name) = task.id.rsplit_once('/').unwrap_or(("", &task.id));
            [task.id.clone(), name.to_owned()]
        };
        let known: HashSet<_> = self.tasks.iter().flat_map(names).collect();
        let wanted = ids.iter().map(|id| match bare_id(id) {
            bare if !known.contains(id) && known.contains(bare) => bare,
            _ => id,
        });
        let wanted: HashSet<_> = wanted.collect();
        let is_wanted = |task: &Task| names(task).iter().any(|name| wanted.contains(&**name));
        self.tasks.retain(is_wanted);
        let found: HashSet<_> = self.tasks.iter().flat_map(names).collect();
        let is_missing = |id: &&str| !found.contains(*id);
        let mut missing: Vec<_> = wanted.iter().copied().filter(is_missing).collect();
        missing.sort_unstable();
        let errors = missing.into_iter().map(|id| InputError {
            path: Some(id.to_owned()),
            ..InputError::whole(named, "no task of this id among the tasks")
        });
        self.errors.extend(errors);
    }
}

/// Reads tasks from files and folders, in the layouts that `docs/formats.md` lists.
///
/// Folders are searched recursively, in the order of names. Files in a folder that are not tasks are skipped with a
/// note; solutions in it, or among the paths, are applied to the tasks. A named file that contains something else is
/// an error; a file that is named twice is read once. `solutions` are further files of solutions. If several files
/// describe a task, their contents are merged. Anything but a regular file, such as a pipe or a device, is refused,
/// and so is a file of more than [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
pub fn read_tasks(paths: &[PathBuf], solutions: &[PathBuf]) -> TasksRead {
    read_sources(paths.iter().cloned().map(TaskSource::Path), solutions)
}

/// Where tasks come from.
#[derive(Debug, Clone)]
pub enum TaskSource {
    /// A file or a folder.
    Path(PathBuf),
    /// The text of a file, with its name.
    Text(PathBuf, Vec<u8>),
    /// A task as it is, which is merged with no other.
    Task(Task),
}

/// Reads tasks as [`read_tasks`] does, of which some need not be in files.
pub fn read_sources(
    sources: impl IntoIterator<Item = TaskSource>,
    solutions: &[PathBuf],
) -> TasksRead {
    let mut found = TaskReader::default();
    let (mut seen, mut once) = (HashSet::new(), Vec::new());
    for source in sources {
        let path = match source {
            TaskSource::Path(path) => path,
            TaskSource::Text(name, bytes) => {
                let root = name.clone();
                found.content(&Content { name, bytes }, &root, true);
                continue;
            }
            TaskSource::Task(task) => {
                found.read.tasks.push(task);
                continue;
            }
        };
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            let message = "given a second time, read once";
            found.read.notes.push(InputError::whole(&path, message));
            continue;
        }
        if path.is_dir() {
            found.folder(&path);
        } else {
            found.file(&path, &path, true);
        }
        once.push(path);
    }
    let listed = ArchiveListing::of_named(&once, is_json);
    found.read.errors.extend(listed.errors);
    found.read.notes.extend(listed.notes);
    for file in solutions {
        let (solutions, errors) = read_solutions(file);
        found.read.errors.extend(errors);
        found.solutions.push((file.clone(), solutions));
    }
    found.finish()
}

/// Reads a file of solutions, like Kaggle's `*_solutions.json`, with errors for those that cannot be read.
pub fn read_solutions(file: &Path) -> (Solutions, Vec<InputError>) {
    let (mut solutions, mut errors) = (Solutions::default(), Vec::new());
    contents(file, "solutions (*.json)", is_json, |content| {
        let Content { name, bytes } = match content {
            Ok(content) => content,
            Err(error) => return errors.push(error),
        };
        let mut read = TaskFile::read(&stem(&name), &bytes);
        if read.form == FileForm::Solutions {
            let found = read.solutions.errors.drain(..);
            errors.extend(found.map(|error| InputError::in_tasks(&name, error)));
            solutions.solutions.append(&mut read.solutions.solutions);
            return;
        }
        let found = match read.form {
            FileForm::Tasks => "tasks",
            FileForm::Submission => "a submission: attempts by task",
            _ => {
                let mut found = Solutions::from_json(&bytes);
                if !found.errors.is_empty() || !found.solutions.is_empty() {
                    solutions.solutions.append(&mut found.solutions);
                    let found = found.errors.into_iter();
                    return errors.extend(found.map(|it| InputError::in_tasks(&name, it)));
                }
                "none"
            }
        };
        let message = format!(
            "expected solutions: an object that holds a list of grids for each id, found {found}"
        );
        errors.push(InputError::at(&name, 1, 1, message));
    });
    (solutions, errors)
}

/// The state of reading tasks.
#[derive(Default)]
struct TaskReader {
    read: TasksRead,
    /// The origins of each id: of one task, or of several that have their names from files of the same name.
    by_id: HashMap<String, Vec<Origin>>,
    /// Solutions, with their files.
    solutions: Vec<(PathBuf, Solutions)>,
    /// The ids of tasks that could not be read.
    rejected: HashSet<String>,
    /// Files in folders that contain no tasks.
    passed_over: Vec<InputError>,
    /// The files of bare lists that were added to tasks.
    bare_lists: Vec<PathBuf>,
    /// Tasks whose pairs are in another order in another file, with that file.
    reordered: Vec<(String, PathBuf)>,
}

/// The origin of a task.
struct Origin {
    /// Its index among the tasks.
    at: usize,
    file: PathBuf,
    /// Whether it has its name from the file, as other tasks may.
    is_named_by_file: bool,
    is_bare: bool,
    /// The numbers of its test inputs, if it is a row or put together of rows.
    row: Option<TestIndices>,
    /// Whether it is put together of rows.
    is_joined: bool,
}

impl TaskReader {
    fn folder(&mut self, folder: &Path) {
        let walk = Walk::through(folder, |name| is_json(name) || is_archive(name));
        if walk.files.is_empty() && walk.errors.is_empty() {
            let tables = TABLE_EXTENSIONS.iter().filter(|_| cfg!(feature = "tables"));
            let endings = JSON_EXTENSIONS.iter().chain(tables);
            let endings: Vec<_> = endings.map(|ending| format!("*{ending}, ")).collect();
            let endings = endings.concat();
            let message = format!(
                "no task files ({endings}these with .gz, .xz, .zst, .bz2, *.zip, *.tar) in this folder"
            );
            self.read.errors.push(InputError::whole(folder, message));
        }
        for file in &walk.files {
            self.file(file, folder, false);
        }
        self.read.errors.extend(walk.errors);
        self.read.notes.extend(walk.notes);
    }

    fn file(&mut self, file: &Path, root: &Path, is_named: bool) {
        contents(file, "task files", is_json, |content| match content {
            // A file in an archive was not named itself.
            Ok(content) => {
                let root = if content.name == file { root } else { file };
                self.content(&content, root, is_named && content.name == file);
            }
            Err(error) => self.read.errors.push(error),
        });
    }

    /// Reads a file below `root`, which is the folder or the archive that was named, or the file itself.
    fn content(&mut self, content: &Content, root: &Path, is_named: bool) {
        let file = &content.name;
        if !is_named && matches!(&*stem(file), "dataset_info" | "dataset_infos") {
            let message = "the description of a data set";
            self.passed_over.push(InputError::whole(file, message));
            return;
        }
        let mut read = task_file(file, &content.bytes);
        let is_found = file
            .strip_prefix(root)
            .is_ok_and(|inner| inner.components().count() > 1);
        if let ([FileTask { task, .. }], Some(id)) =
            (&mut read.tasks[..], id_of_folder(file, is_found))
            && task.id == stem(file)
        {
            task.id = id;
        }
        let errors = read.errors.into_iter();
        let errors = errors.map(|error| {
            self.rejected.extend(error.task.clone());
            InputError::in_tasks(file, error)
        });
        match read.form {
            FileForm::Foreign | FileForm::Submission | FileForm::Programs if !is_named => {
                self.passed_over.extend(errors);
                if read.form == FileForm::Programs {
                    let message = "programs without pairs";
                    self.passed_over.push(InputError::whole(file, message));
                }
            }
            FileForm::Programs => {
                self.read.errors.extend(errors);
                let message = "expected tasks, found programs without pairs: \
                    --programs FILE runs them";
                self.read.errors.push(InputError::at(file, 1, 1, message));
            }
            _ => self.read.errors.extend(errors),
        }
        // A file may have them beside its tasks.
        let mut solutions = read.solutions;
        let found = std::mem::take(&mut solutions.errors).into_iter();
        let found = found.map(|error| InputError::in_tasks(file, error));
        self.read.errors.extend(found);
        if read.form == FileForm::Solutions || !solutions.solutions.is_empty() {
            self.solutions.push((file.clone(), solutions));
        }
        for task in read.tasks {
            self.add(file, task);
        }
        if read.form == FileForm::Tasks && !read.programs.is_empty() {
            self.read.with_programs.push(file.clone());
        }
    }

    /// Adds a task, or merges it with a known one.
    fn add(&mut self, file: &Path, added: FileTask) {
        let known = self.by_id.get(&added.task.id).map_or(0, Vec::len);
        let mut difference = None;
        for origin in 0..known {
            match self.merge(file, origin, added.clone()) {
                Ok(()) => return,
                Err(found) => difference.get_or_insert(found),
            };
        }
        let is_named_by_file = is_named_by_file(&added.task.id, file);
        let origins = self.by_id.entry(added.task.id.clone()).or_default();
        if let Some(Difference { path, counts }) = difference {
            let is_other = |origin: &Origin| {
                origin.is_named_by_file && !origin.is_bare && origin.file.parent() != file.parent()
            };
            let are_tasks = path.starts_with("train") && is_named_by_file && !added.is_bare;
            if !(are_tasks && origins.iter().all(is_other)) {
                let error = differs(file, &origins[0].file, counts);
                let path = format!("{}.{path}", added.task.id);
                return self.read.errors.push(error.about(path));
            }
        }
        origins.push(Origin {
            at: self.read.tasks.len(),
            file: file.to_owned(),
            is_named_by_file,
            is_bare: added.is_bare,
            row: added
                .is_row
                .then(|| test_indices(&added.task, added.test_index)),
            is_joined: false,
        });
        self.read.tasks.push(added.task);
    }

    /// Merges a task with one of the known ones of its id.
    fn merge(&mut self, file: &Path, origin: usize, added: FileTask) -> Result<(), Difference> {
        let FileTask {
            mut task,
            is_bare,
            is_row,
            test_index,
        } = added;
        let origins = self.by_id.get_mut(&task.id);
        let Some(origin) = origins.and_then(|origins| origins.get_mut(origin)) else {
            return Ok(());
        };
        let known = &mut self.read.tasks[origin.at];
        let id = task.id.clone();
        let rows = origin.row.as_mut().filter(|_| is_row);
        let joined = rows.and_then(|indices| join(known, indices, &mut task, test_index));
        origin.is_joined |= matches!(joined, Some(Ok(_)));
        let merged = match (origin.is_bare, is_bare) {
            _ if joined.is_some() => joined.unwrap_or(Ok(false)),
            (false, true) if known.train == task.train => return Ok(()),
            (false, true) => {
                self.bare_lists.push(file.to_owned());
                merge(known, as_other_split(task))
            }
            (true, false) if known.train == task.train => {
                *known = task;
                origin.is_bare = false;
                return Ok(());
            }
            (true, false) => {
                self.bare_lists.push(origin.file.clone());
                let bare = std::mem::replace(known, task);
                origin.is_bare = false;
                merge(known, as_other_split(bare))
            }
            _ => {
                if let Some(indices) = origin.row.as_mut().filter(|_| origin.is_joined) {
                    leave_places(known, indices);
                    *indices = vec![None; known.test_places().len()];
                }
                merge(known, task)
            }
        };
        if merged? {
            self.reordered.push((id, file.to_owned()));
        }
        Ok(())
    }

    /// Names the tasks whose files have the same name by as much of their paths as tells them apart.
    fn name_by_paths(&mut self) {
        let mut renamed = Vec::new();
        for (id, origins) in &self.by_id {
            if origins.len() < 2 {
                continue;
            }
            let paths: Vec<_> = origins.iter().map(|it| path_of(&it.file, id)).collect();
            let names = |count: usize| -> Vec<String> {
                let last = |path: &Vec<String>| path[path.len().saturating_sub(count)..].join("/");
                paths.iter().map(last).collect()
            };
            let longest = paths.iter().map(Vec::len).max().unwrap_or_default();
            let are_distinct =
                |names: &Vec<String>| names.iter().collect::<HashSet<_>>().len() == names.len();
            let names = (1..=longest).map(names).find(are_distinct);
            let names = names.unwrap_or_else(|| {
                // Files of other layouts in one folder.
                let files = origins
                    .iter()
                    .map(|it| it.file.to_string_lossy().into_owned());
                files.collect()
            });
            renamed.push((origins[0].at, id.clone(), names));
        }
        renamed.sort();
        if let Some((at, id, names)) = renamed.first() {
            let more = match renamed.len() {
                1 => String::new(),
                count => format!(", and so on for {} more names", count - 1),
            };
            let message = format!(
                "{id} is the name of {} tasks, which are called {}{more}",
                names.len(),
                names.join(", ")
            );
            let at = *at;
            self.note(at, message);
        }
        for (_, id, names) in renamed {
            let origins = self.by_id.remove(&id).unwrap_or_default();
            for (origin, name) in origins.into_iter().zip(names) {
                self.read.tasks[origin.at].id.clone_from(&name);
                self.by_id.entry(name).or_default().push(origin);
            }
        }
    }

    /// Leaves places for the test inputs without a row, and notes numbers of rows that do not say the places.
    fn number_tests(&mut self) {
        let mut told: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for origin in self.by_id.values().flatten().filter(|it| it.is_joined) {
            let task = &mut self.read.tasks[origin.at];
            let indices = origin.row.as_deref().unwrap_or_default();
            let what = if leave_places(task, indices) {
                "there is no 0, so 1 is taken for the first test input"
            } else if indices.contains(&None) && indices.iter().any(Option::is_some) {
                "some have none, so their order counts"
            } else {
                continue;
            };
            told.entry(what).or_default().push(origin.at);
        }
        for (what, tasks) in told {
            let first = tasks.iter().copied().min().unwrap_or_default();
            let message = format!(
                "{} of the tasks come from rows with numbers of test inputs, of which {what}; the first is {}",
                tasks.len(),
                self.read.tasks[first].id
            );
            self.note(first, message);
        }
    }

    fn finish(mut self) -> TasksRead {
        if self.read.tasks.is_empty() {
            // Without tasks, the notes explain why there are none.
            self.read.errors.append(&mut self.passed_over);
            for (file, _) in &self.solutions {
                let message = "expected tasks, found solutions: lists of grids by task";
                self.read.errors.push(InputError::at(file, 1, 1, message));
            }
            return self.read;
        }
        self.name_by_paths();
        self.number_tests();
        self.solve();
        let passed_over = self.passed_over.drain(..).map(|note| InputError {
            message: format!("passed over: {}", note.message),
            ..note
        });
        self.read.notes.extend(passed_over);
        if let Some(file) = self.bare_lists.first() {
            let message = match self.bare_lists.len() {
                1 => format!(
                    "a list of pairs of a task that is in another file too: used as its split `{BARE}`"
                ),
                count => format!(
                    "{count} lists of pairs, of which this is the first, belong to tasks that are in other \
                     files too: used as their split `{BARE}`"
                ),
            };
            self.read.notes.push(InputError::whole(file, message));
        }
        if let Some((id, file)) = self.reordered.first() {
            let message = format!(
                "{} of the tasks are in another file too, with their pairs in another order: the order that was \
                 read first is used; the first is {id}",
                self.reordered.len()
            );
            self.read.notes.push(InputError::whole(file, message));
        }
        self.note_sizes();
        self.note_twins();
        self.read
    }

    /// Adds the test outputs from solutions to the tasks.
    fn solve(&mut self) {
        for (file, solutions) in std::mem::take(&mut self.solutions) {
            let by_id = &self.by_id;
            self.rejected.retain(|id| !by_id.contains_key(id));
            let errors = solutions.apply(self.read.tasks.iter_mut(), &self.rejected);
            let errors = errors.into_iter();
            let errors = errors.map(|error| InputError::in_tasks(&file, error));
            self.read.errors.extend(errors);
        }
    }

    /// Adds a note about the file of a task.
    fn note(&mut self, task: usize, message: String) {
        let origins = self.by_id.get(&self.read.tasks[task].id);
        let origin = origins.and_then(|origins| origins.iter().find(|origin| origin.at == task));
        let file = origin.map_or_else(PathBuf::new, |origin| origin.file.clone());
        self.read.notes.push(InputError::whole(&file, message));
    }

    /// Notes tasks with grids that competitions do not allow.
    fn note_sizes(&mut self) {
        let is_beyond = |grid: &Grid| {
            grid.height().max(grid.width()) > MAX_SIDE
                || grid.cells().iter().any(|colour| !(0..=9).contains(colour))
        };
        let is_beyond =
            |pair: &Pair| is_beyond(&pair.input) || pair.output.as_ref().is_some_and(is_beyond);
        let tasks = self.read.tasks.iter().enumerate();
        let mut tasks = tasks.filter(|(_, task)| task.pairs().any(|(_, pair)| is_beyond(pair)));
        let Some((first, task)) = tasks.next() else {
            return;
        };
        let count = tasks.count() + 1;
        let message = format!(
            "{count} of the tasks have grids beyond {MAX_SIDE} rows, {MAX_SIDE} columns or the colours 0 to \
             9, which competitions do not have; the first is {}",
            task.id
        );
        self.note(first, message);
    }

    /// Notes tasks that are identical under several ids.
    fn note_twins(&mut self) {
        let mut first: HashMap<u128, usize> = HashMap::new();
        let mut twins: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, task) in self.read.tasks.iter().enumerate() {
            if task.train.is_empty() && task.test.is_empty() {
                continue;
            }
            let known = *first.entry(hash_pairs(task)).or_insert(at);
            if known != at {
                twins.insert(at, known);
            }
        }
        let Some((&twin, &known)) = twins.first_key_value() else {
            return;
        };
        let ids = |at: usize| &self.read.tasks[at].id;
        let more = match twins.len() {
            1 => String::new(),
            count => format!(
                ", and {} more of the tasks have those of another",
                count - 1
            ),
        };
        let message = format!("{} and {} have the same pairs{more}", ids(known), ids(twin));
        self.note(twin, message);
    }
}

/// The error that a task in a file conflicts with what was read before.
fn differs(file: &Path, before: &Path, counts: Option<(usize, usize)>) -> InputError {
    let [has, of] = if before == file {
        ["what stands", "that stand"].map(|it| format!("{it} before it in this file"))
    } else {
        let before = before.display();
        [format!("what `{before}` has"), format!("of `{before}`")]
    };
    let message = match counts {
        None => format!("differs from {has}, which is used"),
        Some((found, known)) => {
            format!("{found} pairs, which differs from the {known} {of}, which are used")
        }
    };
    InputError::whole(file, message)
}

/// Whether a task has its id from its file, or from the file's folder, so that other tasks may have the same. An id of
/// the ARC data is that of one task wherever it is.
fn is_named_by_file(id: &str, file: &Path) -> bool {
    let stem = stem(file);
    // In a list, or in lines, the number follows.
    let number = id
        .strip_prefix(&*stem)
        .and_then(|rest| rest.strip_prefix('_'));
    let is_numbered = number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    !is_arc_id(id) && (id == stem || is_numbered || id_of_folder(file, true).as_deref() == Some(id))
}

/// The folders that a task of this id is in, and the id.
fn path_of(file: &Path, id: &str) -> Vec<String> {
    let folders = whole_folder(file);
    let names = folders.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    let mut names: Vec<_> = names.collect();
    // The name of the folder may stand for that of the file.
    let of_folder = id_of_folder(file, true).filter(|_| stem(file) == id);
    if of_folder.is_none() && names.last().is_none_or(|last| last != id) {
        names.push(id.to_owned());
    }
    names
}

/// Converts a bare list into another split of its task.
fn as_other_split(bare: Task) -> Task {
    Task {
        id: bare.id,
        others: vec![OtherSplit {
            name: BARE.to_owned(),
            pairs: bare.train,
        }],
        ..Task::default()
    }
}

/// The hash of what a solver sees of a task.
fn hash_pairs(task: &Task) -> u128 {
    let mut hash = Xxh3::new();
    let mut add = |grid: &Grid| hash.update(&digest(grid).to_le_bytes());
    for pair in &task.train {
        add(&pair.input);
        pair.output.iter().for_each(&mut add);
    }
    for pair in &task.test {
        add(&pair.input);
    }
    hash.update(&(task.train.len() as u64).to_le_bytes());
    hash.digest128()
}
