//! [`TaskFile`]: the contents of a JSON file, in any of the common layouts.
//!
//! A file is recognised by its structure, not by its name: one task; a bare list of pairs; tasks or such lists by id,
//! also by split; a list, or lines, of tasks that name their ids; solutions; a submission; programs. Everything that
//! could be read is kept, whatever is wrong with the rest: a bad cell costs the pair, a bad task the task.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::error::TaskError;
use super::seeds::{InputSeed, OutputSeed, PairSeed, PairsSeed};
use super::solutions::Solutions;
use super::structure::{
    Entries, TASK, attempts, described, entries_of, has_key, is_grid, is_object, is_pairs,
    is_strings, keys, known_as, nesting,
};
use super::text::{JsonKind, Places, Text, first_of, kind_of, shortened, without_strings};
use super::{OtherSplit, Pair, Task};

mod ids;
mod layouts;
mod programs;

use ids::{TaskName, id_in, id_under, own_id, said_id, says_id};
pub use ids::{bare_id, is_arc_id, may_be_id};
use layouts::{
    LABEL, LISTED, MAX_DEPTH, ROW, are_rows, are_solutions, column, has_rows, has_tasks,
    holds_pairs, holds_tasks, is_alone, is_columns, is_examples, is_list_of_tasks, is_listed,
    is_renamed, is_task, is_wrapper, rows_of_columns, rows_of_split, side_of, side_of_test,
    split_of, test_index, wrapped,
};
use programs::{
    FIRST_ANSWER, NamedProgram, holds_programs, is_program, no_text, of_lines, program, rank_of,
    shows_program, text_of_program,
};

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileForm {
    /// Tasks, possibly with programs.
    Tasks,
    /// The outputs of test pairs by task.
    Solutions,
    /// Attempts by task.
    Submission,
    /// Programs that name their tasks, without pairs.
    Programs,
    /// Something unrelated to tasks; the error says what.
    Foreign,
    /// Something that could not be read; the errors say why.
    #[default]
    Other,
}

/// A file of tasks, solutions or programs.
#[derive(Debug, Clone, Default)]
pub struct TaskFile {
    /// What kind of file it is.
    pub form: FileForm,
    /// The tasks that could be read, in the order of the file.
    pub tasks: Vec<FileTask>,
    /// The programs given with tasks.
    pub programs: Vec<FileProgram>,
    /// The first list of texts of which some hold no program, and how many texts of all lists do not.
    pub without_program: Option<(TaskError, usize)>,
    /// The solutions, if it is a file of solutions.
    pub solutions: Solutions,
    /// Errors in the rest.
    pub errors: Vec<TaskError>,
    /// What takes the place of an error, by its index, where programs are expected.
    of_programs: Vec<(usize, TaskError)>,
}

/// A task of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTask {
    /// The task.
    pub task: Task,
    /// Whether it is a bare list of pairs, all of which are `train`.
    pub is_bare: bool,
    /// Whether it is one of several rows that give their ids. Data sets may have one for each test input of a task.
    pub is_row: bool,
    /// The number of its test input among those of the task, if the row gives it; one from [`MAX_TESTS`] on says the
    /// order only.
    ///
    /// [`MAX_TESTS`]: super::MAX_TESTS
    pub test_index: Option<usize>,
}

impl FileTask {
    fn of(task: Task) -> Self {
        Self {
            task,
            is_bare: false,
            is_row: false,
            test_index: None,
        }
    }
}

/// The text of a program in a JSON file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProgram {
    /// The id of its task.
    pub task: String,
    /// The text.
    pub text: String,
    /// The line of the text, counted from 1.
    pub line: usize,
    /// The column, in bytes, counted from 1.
    pub column: usize,
    /// The JSON path to it.
    pub path: String,
    /// The key that it stands under, if that is one for programs.
    pub key: Option<String>,
    /// Other such keys beside it, which hold programs, too.
    pub others: Vec<String>,
    /// Whether the file says the id, which is its name with or without a number otherwise.
    pub is_said: bool,
}

impl FileProgram {
    /// Whether it is what a language model has answered, with a program in it, rather than a program.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        let rank = self.key.as_deref().and_then(rank_of);
        let code = self.text.find("def ").unwrap_or(self.text.len());
        // What stands before a function is prose or thoughts.
        let marks = ["```", "<think>"].map(|mark| self.text.find(mark));
        rank >= Some(FIRST_ANSWER) || marks.into_iter().flatten().any(|mark| mark < code)
    }
}

/// By split (0 is train, 1 is test) and side (0 is input, 1 is output).
type Columns<'a> = [[Option<Text<'a>>; 2]; 2];

/// What an error expects in place of [`TASK`] in a file of programs.
const PROGRAM: &str = "a program: the key `program` (or `code`, `solution`, `response`, ..) with its text, beside `task_id`";

impl TaskFile {
    /// The keys under which a task may give its id, in order of preference; the last ones count only if its metadata have
    /// none of the others.
    pub const ID_KEYS: [&str; 17] = ids::ID_KEYS;

    /// Reads the text of a file. `name` is its file name without an extension. It is the id of the task if the file
    /// holds one task, unless the name is just a number or a generic word and the task gives its own id
    /// (`says_little`).
    #[must_use]
    pub fn read(name: &str, text: &[u8]) -> Self {
        Self::named(TaskName::OfFile(name), text)
    }

    /// The same for a file of rows, which give their ids even if there is only one.
    #[must_use]
    pub fn read_rows(name: &str, text: &[u8]) -> Self {
        Self::named(TaskName::OfRow(name), text)
    }

    fn named(name: TaskName<'_>, text: &[u8]) -> Self {
        let mut file = Self::default();
        // A model's answer may be JSON.
        let is_kept = |key: &str, text: &str| {
            (rank_of(key).is_some() || key == "arguments")
                && is_program(text)
                && !text.contains("\"role\"")
        };
        let holds_grids = |key: &str| side_of(key).is_some() || column(key).is_some();
        match Text::new(&without_strings(text, is_kept, holds_grids)) {
            Ok(text) => file.value(&text, name),
            Err(error) => file.errors.push(error),
        }
        file.name_rows();
        if !(file.tasks.is_empty() && file.programs.is_empty()) {
            file.form = FileForm::Tasks;
            if file.tasks.is_empty() {
                file.form = FileForm::Programs;
                file.expect_programs();
            }
        }
        file
    }

    /// Gives the rows of a task that are called `ID_0`, `ID_1` by its test inputs the id of the task.
    fn name_rows(&mut self) {
        let numbered = |(at, it): (usize, &FileTask)| {
            let (id, number) = it.task.id.rsplit_once(['_', '-', '#', ':'])?;
            let is_one = it.is_row && is_arc_id(id) && it.task.test_places().len() == 1;
            let number = number.parse::<usize>().ok().filter(|_| is_one)?;
            Some((at, id.to_owned(), number))
        };
        let rows: Vec<_> = self.tasks.iter().enumerate().filter_map(numbered).collect();
        let train = |at: &usize| &self.tasks[*at].task.train;
        let trains: HashMap<_, _> = rows.iter().map(|(at, id, _)| (id, train(at))).collect();
        // Variants of a task have such names, too, but other train pairs.
        let are_parts = rows.iter().all(|(at, id, _)| trains[id] == train(at));
        let first = rows.iter().map(|(.., number)| *number).min();
        let first = first.filter(|first| *first <= usize::from(trains.len() < rows.len()));
        let Some(first) = first.filter(|_| are_parts) else {
            return;
        };
        let mut ids = HashMap::new();
        for (at, id, number) in rows {
            let row = &mut self.tasks[at];
            row.test_index.get_or_insert(number - first);
            ids.insert(std::mem::replace(&mut row.task.id, id.clone()), id);
        }
        for program in &mut self.programs {
            program.task = ids.get(&program.task).unwrap_or(&program.task).clone();
        }
    }

    /// Says in errors that programs were expected, where tasks were not. Returns the first error about the text of a
    /// program, if there is one.
    pub fn expect_programs(&mut self) -> Option<TaskError> {
        let first = self.of_programs.first().map(|(_, error)| error.clone());
        for (at, error) in self.of_programs.drain(..) {
            self.errors[at] = error;
        }
        for error in &mut self.errors {
            let message = error.message.replace(TASK, PROGRAM);
            error.message = message
                .replace("a list of pairs or tasks", "a list of programs")
                .replace("something else than pairs and tasks", "something else");
        }
        first
    }

    fn value(&mut self, text: &Text<'_>, id: TaskName<'_>) {
        match kind_of(text.json) {
            JsonKind::Object => self.object(text, id, 0),
            JsonKind::List => self.list(text, id),
            JsonKind::Null | JsonKind::Other => match text.lines() {
                Some(lines) => self.lines(&lines, id),
                None => self.errors.extend(text.entries(TASK).1),
            },
        }
    }

    fn list(&mut self, text: &Text<'_>, id: TaskName<'_>) {
        let (elements, broken) = text.elements("a list of pairs or tasks");
        if let Some(error) = broken {
            match text.lines() {
                Some(lines) => self.lines(&lines, id),
                None => self.errors.push(error),
            }
            return;
        }
        if is_pairs(text.json) {
            return self.bare(text, id.name());
        }
        if attempts(text.json) {
            self.form = FileForm::Submission;
            return self.refuse(text, "the attempts of one task, as in a submission");
        }
        let first = elements.first().map_or("", |it| it.get());
        if kind_of(first) == JsonKind::Object || text_of_program(first).is_some() {
            return self.each_of(text, id);
        }
        let found = match elements.first().map(|it| kind_of(it.get())) {
            None => "an empty list",
            Some(JsonKind::List) => "a list of lists, as grids are",
            _ => "a list of something else than pairs and tasks",
        };
        self.form = FileForm::Foreign;
        self.refuse(text, found);
    }

    fn lines(&mut self, lines: &[Text<'_>], id: TaskName<'_>) {
        for (at, line) in lines.iter().enumerate() {
            self.numbered(line, id, at);
        }
    }

    /// The rows of a table, whose numbers are those of their lines.
    fn rows(&mut self, rows: &[String], id: TaskName<'_>) {
        for (at, row) in rows.iter().enumerate() {
            if let Ok(mut text) = Text::new(row.as_bytes()) {
                text.line = at + 1;
                self.numbered(&text, id, at);
            }
        }
    }

    /// The tasks of a list, which give their own ids.
    fn each_of(&mut self, text: &Text<'_>, id: TaskName<'_>) {
        let (elements, broken) = text.elements("a list of tasks");
        let mut places = Places::new(text);
        for (at, element) in elements.iter().enumerate() {
            self.numbered(&places.of_index(at, element), id, at);
        }
        self.errors.extend(broken);
    }

    /// One of several tasks that give their own ids.
    fn numbered(&mut self, text: &Text<'_>, id: TaskName<'_>, at: usize) {
        let name = format!("{}_{at}", id.name());
        if kind_of(text.json) == JsonKind::Object {
            self.object(text, TaskName::Numbered(&name), 0);
        } else if is_pairs(text.json) {
            self.bare(text, &name);
        } else if let Some(program) = text_of_program(text.json) {
            let before = self.programs.len();
            self.program(text, &name, program);
            self.programs[before..]
                .iter_mut()
                .for_each(|it| it.is_said = false);
        } else {
            let (_, error) = text.entries(TASK);
            self.errors
                .push(error.unwrap_or_else(|| text.error(format!("expected {TASK}"))));
        }
    }

    fn object(&mut self, text: &Text<'_>, id: TaskName<'_>, depth: usize) {
        let (entries, broken) = text.entries(TASK);
        if let Some(error) = broken {
            if let Some(lines) = text.lines().filter(|_| depth == 0) {
                return self.lines(&lines, id);
            }
            self.errors.push(error);
            if !is_task(&entries, depth) && has_tasks(&entries, depth) {
                self.by_id(text, &entries, depth);
            } else if depth == 0 {
                self.programs_by_id(text, &entries);
            }
            return;
        }
        if let Some((_, row)) = entries.iter().find(|(key, it)| key == ROW && is_object(it)) {
            return self.object(&Places::new(text).of_key(ROW, row), id, depth);
        }
        if depth == 0
            && let Some(rows) = rows_of_columns(&entries).or_else(|| rows_of_split(&entries))
        {
            return self.rows(&rows, id);
        }
        if depth == 0 && !entries.is_empty() && entries.iter().all(|(_, it)| is_strings(it.get())) {
            if self.programs_by_id(text, &entries) {
                return;
            }
            self.form = FileForm::Foreign;
            return self.refuse(text, "lists of text, as of the ids of tasks");
        }
        let is_task = is_task(&entries, depth);
        if !is_task && let Some((key, value)) = wrapped(&entries, depth) {
            let own = id_in(&entries).or_else(|| id_in(&entries_of(value.get()).0));
            let name = own.as_deref().unwrap_or(id.name());
            let part = Places::new(text).of_key(key, value).of_task(name);
            let before = self.tasks.len();
            self.object(&part, TaskName::Key(name), depth + 1);
            self.add_outputs_beside(text, &entries, before);
            if let Some(named) = program(&entries) {
                self.named_program(&mut Places::new(text), name, named, true);
            }
            return;
        }
        let own_id = own_id(&entries, id).or_else(|| said_id(&entries, id).filter(|_| !is_task));
        let program = program(&entries)
            .filter(|it| is_task || own_id.is_some() || depth == 0 && is_alone(it, &entries));
        if is_task {
            let before = self.tasks.len();
            let row_id = own_id
                .as_deref()
                .filter(|_| matches!(id, TaskName::Numbered(_) | TaskName::OfRow(_)));
            let id = own_id.as_deref().unwrap_or(id.name());
            let text = text.clone().of_task(id);
            self.task(&text, id, &entries);
            for task in &mut self.tasks[before..] {
                task.is_row = row_id.is_some();
                task.test_index = test_index(&entries).filter(|_| task.is_row);
            }
        }
        if let Some(named) = program {
            let name = own_id.as_deref().unwrap_or(id.name());
            let is_said = is_task || own_id.is_some();
            self.named_program(&mut Places::new(text), name, named, is_said);
        } else if is_task {
        } else if entries.iter().any(|(_, it)| attempts(it.get())) {
            self.form = FileForm::Submission;
            self.refuse(text, "a submission: attempts by task");
        } else if depth == 0 && are_solutions(&entries, id) {
            self.form = FileForm::Solutions;
            self.solutions = Solutions::of(text);
        } else if depth < MAX_DEPTH && has_tasks(&entries, depth) {
            self.by_id(text, &entries, depth);
        } else if depth == 0 && has_rows(&entries) {
            let mut places = Places::new(text);
            for (key, rows) in &entries {
                let is_split = split_of(key).is_some() && first_of(rows.get()).is_some();
                if is_split || are_rows(key, rows.get()) {
                    self.each_of(&places.of_key(key, rows), TaskName::Key(key));
                }
            }
        } else if depth == 0 && self.programs_by_id(text, &entries) {
        } else {
            self.unknown(text, &entries, own_id.is_some(), depth);
        }
    }

    /// Says what is wrong with an object that is neither a task nor anything else that is read.
    fn unknown(&mut self, text: &Text<'_>, entries: &Entries<'_>, has_id: bool, depth: usize) {
        let is_like_tasks = |(key, value): &(String, &RawValue)| {
            is_pairs(value.get())
                || matches!(key.as_str(), "train" | "test" | "input" | "examples")
                || column(key).is_some()
        };
        if depth == 0 && !entries.iter().any(is_like_tasks) {
            self.form = FileForm::Foreign;
        }
        let ranked = entries.iter().filter(|(key, _)| rank_of(key).is_some());
        let best = ranked.min_by_key(|(key, _)| rank_of(key));
        let at = self.errors.len();
        let is_like_pairs = |(key, it): &&(String, &RawValue)| {
            let first = first_of(it.get()).map(kind_of);
            split_of(key) == Some(0) && matches!(first, Some(JsonKind::Object | JsonKind::List))
        };
        if let Some((key, value)) = best.filter(|_| has_id) {
            let error = no_text(&Places::new(text).of_key(key, value));
            self.of_programs.push((at, error));
        } else if let Some((key, pairs)) = entries.iter().find(is_like_pairs) {
            self.pairs(&Places::new(text).of_key(key, pairs));
            self.errors.truncate(at + 1);
            if let [_] = self.errors[at..] {
                let found = described(entries);
                let error = text.error(format!("expected {PROGRAM}, found {found}"));
                return self.of_programs.push((at, error));
            }
        }
        self.refuse(text, &described(entries));
    }

    fn by_id<'a>(&mut self, text: &Text<'a>, entries: &Entries<'a>, depth: usize) {
        let mut seen = HashSet::new();
        let mut places = Places::new(text);
        let holds =
            |(_, it): &&(String, &RawValue)| is_pairs(it.get()) || holds_tasks(it.get(), depth);
        let mut holding = entries.iter().filter(holds).peekable();
        // Then what stands beside them is no task, such as a version.
        let are_wrapped = holding.peek().is_some() && holding.all(|(key, _)| is_wrapper(key));
        for (key, value) in entries {
            if are_wrapped && !is_wrapper(key) && key != "solutions" {
                continue;
            }
            let id = bare_id(key);
            let part = places.of_key(key, value).of_task(id);
            if !seen.insert(key) {
                let message = "the id stands here a second time; the first task is used";
                self.errors.push(part.error(message));
            } else if key == "solutions" && is_object(value) {
                self.solutions = Solutions::of(&part);
            } else if is_pairs(value.get()) {
                self.bare(&part, id);
            } else if kind_of(value.get()) == JsonKind::Object {
                self.object(&part, TaskName::Key(id), depth + 1);
            } else if is_list_of_tasks(value.get(), depth) {
                self.each_of(&part, TaskName::Key(id));
            } else {
                let (_, error) = part.entries(TASK);
                self.errors.extend(error);
            }
        }
    }

    /// Reads programs by the ids of their tasks, if it is a file of these: if it holds nothing else, or if one is in a
    /// place where only files of programs have one. Then every entry that is not a program is an error.
    fn programs_by_id(&mut self, text: &Text<'_>, entries: &Entries<'_>) -> bool {
        let are_programs = !entries.is_empty()
            && (entries
                .iter()
                .all(|(_, it)| holds_programs(it.get(), true, MAX_DEPTH))
                || (known_as(entries).is_none()
                    && !says_id(entries)
                    && entries.iter().any(|(_, it)| shows_program(it.get()))));
        let mut places = Places::new(text);
        let holds_ids = |id: &str, inner: &Entries<'_>| {
            let is_above = is_wrapper(id)
                || rank_of(id).is_some()
                || inner.iter().all(|(id, _)| is_arc_id(bare_id(id)));
            is_above && program(inner).is_none() && !inner.is_empty()
        };
        let mut all = entries.iter();
        // Then what stands beside them is no program, such as the name of a model.
        let are_within = all.any(|(id, it)| holds_ids(id, &entries_of(it.get()).0));
        for (id, value) in entries.iter().filter(|_| are_programs) {
            let part = places.of_key(id, value);
            let (inner, _) = entries_of(value.get());
            if are_within && !holds_programs(value.get(), false, MAX_DEPTH) {
            } else if holds_ids(id, &inner) {
                let mut places = Places::new(&part);
                for (id, value) in &inner {
                    self.programs_of(&places.of_key(id, value), bare_id(id), MAX_DEPTH);
                }
            } else {
                self.programs_of(&part, bare_id(id), MAX_DEPTH);
            }
        }
        are_programs
    }

    /// The program or programs of a task, in lists or under names without a meaning, nested at most this deep.
    fn programs_of(&mut self, text: &Text<'_>, id: &str, depth: usize) {
        let mut places = Places::new(text);
        if let Some(program) = text_of_program(text.json) {
            return self.program(text, id, program);
        }
        match kind_of(text.json) {
            JsonKind::List if depth > 0 => {
                let texts: Vec<_> = serde_json::from_str(text.json).unwrap_or_default();
                if let Some(program) = of_lines(&texts) {
                    return self.program(text, id, program);
                }
                let (elements, broken) = text.elements("programs");
                if elements.is_empty() && broken.is_none() {
                    self.no_program(text, "an empty list");
                }
                for (at, element) in elements.iter().enumerate() {
                    self.programs_of(&places.of_index(at, element), id, depth - 1);
                }
                self.errors.extend(broken);
            }
            JsonKind::Object => {
                let (entries, _) = text.entries("programs");
                if let Some(named) = program(&entries) {
                    let own = id_under(&["task_id"], &entries);
                    let id = own.as_deref().unwrap_or(id);
                    return self.named_program(&mut places, id, named, true);
                }
                let holds =
                    |(_, it): &(String, &RawValue)| holds_programs(it.get(), false, depth - 1);
                if depth == 0 || !entries.iter().any(holds) {
                    let mut named = entries.iter();
                    return match named.find(|(key, _)| rank_of(key).is_some()) {
                        Some((key, value)) => {
                            self.errors.push(no_text(&places.of_key(key, value)));
                        }
                        None => self.no_program(text, &described(&entries)),
                    };
                }
                for (at, (key, value)) in entries.iter().enumerate() {
                    // The key may be a whole text.
                    let is_word = key.len() <= 40 && !key.contains(char::is_whitespace);
                    let part = if is_word {
                        places.of_key(key, value)
                    } else {
                        places.of_index(at, value)
                    };
                    self.programs_of(&part, id, depth - 1);
                }
            }
            JsonKind::List => self.no_program(text, "a list"),
            JsonKind::Null => self.no_program(text, "null"),
            JsonKind::Other => self.no_program(text, &shortened(text.json)),
        }
    }

    /// Adds the error that a program was expected.
    fn no_program(&mut self, text: &Text<'_>, found: &str) {
        let expected = "the text of a program, with `def` or `O =` in it, or an object that has it as `program`";
        self.errors
            .push(text.error(format!("expected {expected}, found {found}")));
    }

    fn named_program<'a>(
        &mut self,
        places: &mut Places<'a>,
        task: &str,
        named: NamedProgram<'a>,
        is_said: bool,
    ) {
        let before = self.programs.len();
        let place = places.of_key(&named.key, named.value);
        if named.without_program > 0 {
            let (_, count) = self
                .without_program
                .get_or_insert_with(|| (place.error(""), 0));
            *count += named.without_program;
        }
        for text in named.texts {
            self.program(&place, task, text);
        }
        for program in &mut self.programs[before..] {
            (program.key, program.others) = (Some(named.key.clone()), named.others.clone());
            program.is_said = is_said;
        }
    }

    fn program(&mut self, place: &Text<'_>, task: &str, text: String) {
        let found = place.error("");
        self.programs.push(FileProgram {
            task: task.to_owned(),
            text,
            line: found.line,
            column: found.column,
            path: found.path,
            key: None,
            others: Vec::new(),
            is_said: true,
        });
    }

    /// Adds the error that a task was expected.
    fn refuse(&mut self, text: &Text<'_>, found: &str) {
        self.errors
            .push(text.error(format!("expected {TASK}, found {found}")));
    }

    /// A list of pairs in place of a task.
    fn bare(&mut self, text: &Text<'_>, id: &str) {
        let text = text.clone().of_task(id);
        let Some((train, left_out)) = self.pairs(&text) else {
            return;
        };
        if train.is_empty() && !left_out.is_empty() {
            return;
        }
        let id = id.to_owned();
        let task = Task {
            id,
            train,
            ..Task::default()
        };
        self.tasks.push(FileTask {
            is_bare: true,
            ..FileTask::of(task)
        });
    }

    fn task<'a>(&mut self, text: &Text<'a>, id: &str, entries: &Entries<'a>) {
        let errors = self.errors.len();
        let mut splits: Vec<(&str, Vec<Pair>)> = Vec::new();
        let mut task = Task {
            id: id.to_owned(),
            ..Task::default()
        };
        let mut places = Places::new(text);
        let is_columns = is_columns(entries);
        let Some(columns) = self.columns(text, entries) else {
            return;
        };
        let mut lone = [None, None];
        let names_differ = is_examples(entries) || is_renamed(entries);
        for (key, value) in entries {
            let is_test = column(key).is_some_and(|(split, _)| split == 1);
            if is_columns || is_test && !is_pairs(value.get()) {
                continue;
            }
            if let Some(side) = side_of_test(key)
                && matches!(nesting(value.get()), 2 | 3)
                && (key != "output" || !has_key(entries, "test"))
            {
                lone[side].get_or_insert_with(|| places.of_key(key, value));
                continue;
            }
            let word = key.strip_suffix("_examples").unwrap_or(key);
            let is_other_name = names_differ && (word != key || holds_pairs(value.get()));
            let split = match split_of(word).filter(|_| is_other_name) {
                Some(0) => "train",
                Some(_) => "test",
                None => key,
            };
            let is_known = matches!(split, "train" | "test");
            if !is_known && !is_pairs(value.get()) {
                continue;
            }
            let part = places.of_key(key, value);
            if splits.iter().any(|(known, _)| *known == split) {
                let message = format!("the key `{key}` stands here twice");
                return self.errors.push(part.error(message));
            }
            let Some((pairs, left_out)) = self.pairs(&part) else {
                return;
            };
            if split == "test" {
                task.tests_left_out = left_out;
            }
            splits.push((split, pairs));
        }
        let [[inputs, outputs], mut columns] = columns;
        let train = is_columns.then(|| self.zipped(inputs, outputs));
        let tests = splits.iter_mut().find(|(split, _)| *split == "test");
        let lacks_some = match &tests {
            Some((_, tests)) => !tests.is_empty() && tests.iter().all(|it| it.output.is_none()),
            None => lone[0].is_some(),
        };
        if matches!(columns, [None, None]) && lacks_some {
            columns = lone;
        }
        match (columns, tests) {
            ([None, None], _) => {}
            ([inputs, outputs], None) => {
                let Some((pairs, left_out)) = self.zipped(inputs, outputs) else {
                    return;
                };
                task.tests_left_out = left_out;
                splits.push(("test", pairs));
            }
            ([_, outputs], Some((_, tests))) => {
                if let Some(outputs) = outputs
                    && !self.add_outputs(tests, &task.tests_left_out, &outputs)
                {
                    return;
                }
            }
        }
        match train {
            Some(Some((train, _))) => splits.push(("train", train)),
            Some(None) => return,
            None => {}
        }
        if !splits.iter().any(|(split, _)| *split == "train") {
            let keys = keys(entries);
            let message = format!("expected the key `train` with a list of pairs, found {keys}");
            return self.errors.push(text.error(message));
        }
        for (split, pairs) in splits {
            match split {
                "train" => task.train = pairs,
                "test" => task.test = pairs,
                name => task.others.push(OtherSplit {
                    name: name.to_owned(),
                    pairs,
                }),
            }
        }
        // A task whose pairs are all bad is dropped.
        if task.pair_count() > 0 || self.errors.len() == errors {
            self.tasks.push(FileTask::of(task));
        }
    }

    /// The columns of a task, which may have all inputs and outputs in such, or those of test pairs beside `train`.
    fn columns<'a>(&mut self, text: &Text<'a>, entries: &Entries<'a>) -> Option<Columns<'a>> {
        let (is_columns, is_listed) = (is_columns(entries), is_listed(entries));
        let mut columns = Columns::default();
        let mut places = Places::new(text);
        for (key, value) in entries {
            let part = places.of_key(key, value);
            if is_columns && is_listed && key == "list" {
                let (elements, _) = part.elements("a list");
                let mut places = Places::new(&part);
                for ((at, element), (split, side)) in elements.iter().enumerate().zip(LISTED) {
                    columns[split][side] = Some(places.of_index(at, element));
                }
                continue;
            }
            let column = if is_columns && is_listed {
                (key == "label").then_some(LABEL)
            } else {
                column(key).filter(|(split, _)| is_columns || *split == 1 && !is_pairs(value.get()))
            };
            let Some((split, side)) = column else {
                continue;
            };
            if is_columns && columns[split][side].is_some() {
                let message = format!(
                    "the key `{key}` stands here a second time, under this or another name"
                );
                self.errors.push(part.error(message));
                return None;
            }
            columns[split][side] = Some(part);
        }
        Some(columns)
    }

    /// Adds the outputs that stand beside the task that was read after so many, if it has none.
    fn add_outputs_beside(&mut self, text: &Text<'_>, entries: &Entries<'_>, before: usize) {
        let mut beside = entries
            .iter()
            .filter(|(key, it)| side_of_test(key) == Some(1) && matches!(nesting(it.get()), 2 | 3));
        if let (Some((key, outputs)), true) = (beside.next(), self.tasks.len() == before + 1) {
            let mut task = std::mem::take(&mut self.tasks[before].task);
            let outputs = Places::new(text).of_key(key, outputs).of_task(&task.id);
            if task.test.iter().all(|pair| pair.output.is_none()) {
                self.add_outputs(&mut task.test, &task.tests_left_out, &outputs);
            }
            self.tasks[before].task = task;
        }
    }

    /// Adds the outputs in a column to test pairs, of which those at some places could not be read; returns false if they
    /// are others, or not as many.
    fn add_outputs(&mut self, tests: &mut [Pair], left_out: &[usize], outputs: &Text<'_>) -> bool {
        let Some(found) = self.grids(Some(outputs.clone())) else {
            return false;
        };
        let count = tests.len() + left_out.len();
        if !found.is_empty() && found.len() != count {
            let message = format!(
                "{} outputs for {count} test pairs: expected one for each",
                found.len()
            );
            self.errors.push(outputs.error(message));
            return false;
        }
        let found = found.into_iter().enumerate();
        let found = found.filter(|(at, _)| !left_out.contains(at));
        for (pair, (_, text)) in tests.iter_mut().zip(found) {
            let error = match text.read(OutputSeed) {
                Ok(None) => continue,
                Ok(output) if pair.output.is_none() || pair.output == output => {
                    pair.output = output;
                    continue;
                }
                Ok(_) => text.error("differs from the output of the test pair"),
                Err(error) => error,
            };
            self.errors.push(error);
            return false;
        }
        true
    }

    /// The grids of a column: a list of them, or a single one.
    fn grids<'a>(&mut self, text: Option<Text<'a>>) -> Option<Vec<Text<'a>>> {
        let text = text.filter(|text| kind_of(text.json) != JsonKind::Null);
        let Some(text) = text else {
            return Some(Vec::new());
        };
        if is_grid(text.json) {
            return Some(vec![text]);
        }
        let (elements, broken) = text.elements("a list of grids");
        if let Some(error) = broken {
            self.errors.push(error);
            return None;
        }
        let mut places = Places::new(&text);
        let elements = elements.iter().enumerate();
        Some(
            elements
                .map(|(at, element)| places.of_index(at, element))
                .collect(),
        )
    }

    /// The pairs of inputs and outputs in separate lists, and the indices of those that could not be read; `None` if
    /// it is not known which belong together.
    fn zipped(
        &mut self,
        inputs: Option<Text<'_>>,
        outputs: Option<Text<'_>>,
    ) -> Option<(Vec<Pair>, Vec<usize>)> {
        let place = outputs.clone();
        let (inputs, outputs) = (self.grids(inputs)?, self.grids(outputs)?);
        if let Some(place) = place.filter(|_| !outputs.is_empty() && outputs.len() != inputs.len())
        {
            let message = format!(
                "{} outputs for {} inputs: expected one for each",
                outputs.len(),
                inputs.len()
            );
            self.errors.push(place.error(message));
            return None;
        }
        Some(self.readable(inputs.iter().enumerate().map(|(at, input)| {
            let output = outputs.get(at).map(|output| output.read(OutputSeed));
            let input = input.read(InputSeed)?;
            Ok(Pair::new(input, output.transpose()?.flatten()))
        })))
    }

    /// The pairs that could be read, and the indices of the others.
    fn readable(
        &mut self,
        read: impl Iterator<Item = Result<Pair, TaskError>>,
    ) -> (Vec<Pair>, Vec<usize>) {
        let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
        for (at, pair) in read.enumerate() {
            match pair {
                Ok(pair) => pairs.push(pair),
                Err(error) => {
                    self.errors.push(error);
                    left_out.push(at);
                }
            }
        }
        (pairs, left_out)
    }

    /// The pairs of a list that could be read, and the indices of the others; `None` if it is not a list.
    fn pairs(&mut self, text: &Text<'_>) -> Option<(Vec<Pair>, Vec<usize>)> {
        if kind_of(text.json) == JsonKind::Null {
            return Some((Vec::new(), Vec::new()));
        }
        if kind_of(text.json) == JsonKind::Object {
            // Data sets may have the inputs and the outputs of a split as two lists.
            let (entries, _) = text.entries("a list of pairs");
            let mut places = Places::new(text);
            let mut columns = [None, None];
            for (key, value) in &entries {
                if let Some(side) = side_of(key) {
                    columns[side] = Some(places.of_key(key, value));
                }
            }
            if let [inputs @ Some(_), outputs] = columns {
                return self.zipped(inputs, outputs);
            }
        }
        let error = match text.read(PairsSeed) {
            Ok(pairs) => return Some((pairs, Vec::new())),
            Err(error) => error,
        };
        let (elements, broken) = text.elements("a list of pairs");
        if broken.is_some() {
            self.errors.push(error);
            return None;
        }
        let mut places = Places::new(text);
        let elements = elements.iter().enumerate();
        Some(self.readable(elements.map(|(at, it)| places.of_index(at, it).read(PairSeed))))
    }
}

#[cfg(test)]
mod tests;
