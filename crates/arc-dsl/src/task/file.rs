//! [`TaskFile`]: the contents of a JSON file, in any of the common layouts.
//!
//! A file is recognised by its structure, not by its name: one task; a bare list of pairs; tasks or such lists by id,
//! also by split; a list, or lines, of tasks that name their ids; solutions; a submission; programs. Everything that
//! could be read is kept, whatever is wrong with the rest: a bad cell costs the pair, a bad task the task.

use std::collections::HashSet;

use serde_json::Value;
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

/// The maximum nesting of tasks by id in objects by split.
const MAX_DEPTH: usize = 3;

/// The keys under which a row gives the number of its test input.
const TEST_INDEX_KEYS: &str = "test_index pair_index question_index test_input_index test_case_index test_idx pair_idx \
     question_idx test_input_idx test_case test_id";

/// The keys under which an object beside other things holds one task.
const WRAPPERS: &str = "task data problem puzzle item content row result";

/// The one of them under which the server of a hub for data sets has a row.
const ROW: &str = "row";

/// The maximum number of keys that an error names.
const KEYS_TOLD: usize = 6;

/// The words with which a key for the text of a program ends, in order of preference: `code`, `generated_code`, `codes`.
const PROGRAM_WORDS: &str = "program source code function solver script dsl solution response completion generation \
     prediction answer output text content result choice candidate sample assistant chosen target message conversation";

/// From which of them on it is what a language model has answered.
const FIRST_ANSWER: usize = 7;

/// The words of keys for what the model was asked or thought.
const NO_ANSWER: &str = "prompt system user input instruction question rejected reasoning";

/// The keys under which answers of models are in what services return, and in conversations.
const ANSWER_PARTS: &str = "message content text parts value body choices candidates outputs output response result completion tool_calls \
     function arguments";

const TASK: &str = "a task: an object with the keys `train` and `test`";

/// What an error expects in place of [`TASK`] in a file of programs.
const PROGRAM: &str = "a program: the key `program` (or `code`, `solution`, `response`, ..) with its text, beside `task_id`";

type Entries<'a> = [(String, &'a RawValue)];

impl TaskFile {
    /// The keys under which a task may give its id, in order of preference; the last ones count only if its metadata have
    /// none of the others.
    pub const ID_KEYS: [&str; 13] = [
        "task_id",
        "taskId",
        "task_key",
        "puzzle_id",
        "problem_id",
        // Beside the `id` of a request.
        "custom_id",
        "id",
        "task",
        "task_name",
        "name",
        "uid",
        "question_id",
        "index",
    ];

    /// Reads the text of a file. `name` is its file name without an extension. It is the id of the task if the file
    /// holds one task, unless the name is just a number or a generic word and the task gives its own id
    /// (`says_little`).
    #[must_use]
    pub fn read(name: &str, text: &[u8]) -> Self {
        let mut file = Self::default();
        // A model's answer may be JSON.
        let is_kept = |key: &str, text: &str| {
            (rank_of(key).is_some() || key == "arguments")
                && is_program(text)
                && !text.contains("\"role\"")
        };
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
        for (at, error) in self.of_programs.drain(..) {
            self.errors[at] = error;
        }
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
            && let Some(rows) = rows_of_columns(&entries)
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
            self.object(&part, TaskName::Key(name), depth + 1);
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
        } else if depth == 0
            && let Some((key, rows)) = rows_under(&entries)
        {
            self.each_of(&Places::new(text).of_key(key, rows), id);
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
            let ranked = entries.iter().filter(|(key, _)| rank_of(key).is_some());
            let best = ranked.min_by_key(|(key, _)| rank_of(key));
            if let Some((key, value)) = best.filter(|_| own_id.is_some()) {
                let error = no_text(&Places::new(text).of_key(key, value));
                self.of_programs.push((self.errors.len(), error));
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
            is_wrapper(id) && program(inner).is_none() && !inner.is_empty()
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

/// An error about the value of a key for the text of a program.
fn no_text(text: &Text<'_>) -> TaskError {
    let found = match kind_of(text.json) {
        JsonKind::Null => "null",
        JsonKind::List => "a list",
        JsonKind::Object => "an object",
        JsonKind::Other => match serde_json::from_str::<String>(text.json) {
            Ok(text) if text.trim().is_empty() => "an empty text",
            Ok(_) => &format!("{} without `def` and `O =`", shortened(text.json)),
            Err(_) => &shortened(text.json),
        },
    };
    text.error(format!("expected the text of a program, found {found}"))
}

/// The rows of a table that is given by its columns, which are lists or objects with the same keys, as JSON.
fn rows_of_columns(entries: &Entries<'_>) -> Option<Vec<String>> {
    let is_id = |key: &str| TaskFile::ID_KEYS.contains(&key);
    let is_column = |it: &RawValue| matches!(kind_of(it.get()), JsonKind::List | JsonKind::Object);
    let has_ids = entries.iter().any(|(key, it)| is_id(key) && is_column(it));
    // Most objects are seen not to be a table by their first value.
    let (_, first) = entries.first()?;
    let begins = match kind_of(first.get()) {
        JsonKind::Object => cells(first)
            .first()
            .is_some_and(|(_, it)| is_pairs(it.get())),
        _ => first_of(first.get()).is_some_and(is_pairs),
    };
    let is_known = |key: &str| key == "train" || column(key).is_some() || rank_of(key).is_some();
    if entries.len() < 2 || !(has_ids || begins) || !entries.iter().any(|(key, _)| is_known(key)) {
        return None;
    }
    let columns: Vec<_> = entries.iter().map(|(_, column)| cells(column)).collect();
    let first = columns.first().filter(|cells| !cells.is_empty())?;
    let is_like_first = |cells: &Vec<(String, &RawValue)>| {
        let keys = cells.iter().map(|(key, _)| key);
        keys.eq(first.iter().map(|(key, _)| key))
    };
    let row = |(at, (id, _)): (usize, &(String, &RawValue))| {
        let cells = entries.iter().zip(&columns).map(|((key, _), cells)| {
            // The number of the line is that of the row.
            let cell = cells[at].1.get().replace(['\n', '\r'], " ");
            format!("{}:{cell}", Value::from(key.as_str()))
        });
        let id = (!has_ids).then(|| format!("\"id\":{}", Value::from(id.as_str())));
        format!("{{{}}}", cells.chain(id).collect::<Vec<_>>().join(","))
    };
    let are_rows = columns.iter().all(is_like_first);
    are_rows.then(|| first.iter().enumerate().map(row).collect())
}

/// The cells of a column with their keys, or their numbers.
fn cells(column: &RawValue) -> Vec<(String, &RawValue)> {
    if is_object(column) {
        return entries_of(column.get()).0;
    }
    let cells = elements_of(column.get()).0.into_iter().enumerate();
    cells.map(|(at, cell)| (at.to_string(), cell)).collect()
}

/// Whether a program without an id is what an object is about.
fn is_alone(program: &NamedProgram<'_>, entries: &Entries<'_>) -> bool {
    program.has_text() && known_as(entries).is_none() && rows_under(entries).is_none()
}

/// The rows of programs that stand in a file beside other things; a document of a run has none.
fn rows_under<'e, 'a>(entries: &'e Entries<'a>) -> Option<&'e (String, &'a RawValue)> {
    if known_as(entries).is_some() {
        return None;
    }
    entries.iter().find(|(key, it)| {
        let first = first_of(it.get()).filter(|_| kind_of(it.get()) == JsonKind::List);
        let (row, _) = entries_of(first.unwrap_or_default());
        (is_wrapper(key) || rank_of(key).is_some())
            && (row.iter().any(|(key, it)| key == ROW && is_object(it))
                || says_id(&row) && program(&row).is_some())
    })
}

fn is_object(json: &RawValue) -> bool {
    kind_of(json.get()) == JsonKind::Object
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
    let (keys, of_rows) = TaskFile::ID_KEYS.split_at(11);
    let metadata = || {
        let (_, metadata) = entries.iter().find(|(key, _)| is_metadata(key))?;
        let (mut inner, _) = entries_of(metadata.get());
        inner.retain(|(key, _)| !is_metadata(key));
        id_in(&inner)
    };
    let own = id_under(keys, entries).or_else(metadata);
    own.or_else(|| id_under(of_rows, entries))
}

fn is_metadata(key: &str) -> bool {
    matches!(key, "metadata" | "extra_info")
}

fn id_under(keys: &[&str], entries: &Entries<'_>) -> Option<String> {
    keys.iter().find_map(|key| {
        let is_it = |(found, it): &&(String, &RawValue)| {
            found == key && kind_of(it.get()) == JsonKind::Other
        };
        let (_, value) = entries.iter().find(is_it)?;
        let id = match serde_json::from_str(value.get()).ok()? {
            Value::String(id) => id,
            Value::Number(number) => number.to_string(),
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
        place_in(WRAPPERS, key).is_some() && is_object(value) && {
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
    let is_said = |key: &str| is_metadata(key) || key != "name" && TaskFile::ID_KEYS.contains(&key);
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
    key: String,
    /// Its text; several, if there is a list of them.
    texts: Vec<String>,
    /// How many texts of the list hold no program.
    without_program: usize,
    value: &'a RawValue,
    /// Other keys with programs.
    others: Vec<String>,
}

impl NamedProgram<'_> {
    /// Whether it is not just the name of one.
    fn has_text(&self) -> bool {
        self.texts.iter().any(|text| is_program(text))
    }
}

/// The place of a word in a list, in capitals or not.
fn place_in(words: &str, wanted: &str) -> Option<usize> {
    words
        .split(' ')
        .position(|word| word.eq_ignore_ascii_case(wanted))
}

/// The place in the order of preference of a key for the text of a program: of the word that it ends with.
fn rank_of(key: &str) -> Option<usize> {
    let mut words = key.rsplit(['_', '-', ' ']);
    if words
        .clone()
        .any(|word| place_in(NO_ANSWER, word).is_some())
    {
        return None;
    }
    let last = words.next()?;
    let last = last.strip_suffix(['s', 'S']).unwrap_or(last);
    place_in(PROGRAM_WORDS, last)
}

/// The program in an object, under the first key that has one. A part of a conversation is none.
fn program<'a>(entries: &Entries<'a>) -> Option<NamedProgram<'a>> {
    if has_key(entries, "role") || has_key(entries, "from") {
        return None;
    }
    let found = entries.iter().filter_map(|(key, value)| {
        let rank = rank_of(key)?;
        let (mut texts, without_program) = texts_under(rank, value.get());
        if key == "program" && texts.is_empty() {
            texts.extend(serde_json::from_str::<String>(value.get()).ok());
        }
        texts.retain(|text| !text.trim().is_empty());
        let (key, others) = (key.clone(), Vec::new());
        (!texts.is_empty()).then_some((
            rank,
            NamedProgram {
                key,
                texts,
                without_program,
                value,
                others,
            },
        ))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(rank, _)| *rank);
    // `program` may be the name of one, beside its text.
    if found.len() > 1 && !found[0].1.has_text() {
        found.remove(0);
    }
    let mut found = found.into_iter().map(|(_, named)| named);
    let first = found.next()?;
    let others = found.map(|it| it.key).collect();
    Some(NamedProgram { others, ..first })
}

/// The text of a program: a string, or the answer in a conversation.
fn text_of_program(json: &str) -> Option<String> {
    let first = first_of(json).unwrap_or_default();
    let text = match kind_of(json) {
        JsonKind::Other => serde_json::from_str(json).ok(),
        JsonKind::List if is_program(json) && has_key(&entries_of(first).0, "role") => {
            answers(&serde_json::from_str(json).ok()?).pop()
        }
        _ => None,
    };
    text.filter(|text: &String| is_program(text))
}

fn is_program(text: &str) -> bool {
    let mut words = ["def ", "O =", "O=", "= lambda ", "=lambda "].iter();
    words.any(|word| text.contains(word))
}

/// The programs under a key of this rank, and how many texts beside them are none: those in a string, in a list of
/// strings, or of the lines of one, and in answers.
fn texts_under(rank: usize, json: &str) -> (Vec<String>, usize) {
    if !is_program(json) {
        return Default::default();
    }
    let texts = match kind_of(json) {
        JsonKind::Null => Vec::new(),
        JsonKind::Other => serde_json::from_str(json).into_iter().collect(),
        JsonKind::List | JsonKind::Object => match serde_json::from_str::<Vec<String>>(json) {
            Ok(texts) => texts,
            Err(_) if rank < FIRST_ANSWER => Vec::new(),
            Err(_) => serde_json::from_str(json).map_or_else(|_| Vec::new(), |it| answers(&it)),
        },
    };
    let is_line = |text: &String| !text.trim_end_matches('\n').contains('\n');
    let is_part = |text: &String| text.trim_end().ends_with(':') || !is_program(text);
    if kind_of(json) == JsonKind::List && texts.iter().all(is_line) && texts.iter().any(is_part) {
        let lines: Vec<_> = texts
            .iter()
            .map(|line| line.trim_end_matches('\n'))
            .collect();
        let text = Some(lines.join("\n")).filter(|text| is_program(text));
        return (text.into_iter().collect(), 0);
    }
    let count = texts.len();
    let programs: Vec<_> = texts.into_iter().filter(|text| is_program(text)).collect();
    let without = count - programs.len();
    (programs, without)
}

/// The answers of a model in a value: a text, a list of them, a conversation, of which the model's last message counts, or
/// what services return, at any depth.
fn answers(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            let role = |part: &Value| {
                let role = part.get("role").or_else(|| part.get("from"))?;
                role.as_str().map(ToOwned::to_owned)
            };
            let is_model = |part: &&Value| {
                matches!(role(part).as_deref(), Some("assistant" | "model" | "gpt"))
            };
            if parts.iter().any(|part| role(part).is_some()) {
                let last = parts.iter().rfind(is_model);
                return last.map(answers).unwrap_or_default();
            }
            parts.iter().flat_map(answers).collect()
        }
        Value::Object(_) => {
            let within = |key: &str| {
                let texts = answers(value.get(key)?);
                // One message may have several parts.
                let is_one = matches!(key, "content" | "parts") && texts.len() > 1;
                Some(if is_one {
                    vec![texts.join("\n")]
                } else {
                    texts
                })
            };
            let mut texts = ANSWER_PARTS.split(' ').filter_map(within);
            texts.find(|texts| !texts.is_empty()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Whether it holds programs and nothing else (`only`), or a program among anything else, nested at most this deep.
fn holds_programs(json: &str, only: bool, depth: usize) -> bool {
    if text_of_program(json).is_some() {
        return true;
    }
    let (values, error) = match kind_of(json) {
        JsonKind::Null | JsonKind::Other => return false,
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
    let is_shown = |json: &str| program(&entries_of(json).0).is_some_and(|it| it.has_text());
    let is_text = |json: &str| text_of_program(json).is_some();
    is_text(json)
        || match kind_of(json) {
            JsonKind::List => {
                let (elements, _) = elements_of(json);
                let mut elements = elements.iter().map(|it| it.get());
                elements.any(|it| is_text(it) || is_shown(it))
            }
            JsonKind::Object => {
                let (entries, _) = entries_of(json);
                is_shown(json) || entries.iter().any(|(_, it)| is_shown(it.get()))
            }
            JsonKind::Null | JsonKind::Other => false,
        }
}

/// Whether an object has a key that gives the id of a task; then its other keys are not ids.
fn says_id(entries: &Entries<'_>) -> bool {
    let is_id = |(key, value): &(String, &RawValue)| {
        TaskFile::ID_KEYS.contains(&key.as_str())
            && !matches!(kind_of(value.get()), JsonKind::List | JsonKind::Object)
            && text_of_program(value.get()).is_none()
    };
    entries.iter().any(is_id)
}

fn elements_of(json: &str) -> (Vec<&RawValue>, Option<TaskError>) {
    Text::new(json.as_bytes()).map_or_else(|_| Default::default(), |text| text.elements("programs"))
}

pub(super) fn has_key(entries: &Entries<'_>, wanted: &str) -> bool {
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
    Some((split, side_of(side)?))
}

fn side_of(key: &str) -> Option<usize> {
    match key {
        "input" | "inputs" => Some(0),
        "output" | "outputs" => Some(1),
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
    let is_it = |(key, _): &&(String, &RawValue)| place_in(TEST_INDEX_KEYS, key).is_some();
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
    place_in(WRAPPERS, one).is_some() || key == "challenges" || is_word_of_splits(key)
}

pub(super) fn entries_of(json: &str) -> (Vec<(String, &RawValue)>, Option<TaskError>) {
    Text::new(json.as_bytes()).map_or_else(|_| Default::default(), |text| text.entries(TASK))
}

/// Whether a key consists of words that name parts of a task.
fn is_word_of_splits(key: &str) -> bool {
    const WORDS: &str = "arc case cases data demo demonstration demonstrations demos eval evaluation example examples gen \
         input inputs label list output outputs pair pairs problem problems queries query question questions sample \
         samples support test train training validation";
    let mut words = key.split(['_', '-', ' ']);
    words.all(|word| place_in(WORDS, word).is_some())
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
pub(super) fn is_list_of_grids(json: &str) -> bool {
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
