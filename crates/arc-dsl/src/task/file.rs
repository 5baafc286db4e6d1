//! [`TaskFile`]: the contents of a JSON file, in any of the common layouts.
//!
//! A file is recognised by its structure, not by its name: one task; a bare list of pairs; tasks or such lists by id,
//! also by split; a list, or lines, of tasks that name their ids; solutions; a submission; programs. Everything that
//! could be read is kept, whatever is wrong with the rest: a bad cell costs the pair, a bad task the task.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::error::TaskError;
use super::seeds::{InputSeed, OutputSeed, PairSeed, PairsSeed};
use super::solutions::Solutions;
use super::text::{JsonKind, Places, Text, first_of, kind_of, shortened, without_strings};
use super::{OtherSplit, Pair, Task};

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
    /// The number of its test input among those of the task, if the row gives it.
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
    pub key: Option<&'static str>,
    /// Other such keys beside it, which hold programs, too.
    pub others: Vec<&'static str>,
}

impl FileProgram {
    /// Whether it is what a language model has answered, with a program in it, rather than a program.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        self.key.is_some_and(|key| ANSWER_KEYS.contains(&key))
            || self.text.trim_start().starts_with("```")
    }
}

/// The maximum nesting of tasks by id in objects by split.
const MAX_DEPTH: usize = 3;

/// The keys under which a row gives the number of its test input.
const TEST_INDEX_KEYS: [&str; 11] = [
    "test_index",
    "pair_index",
    "question_index",
    "test_input_index",
    "test_case_index",
    "test_idx",
    "pair_idx",
    "question_idx",
    "test_input_idx",
    "test_case",
    "test_id",
];

/// The keys under which an object beside other things holds one task.
const WRAPPERS: [&str; 6] = ["task", "data", "problem", "puzzle", "item", "content"];

/// The maximum number of keys that an error names.
const KEYS_TOLD: usize = 6;

/// The keys for the text of a program, in order of preference.
const PROGRAM_KEYS: [&str; 9] = [
    "program",
    "source",
    "code",
    "generated_code",
    "function",
    "solution",
    "response",
    "completion",
    MESSAGES,
];

/// Those of them under which a model's answer is.
const ANSWER_KEYS: [&str; 4] = ["solution", "response", "completion", MESSAGES];

/// The key for a conversation, the last of whose texts by the model is its answer.
const MESSAGES: &str = "messages";

const TASK: &str = "a task: an object with the keys `train` and `test`";

/// What an error expects in place of [`TASK`] in a file of programs.
const PROGRAM: &str = "a program: the key `program` with its text, beside `task_id`";

type Entries<'a> = [(String, &'a RawValue)];

impl TaskFile {
    /// The keys under which a task may give its id, in order of preference; the last ones count only if its metadata have
    /// none of the others.
    pub const ID_KEYS: [&str; 6] = ["task_id", "task_key", "id", "name", "question_id", "index"];

    /// Reads the text of a file. `name` is its file name without an extension. It is the id of the task if the file
    /// holds one task, unless the name is just a number or a generic word and the task gives its own id
    /// (`says_little`).
    #[must_use]
    pub fn read(name: &str, text: &[u8]) -> Self {
        let mut file = Self::default();
        // A model's answer may be JSON.
        let is_kept = |key: &str| key == "content" || key == "text" || PROGRAM_KEYS.contains(&key);
        match Text::new(&without_strings(text, is_kept)) {
            Ok(text) => file.value(&text, TaskName::OfFile(name)),
            Err(error) => file.errors.push(error),
        }
        if !(file.tasks.is_empty() && file.programs.is_empty()) {
            file.form = FileForm::Tasks;
            if file.tasks.is_empty() {
                file.form = FileForm::Programs;
                file.expect_programs();
            }
        }
        file
    }

    /// Says in errors that programs were expected, where tasks were not.
    pub fn expect_programs(&mut self) {
        for error in &mut self.errors {
            let message = error.message.replace(TASK, PROGRAM);
            error.message = message.replace("a list of pairs or tasks", "a list of programs");
        }
    }

    fn value(&mut self, text: &Text<'_>, id: TaskName<'_>) {
        match kind_of(text.json) {
            JsonKind::Object => self.object(text, id, 0),
            JsonKind::List => self.list(text, id),
            JsonKind::Null | JsonKind::Other => {
                let (_, error) = text.entries(TASK);
                self.errors.extend(error);
            }
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
        if elements.first().map(|it| kind_of(it.get())) == Some(JsonKind::Object) {
            let mut places = Places::new(text);
            for (at, element) in elements.iter().enumerate() {
                let part = places.of_index(at, element);
                self.numbered(&part, id, at);
            }
            return;
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

    /// One of several tasks that give their own ids.
    fn numbered(&mut self, text: &Text<'_>, id: TaskName<'_>, at: usize) {
        let name = format!("{}_{at}", id.name());
        if kind_of(text.json) == JsonKind::Object {
            self.object(text, TaskName::Numbered(&name), 0);
        } else if is_pairs(text.json) {
            self.bare(text, &name);
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
        if depth == 0 && !entries.is_empty() && entries.iter().all(|(_, it)| is_strings(it.get())) {
            if self.programs_by_id(text, &entries) {
                return;
            }
            self.form = FileForm::Foreign;
            return self.refuse(text, "lists of text, as of the ids of tasks");
        }
        let is_task = is_task(&entries, depth);
        if !is_task && let Some((key, value)) = wrapped(&entries, depth) {
            let own = id_in(&entries);
            let name = own.as_deref().unwrap_or(id.name());
            let part = Places::new(text).of_key(key, value).of_task(name);
            self.object(&part, TaskName::Key(name), depth + 1);
            if let Some(named) = program(&entries) {
                self.named_program(&mut Places::new(text), name, named);
            }
            return;
        }
        let own_id = own_id(&entries, id).or_else(|| said_id(&entries, id).filter(|_| !is_task));
        let program = program(&entries).filter(|_| is_task || own_id.is_some());
        if is_task {
            let before = self.tasks.len();
            let row_id = own_id
                .as_deref()
                .filter(|_| matches!(id, TaskName::Numbered(_)));
            let id = own_id.as_deref().unwrap_or(id.name());
            let text = text.clone().of_task(id);
            if is_columns(&entries) {
                self.columns(&text, id, &entries);
            } else {
                self.task(&text, id, &entries);
            }
            for task in &mut self.tasks[before..] {
                task.is_row = row_id.is_some();
                task.test_index = test_index(&entries).filter(|_| task.is_row);
            }
        }
        let bad = || entries.iter().find(|(key, _)| key == "program");
        if let Some(named) = program {
            let id = own_id.as_deref().unwrap_or(id.name());
            self.named_program(&mut Places::new(text), id, named);
        } else if let Some((key, value)) = bad().filter(|_| own_id.is_some() && !is_task) {
            self.no_text(&Places::new(text).of_key(key, value));
            self.form = FileForm::Programs;
        } else if is_task {
        } else if entries.iter().any(|(_, it)| attempts(it.get())) {
            self.form = FileForm::Submission;
            self.refuse(text, "a submission: attempts by task");
        } else if depth == 0 && are_solutions(&entries, id) {
            self.form = FileForm::Solutions;
            self.solutions = Solutions::of(text);
        } else if depth < MAX_DEPTH && has_tasks(&entries, depth) {
            self.by_id(text, &entries, depth);
        } else if depth == 0 && self.programs_by_id(text, &entries) {
        } else {
            let is_like_tasks = |(key, value): &(String, &RawValue)| {
                is_pairs(value.get())
                    || matches!(key.as_str(), "train" | "test" | "input" | "examples")
                    || column(key).is_some()
            };
            if depth == 0 && !entries.iter().any(is_like_tasks) {
                self.form = FileForm::Foreign;
            }
            self.refuse(text, &described(&entries));
        }
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
            if are_wrapped && !is_wrapper(key) {
                continue;
            }
            let id = bare_id(key);
            let part = places.of_key(key, value).of_task(id);
            if !seen.insert(key) {
                let message = "the id stands here a second time; the first task is used";
                self.errors.push(part.error(message));
            } else if is_pairs(value.get()) {
                self.bare(&part, id);
            } else if kind_of(value.get()) == JsonKind::Object {
                self.object(&part, TaskName::Key(id), depth + 1);
            } else if is_list_of_tasks(value.get(), depth) {
                let (elements, broken) = part.elements("a list of tasks");
                let mut places = Places::new(&part);
                for (at, element) in elements.iter().enumerate() {
                    self.numbered(&places.of_index(at, element), TaskName::Key(id), at);
                }
                self.errors.extend(broken);
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
        for (id, value) in entries.iter().filter(|_| are_programs) {
            let part = places.of_key(id, value);
            let (inner, _) = entries_of(value.get());
            if is_word_of_splits(id) && program(&inner).is_none() && !inner.is_empty() {
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
        match kind_of(text.json) {
            JsonKind::List if depth > 0 => {
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
                    return self.named_program(&mut places, id, named);
                }
                let holds =
                    |(_, it): &(String, &RawValue)| holds_programs(it.get(), false, depth - 1);
                if depth == 0 || !entries.iter().any(holds) {
                    let mut named = entries.iter();
                    let named = named.find(|(key, _)| PROGRAM_KEYS.contains(&key.as_str()));
                    return match named {
                        Some((key, value)) => self.no_text(&places.of_key(key, value)),
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
            JsonKind::Other => match text_of_program(text.json) {
                Some(program) => self.program(text, id, program),
                None => self.no_program(text, &shortened(text.json)),
            },
        }
    }

    /// Adds the error that a program was expected.
    fn no_program(&mut self, text: &Text<'_>, found: &str) {
        let expected = "the text of a program, with `def` or `O =` in it, or an object that has it as `program`";
        self.errors
            .push(text.error(format!("expected {expected}, found {found}")));
    }

    /// Adds an error about the value of a key for the text of a program.
    fn no_text(&mut self, text: &Text<'_>) {
        let is_blank = |text: String| text.trim().is_empty();
        let found = match kind_of(text.json) {
            JsonKind::Null => "null",
            JsonKind::List => "a list",
            JsonKind::Object => "an object",
            JsonKind::Other => match serde_json::from_str(text.json).map(is_blank) {
                Ok(true) => "an empty text",
                _ => &shortened(text.json),
            },
        };
        self.errors
            .push(text.error(format!("expected the text of a program, found {found}")));
    }

    fn named_program<'a>(&mut self, places: &mut Places<'a>, task: &str, named: NamedProgram<'a>) {
        let before = self.programs.len();
        let place = places.of_key(named.key, named.value);
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
            (program.key, program.others) = (Some(named.key), named.others.clone());
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
        // Data sets may have the grids of test pairs, or their outputs alone, in columns beside `train`.
        let mut columns = [None, None];
        for (key, value) in entries {
            if let Some((1, side)) = column(key).filter(|_| !is_pairs(value.get())) {
                columns[side] = Some(places.of_key(key, value));
                continue;
            }
            let split = match key.as_str() {
                "training_examples" if is_examples(entries) => "train",
                "test_examples" if is_examples(entries) => "test",
                "training" if is_training(entries) => "train",
                "testing" if is_training(entries) => "test",
                "fewshots" if is_fewshots(entries) => "train",
                "question" if is_fewshots(entries) => "test",
                "examples" if is_example_pairs(entries) => "train",
                key => key,
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
        let tests = splits.iter_mut().find(|(split, _)| *split == "test");
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

    /// A task whose inputs and outputs are separate lists, as in the columns of tables.
    fn columns<'a>(&mut self, text: &Text<'a>, id: &str, entries: &Entries<'a>) {
        let errors = self.errors.len();
        let mut columns: [[Option<Text<'a>>; 2]; 2] = Default::default();
        let mut places = Places::new(text);
        let is_listed = is_listed(entries);
        for (key, value) in entries {
            let part = places.of_key(key, value);
            if is_listed && key == "list" {
                let (elements, _) = part.elements("a list");
                let mut places = Places::new(&part);
                for ((at, element), (split, side)) in elements.iter().enumerate().zip(LISTED) {
                    columns[split][side] = Some(places.of_index(at, element));
                }
                continue;
            }
            let column = if is_listed {
                (key == "label").then_some(LABEL)
            } else {
                column(key)
            };
            let Some((split, side)) = column else {
                continue;
            };
            if columns[split][side].is_some() {
                let message = format!(
                    "the key `{key}` stands here a second time, under this or another name"
                );
                return self.errors.push(part.error(message));
            }
            columns[split][side] = Some(part);
        }
        let [train, test] = columns.map(|[inputs, outputs]| self.zipped(inputs, outputs));
        let (Some((train, _)), Some((test, tests_left_out))) = (train, test) else {
            return;
        };
        let task = Task {
            id: id.to_owned(),
            train,
            test,
            tests_left_out,
            ..Task::default()
        };
        if task.pair_count() > 0 || self.errors.len() == errors {
            self.tasks.push(FileTask::of(task));
        }
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
        let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
        for (at, input) in inputs.iter().enumerate() {
            let output = outputs.get(at).map(|output| output.read(OutputSeed));
            let pair = input.read(InputSeed).and_then(|input| {
                let output = output.transpose()?.flatten();
                Ok(Pair::new(input, output))
            });
            match pair {
                Ok(pair) => pairs.push(pair),
                Err(error) => {
                    self.errors.push(error);
                    left_out.push(at);
                }
            }
        }
        Some((pairs, left_out))
    }

    /// The pairs of a list that could be read, and the indices of the others; `None` if it is not a list.
    fn pairs(&mut self, text: &Text<'_>) -> Option<(Vec<Pair>, Vec<usize>)> {
        if kind_of(text.json) == JsonKind::Null {
            return Some((Vec::new(), Vec::new()));
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
        let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
        let mut places = Places::new(text);
        for (at, element) in elements.iter().enumerate() {
            match places.of_index(at, element).read(PairSeed) {
                Ok(pair) => pairs.push(pair),
                Err(error) => {
                    self.errors.push(error);
                    left_out.push(at);
                }
            }
        }
        Some((pairs, left_out))
    }
}

/// Whether this is a list that begins with a string.
fn is_strings(json: &str) -> bool {
    let inner = json.trim_start().strip_prefix('[');
    inner.is_some_and(|inner| inner.trim_start().starts_with('"'))
}

/// The name of a task that does not give its own id.
#[derive(Debug, Clone, Copy)]
enum TaskName<'n> {
    /// The name of its file.
    OfFile(&'n str),
    /// The name of its file with its index.
    Numbered(&'n str),
    /// Its key in an object.
    Key(&'n str),
}

impl<'n> TaskName<'n> {
    fn name(self) -> &'n str {
        match self {
            TaskName::OfFile(name) | TaskName::Numbered(name) | TaskName::Key(name) => name,
        }
    }
}

/// The id that an object gives, if it takes precedence over the name.
fn own_id(entries: &Entries<'_>, id: TaskName<'_>) -> Option<String> {
    let counts = match id {
        TaskName::OfFile(name) => says_little(name),
        TaskName::Numbered(_) => true,
        TaskName::Key(_) => false,
    };
    if !counts {
        return None;
    }
    id_in(entries)
}

/// The id that an object gives, itself or in its metadata.
fn id_in(entries: &Entries<'_>) -> Option<String> {
    let (keys, of_rows) = TaskFile::ID_KEYS.split_at(4);
    let metadata = || {
        let (_, metadata) = entries.iter().find(|(key, _)| key == "metadata")?;
        let (mut inner, _) = entries_of(metadata.get());
        inner.retain(|(key, _)| key != "metadata");
        id_in(&inner)
    };
    let own = id_under(keys, entries).or_else(metadata);
    own.or_else(|| id_under(of_rows, entries))
}

fn id_under(keys: &[&str], entries: &Entries<'_>) -> Option<String> {
    keys.iter().find_map(|key| {
        let (_, value) = entries.iter().find(|(found, _)| found == key)?;
        let id = match serde_json::from_str(value.get()).ok()? {
            serde_json::Value::String(id) => id,
            serde_json::Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let id = bare_id(&id).to_owned();
        let is_id = |c: char| c.is_alphanumeric() || "_-./".contains(c);
        (!id.is_empty() && id.chars().all(is_id)).then_some(id)
    })
}

/// An id without the extension of a file, and one of the ARC data without its folders, as in `training/007bbfb7.json`.
#[must_use]
pub fn bare_id(id: &str) -> &str {
    let id = id.strip_suffix(".json").unwrap_or(id).trim();
    let is_arc_id = |id: &str| {
        let digits = id.bytes().take_while(u8::is_ascii_hexdigit).count();
        digits == 8 && (id.len() == 8 || id[8..].starts_with(['_', '-']))
    };
    match id.rsplit_once('/') {
        Some((_, last)) if is_arc_id(last) => last,
        _ => id,
    }
}

/// The one task in an object, beside other things.
fn wrapped<'e, 'a>(entries: &'e Entries<'a>, depth: usize) -> Option<&'e (String, &'a RawValue)> {
    let holds_task = |(key, value): &&(String, &RawValue)| {
        WRAPPERS.contains(&key.as_str()) && kind_of(value.get()) == JsonKind::Object && {
            let (inner, _) = entries_of(value.get());
            is_task(&inner, depth + 1)
        }
    };
    let mut found = entries.iter().filter(holds_task);
    found
        .next()
        .filter(|_| depth < MAX_DEPTH && found.next().is_none())
}

/// Whether it is a list whose first element is a task.
fn is_list_of_tasks(json: &str, depth: usize) -> bool {
    let first = first_of(json).filter(|_| kind_of(json) == JsonKind::List && depth < MAX_DEPTH);
    first.is_some_and(|first| {
        kind_of(first) == JsonKind::Object && {
            let (inner, _) = entries_of(first);
            is_task(&inner, depth + 1) || wrapped(&inner, depth + 1).is_some()
        }
    })
}

/// The id of the task that a single program in a file gives, whatever the name of the file.
fn said_id(entries: &Entries<'_>, id: TaskName<'_>) -> Option<String> {
    let TaskName::OfFile(name) = id else {
        return None;
    };
    // Other things may have a `name`, too.
    let is_said =
        |key: &str| key == "metadata" || key != "name" && TaskFile::ID_KEYS.contains(&key);
    let mut said = entries.to_vec();
    said.retain(|(key, _)| is_said(key));
    own_id(&said, TaskName::Numbered(name))
}

/// Whether the name of a file is less specific than an id in the task: a number with fewer digits than ids have, or a
/// word such as `task` or `data`, with or without a number.
pub(super) fn says_little(name: &str) -> bool {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = name.len() - word.len();
    let word = word.trim_end_matches(['_', '-']).to_ascii_lowercase();
    match word.as_str() {
        "" => digits < 8,
        "task" | "tasks" | "data" | "example" | "sample" => true,
        _ => false,
    }
}

/// The program in an object.
struct NamedProgram<'a> {
    key: &'static str,
    /// Its text; several, if there is a list of them.
    texts: Vec<String>,
    /// How many texts of the list hold no program.
    without_program: usize,
    value: &'a RawValue,
    /// Other keys with programs.
    others: Vec<&'static str>,
}

/// The program in an object, under the first key that has one.
fn program<'a>(entries: &Entries<'a>) -> Option<NamedProgram<'a>> {
    let found = PROGRAM_KEYS.iter().filter_map(|&wanted| {
        let (_, value) = entries.iter().find(|(key, _)| key == wanted)?;
        let mut texts = texts_under(wanted, value.get());
        if wanted == "program" && texts.is_empty() {
            texts.extend(serde_json::from_str::<String>(value.get()).ok());
        }
        texts.retain(|text| !text.trim().is_empty());
        (!texts.is_empty()).then_some((wanted, texts, *value))
    });
    let mut found: Vec<_> = found.collect();
    // `program` may be the name of one, beside its text.
    let is_program =
        |(key, _, value): &(&str, _, &RawValue)| !texts_under(key, value.get()).is_empty();
    if found.len() > 1 && !is_program(&found[0]) {
        found.remove(0);
    }
    let mut found = found.into_iter();
    let (key, texts, value) = found.next()?;
    Some(NamedProgram {
        key,
        without_program: without_program(value.get(), &texts),
        texts,
        value,
        others: found.map(|(key, ..)| key).collect(),
    })
}

/// The string, if it looks like a program.
fn text_of_program(json: &str) -> Option<String> {
    let text: String = serde_json::from_str(json).ok()?;
    is_program(&text).then_some(text)
}

fn is_program(text: &str) -> bool {
    let mut words = ["def ", "O =", "O=", "= lambda ", "=lambda "].iter();
    words.any(|word| text.contains(word))
}

/// The programs that a string, a list of strings, or a list of the lines of one holds.
fn texts_of_program(json: &str) -> Vec<String> {
    if kind_of(json) != JsonKind::List {
        return text_of_program(json).into_iter().collect();
    }
    let texts: Vec<String> = serde_json::from_str(json).unwrap_or_default();
    let is_line = |text: &String| !text.trim_end_matches('\n').contains('\n');
    let is_part = |text: &String| text.trim_end().ends_with(':') || !is_program(text);
    if texts.iter().all(is_line) && texts.iter().any(is_part) {
        let lines: Vec<_> = texts
            .iter()
            .map(|line| line.trim_end_matches('\n'))
            .collect();
        return Some(lines.join("\n"))
            .filter(|text| is_program(text))
            .into_iter()
            .collect();
    }
    texts.into_iter().filter(|text| is_program(text)).collect()
}

/// The programs under a key.
fn texts_under(key: &str, json: &str) -> Vec<String> {
    if key == MESSAGES {
        return answer_in(json)
            .filter(|text| is_program(text))
            .into_iter()
            .collect();
    }
    texts_of_program(json)
}

/// The last text of the model in a conversation: a list of objects with `role` and `content`, which is a text or a list of
/// parts with a `text`.
fn answer_in(json: &str) -> Option<String> {
    let messages: Vec<serde_json::Value> = serde_json::from_str(json).ok()?;
    let mut messages = messages.iter().rev();
    let answer = messages.find(|message| message["role"] == "assistant")?;
    match &answer["content"] {
        serde_json::Value::Array(parts) => {
            let parts = parts.iter().filter_map(|part| part["text"].as_str());
            Some(parts.collect::<Vec<_>>().join("\n"))
        }
        content => content.as_str().map(ToOwned::to_owned),
    }
}

/// How many texts of a list are no program, if each text is one.
fn without_program(json: &str, programs: &[String]) -> usize {
    let all: Vec<String> = serde_json::from_str(json).unwrap_or_default();
    let is_each = programs.iter().all(|program| all.contains(program));
    if is_each {
        all.len() - programs.len()
    } else {
        0
    }
}

/// Whether it holds programs and nothing else (`only`), or a program among anything else, nested at most this deep.
fn holds_programs(json: &str, only: bool, depth: usize) -> bool {
    let (values, error) = match kind_of(json) {
        JsonKind::Null => return false,
        JsonKind::Other => return text_of_program(json).is_some(),
        JsonKind::List => elements_of(json),
        JsonKind::Object => {
            let (entries, error) = entries_of(json);
            if program(&entries).is_some() {
                return true;
            }
            (entries.into_iter().map(|(_, it)| it).collect(), error)
        }
    };
    let mut inside = values.iter().map(|it| it.get());
    match depth.checked_sub(1) {
        None => false,
        Some(depth) if only => {
            error.is_none()
                && !values.is_empty()
                && inside.all(|it| holds_programs(it, true, depth))
        }
        Some(depth) => inside.any(|it| holds_programs(it, false, depth)),
    }
}

/// Whether a program is where files of programs have one, so that the file counts as such even if it holds other
/// values, too: as a string, in a list of strings, or under its key in an object in such a list or in an object with
/// any keys. Files that have programs elsewhere, such as a conversation or a notebook, are not files of programs.
fn shows_program(json: &str) -> bool {
    let is_shown = |json: &str| {
        let (entries, _) = entries_of(json);
        let named = |(key, _): &&(String, &RawValue)| PROGRAM_KEYS.contains(&key.as_str());
        let mut named = entries.iter().filter(named);
        named.any(|(key, it)| !texts_under(key, it.get()).is_empty())
    };
    match kind_of(json) {
        JsonKind::List => {
            let (elements, _) = elements_of(json);
            let mut elements = elements.iter().map(|it| it.get());
            elements.any(|it| text_of_program(it).is_some() || is_shown(it))
        }
        JsonKind::Object => {
            let (entries, _) = entries_of(json);
            is_shown(json) || entries.iter().any(|(_, it)| is_shown(it.get()))
        }
        JsonKind::Null => false,
        JsonKind::Other => text_of_program(json).is_some(),
    }
}

/// Whether an object has a key that gives the id of a task; then its other keys are not ids.
fn says_id(entries: &Entries<'_>) -> bool {
    let is_id = |(key, value): &(String, &RawValue)| {
        TaskFile::ID_KEYS.contains(&key.as_str()) && text_of_program(value.get()).is_none()
    };
    entries.iter().any(is_id)
}

fn elements_of(json: &str) -> (Vec<&RawValue>, Option<TaskError>) {
    Text::new(json.as_bytes()).map_or_else(|_| Default::default(), |text| text.elements("programs"))
}

fn has_key(entries: &Entries<'_>, wanted: &str) -> bool {
    entries.iter().any(|(key, _)| key == wanted)
}

/// Whether an object has the keys of examples with a program.
fn is_examples(entries: &Entries<'_>) -> bool {
    ["training_examples", "test_examples"]
        .iter()
        .any(|key| has_key(entries, key))
        && ["program", "task_key", "task_id"]
            .iter()
            .any(|key| has_key(entries, key))
}

/// Whether an object is a task, rather than tasks by split or something else.
fn is_task(entries: &Entries<'_>, depth: usize) -> bool {
    let is_split = |value: &RawValue| {
        is_list_of_tasks(value.get(), depth)
            || kind_of(value.get()) == JsonKind::Object && {
                let (inner, _) = entries_of(value.get());
                has_tasks(&inner, depth + 1) || holds_programs(value.get(), true, MAX_DEPTH)
            }
    };
    let mut known = entries
        .iter()
        .filter(|(key, _)| key == "train" || key == "test");
    let is_task = known.next().is_some_and(|(_, value)| !is_split(value));
    is_task
        || is_examples(entries)
        || is_training(entries)
        || is_fewshots(entries)
        || is_example_pairs(entries)
        || is_columns(entries)
}

/// Whether an object has its train pairs under `examples`: objects, or lists of an input and an output.
fn is_example_pairs(entries: &Entries<'_>) -> bool {
    let is_pair_list = |json: &str| {
        let first = first_of(json).filter(|first| kind_of(first) == JsonKind::List);
        first.is_some_and(|pair| {
            let (both, _) = elements_of(pair);
            both.len() == 2 && both.iter().all(|it| is_grid(it.get()))
        })
    };
    let is_it = |(key, value): &(String, &RawValue)| {
        key == "examples" && (is_pairs(value.get()) || is_pair_list(value.get()))
    };
    !has_key(entries, "train") && entries.iter().any(is_it)
}

/// The split (0 is train, 1 is test) and the side (0 is input, 1 is output) of the grids in a column.
type Column = (usize, usize);

/// What the parts of `list` are.
const LISTED: [Column; 3] = [(0, 0), (0, 1), (1, 0)];

/// What `label` is beside `list`.
const LABEL: Column = (1, 1);

/// The column of this name, such as `example_inputs`.
fn column(key: &str) -> Option<Column> {
    let (split, side) = key.rsplit_once('_')?;
    let split = match split {
        "example" | "examples" | "train" | "training" | "demo" | "demonstration" | "fewshot" => 0,
        "question" | "test" | "testing" | "query" => 1,
        _ => return None,
    };
    match side {
        "input" | "inputs" => Some((split, 0)),
        "output" | "outputs" => Some((split, 1)),
        _ => None,
    }
}

/// Whether an object has inputs and outputs in separate lists of grids.
fn is_columns(entries: &Entries<'_>) -> bool {
    let has = |wanted: Column| {
        let mut entries = entries.iter();
        entries.any(|(key, it)| column(key) == Some(wanted) && is_list_of_grids(it.get()))
    };
    let is_known = |key: &str| matches!(key, "train" | "test");
    let has_pairs = entries.iter().any(|(key, _)| is_known(key));
    !has_pairs && (has((0, 0)) && has((0, 1)) || is_listed(entries))
}

/// Whether an object has the inputs, the outputs and the test inputs in a `list`, and the test outputs as `label`.
fn is_listed(entries: &Entries<'_>) -> bool {
    let is_it = |(key, value): &(String, &RawValue)| {
        key == "list" && kind_of(value.get()) == JsonKind::List && {
            let (parts, _) = elements_of(value.get());
            parts.len() == LISTED.len() && parts.iter().all(|it| is_list_of_grids(it.get()))
        }
    };
    has_key(entries, "label") && entries.iter().any(is_it)
}

/// The number of the test input that a row is for.
fn test_index(entries: &Entries<'_>) -> Option<usize> {
    let is_it = |(key, _): &&(String, &RawValue)| TEST_INDEX_KEYS.contains(&key.as_str());
    let (_, value) = entries.iter().find(is_it)?;
    value.get().parse().ok()
}

/// Whether an object holds solutions: lists of grids by task, and not a row that has some of its parts as such.
fn are_solutions(entries: &Entries<'_>, id: TaskName<'_>) -> bool {
    let is_one =
        |(key, it): &(String, &RawValue)| !is_word_of_splits(key) && is_list_of_grids(it.get());
    matches!(id, TaskName::OfFile(_)) && !says_id(entries) && entries.iter().any(is_one)
}

/// Whether an object names its parts `fewshots` and `question`, like rows of data sets.
fn is_fewshots(entries: &Entries<'_>) -> bool {
    let parts = entries.iter().filter(|(key, value)| {
        matches!(key.as_str(), "fewshots" | "question") && is_pairs(value.get())
    });
    parts.count() == 2
}

/// Whether an object names its parts `training` and `test` or `testing`.
fn is_training(entries: &Entries<'_>) -> bool {
    let is_known = |key: &str| matches!(key, "training" | "test" | "testing");
    let mut lists = entries.iter().filter(|(_, value)| is_pairs(value.get()));
    let is_it = |(key, value): &(String, &RawValue)| {
        let is_list = kind_of(value.get()) == JsonKind::List;
        key == "training" && is_list && !is_list_of_tasks(value.get(), 0)
    };
    entries.iter().any(is_it) && lists.all(|(key, _)| is_known(key))
}

/// Whether an object holds tasks, or lists of pairs, by id.
fn has_tasks(entries: &Entries<'_>, depth: usize) -> bool {
    if depth >= MAX_DEPTH {
        return false;
    }
    // Other names of splits are not ids; nor are the keys of an object that also holds a number or a string.
    let is_bare = |(_, it): &(String, &RawValue)| {
        !matches!(kind_of(it.get()), JsonKind::List | JsonKind::Object)
    };
    let mut lists = entries.iter().filter(|(_, it)| is_pairs(it.get()));
    let has_lists = lists.any(|(key, _)| !is_word_of_splits(key)) && !entries.iter().any(is_bare);
    has_lists || entries.iter().any(|(_, it)| holds_tasks(it.get(), depth))
}

/// Whether it is a task, tasks by id, or a list of tasks.
fn holds_tasks(json: &str, depth: usize) -> bool {
    match kind_of(json) {
        JsonKind::List => is_list_of_tasks(json, depth),
        JsonKind::Object => {
            let (inner, _) = entries_of(json);
            is_task(&inner, depth + 1) || has_tasks(&inner, depth + 1)
        }
        JsonKind::Null | JsonKind::Other => false,
    }
}

/// Whether a key stands above tasks, rather than being the id of one.
fn is_wrapper(key: &str) -> bool {
    let one = key.strip_suffix('s').unwrap_or(key);
    WRAPPERS.contains(&one) || key == "challenges" || is_word_of_splits(key)
}

pub(super) fn entries_of(json: &str) -> (Vec<(String, &RawValue)>, Option<TaskError>) {
    Text::new(json.as_bytes()).map_or_else(|_| Default::default(), |text| text.entries(TASK))
}

/// Whether a key consists of words that name parts of a task.
fn is_word_of_splits(key: &str) -> bool {
    const WORDS: [&str; 34] = [
        "arc",
        "case",
        "cases",
        "data",
        "demo",
        "demonstration",
        "demonstrations",
        "demos",
        "eval",
        "evaluation",
        "example",
        "examples",
        "gen",
        "input",
        "inputs",
        "label",
        "list",
        "output",
        "outputs",
        "pair",
        "pairs",
        "problem",
        "problems",
        "queries",
        "query",
        "question",
        "questions",
        "sample",
        "samples",
        "support",
        "test",
        "train",
        "training",
        "validation",
    ];
    let mut words = key.split(['_', '-', ' ']);
    words.all(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// Whether it is a list whose first element is an object with a key of a pair.
fn is_pairs(json: &str) -> bool {
    has_first(json, |key| key == "input" || key == "output")
}

/// Whether it is a list whose first element is an object of attempts.
fn attempts(json: &str) -> bool {
    has_first(json, |key| key.starts_with("attempt_"))
}

fn has_first(json: &str, is_wanted: impl Fn(&str) -> bool) -> bool {
    kind_of(json) == JsonKind::List
        && first_of(json).is_some_and(|first| {
            kind_of(first) == JsonKind::Object && {
                let (entries, _) = entries_of(first);
                entries.iter().any(|(key, _)| is_wanted(key))
            }
        })
}

/// Whether it is a list of lists of lists.
fn is_list_of_grids(json: &str) -> bool {
    nesting(json) >= 3
}

/// Whether it is a list of lists of anything else.
fn is_grid(json: &str) -> bool {
    nesting(json) == 2
}

/// How many lists begin a value, each as the first element of the one before; four at most.
fn nesting(mut json: &str) -> usize {
    let mut depth = 0;
    while depth < 4 && kind_of(json) == JsonKind::List {
        depth += 1;
        match first_of(json) {
            Some(first) => json = first,
            None => break,
        }
    }
    depth
}

/// Describes an object: what it seems to be, and its keys.
pub(super) fn described(entries: &Entries<'_>) -> String {
    if entries.is_empty() {
        return "an empty object".to_owned();
    }
    match known_as(entries) {
        Some(seems) => format!("{seems}, with {}", keys(entries)),
        None => keys(entries),
    }
}

/// What an object seems to be, judging by its keys, if that is known.
fn known_as(entries: &Entries<'_>) -> Option<&'static str> {
    let has = |key| has_key(entries, key);
    if has("input") && (has("output") || entries.len() == 1) {
        Some("a pair alone")
    } else if has("engine_version") && has("results") {
        Some("a document of a run")
    } else if has("nbformat") && has("cells") {
        Some("a notebook")
    } else if has("compilerOptions") {
        Some("a tsconfig.json")
    } else if has("version") && (has("name") || has("lockfileVersion")) {
        Some("a package.json")
    } else {
        None
    }
}

/// The keys of an object, as an error lists them.
fn keys(entries: &Entries<'_>) -> String {
    let told: Vec<_> = entries
        .iter()
        .take(KEYS_TOLD)
        .map(|(key, _)| format!("`{}`", key.chars().take(40).collect::<String>()))
        .collect();
    let what = if entries.len() == 1 { "key" } else { "keys" };
    let more = match entries.len().saturating_sub(KEYS_TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if told.is_empty() {
        "no keys".to_owned()
    } else {
        format!("the {what} {}{more}", told.join(", "))
    }
}

#[cfg(test)]
mod tests;
