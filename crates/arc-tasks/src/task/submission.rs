//! [`SubmissionFile`]: the attempts for test inputs, in the format of competitions.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use arc_dsl::Grid;
use arc_text::misspelt;
use serde_json::value::RawValue;

use super::MAX_TESTS;
use super::error::TaskError;
use super::file::bare_id;
use super::seeds::InputSeed;
use super::structure::{Entries, described, entries_of, has_key, is_list_of_grids};
use super::text::{JsonKind, Places, Text, kind_of, shortened};

/// The attempts of a file, and the errors in it.
#[derive(Debug, Clone, Default)]
pub struct SubmissionFile {
    /// The tasks, in the order of the file.
    pub tasks: Vec<SubmittedTask>,
    /// Values that are not attempts in places of attempts, or text that is not a submission.
    pub errors: Vec<TaskError>,
    /// Attempts that are missing, `null` or `[]`.
    pub missing: Vec<TaskError>,
    /// The first attempt beyond the second of a test input. Such attempts do not count.
    pub extra: Option<TaskError>,
    /// What is odd but not an error: test inputs that are known by their place only.
    pub notes: Vec<TaskError>,
    /// The first place where the layout is not that of competitions but of another program.
    pub layout: Option<TaskError>,
    /// Whether no attempts were found where attempts should be; then the errors say what was found.
    pub is_foreign: bool,
    /// Whether there is an attempt, valid or not.
    has_attempts: bool,
}

/// The attempts submitted for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedTask {
    /// The id.
    pub task: String,
    /// The line of the entry, counted from 1.
    pub line: usize,
    /// The column, in bytes, counted from 1.
    pub column: usize,
    /// For each test input, the attempts that are grids.
    pub tests: Vec<Vec<SubmittedGrid>>,
    /// Whether the attempts say in `metadata.pair_index` which test input they are for.
    pub is_indexed: bool,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedGrid {
    /// The grid.
    pub grid: Grid,
    /// The line of the grid, counted from 1.
    pub line: usize,
    /// The column, in bytes, counted from 1.
    pub column: usize,
    /// The path to it, such as `007bbfb7[0].attempt_1`.
    pub path: String,
}

/// The keys of the attempts for a test input.
const ATTEMPTS: [&str; 2] = ["attempt_1", "attempt_2"];

/// The keys of the number of the test input that attempts are for.
const INDEX_KEYS: [&str; 2] = ["pair_index", "test_index"];

const TESTS: &str =
    "a list that holds for each test input an object with `attempt_1` and `attempt_2`";

const SUBMISSION: &str = "a submission: an object that holds for each task a list of attempts";

/// An attempt, with what it says about its test input.
struct Attempt {
    /// Its index in [`ATTEMPTS`].
    number: usize,
    /// `None` if it is no answer, or no grid.
    grid: Option<SubmittedGrid>,
    /// The test input that it is for.
    test: Option<usize>,
    /// The task that it is for, if its metadata say so.
    task: Option<String>,
}

impl SubmissionFile {
    /// Reads the text of a file: attempts by task, or those of a single task, whose id is then `name`.
    #[must_use]
    pub fn read(name: &str, text: &[u8]) -> Self {
        let mut file = Self::default();
        let text = match Text::new(text) {
            Ok(text) => text,
            Err(error) => {
                file.errors.push(error);
                return file;
            }
        };
        if kind_of(text.json) == JsonKind::List {
            file.other_layout(&text, "the attempts of one task");
            file.task(&text, name);
            file.is_foreign &= !file.has_attempts;
            if file.is_foreign && file.errors.is_empty() {
                let (elements, _) = text.elements(TESTS);
                let found = elements.first().map_or(String::new(), |first| {
                    let keys = described(&entries_of(first.get()).0);
                    format!(", found objects without any `attempt_1`: {keys}")
                });
                file.errors
                    .push(text.error(format!("expected {SUBMISSION}{found}")));
            }
            return file;
        }
        let (entries, broken) = text.entries(SUBMISSION);
        let is_id = |(key, value): &(String, &RawValue)| {
            key == "task_id" && kind_of(value.get()) == JsonKind::Other
        };
        let is_row = entries.iter().any(is_id);
        if is_row || broken.is_some() && text.lines().is_some() {
            let found = described(&entries);
            let message = format!("expected {SUBMISSION}, found a row of a table, with {found}");
            file.errors.push(text.error(message));
            file.is_foreign = true;
            return file;
        }
        if broken.is_none() && are_tests(&entries) {
            file.other_layout(&text, "the attempts of one task");
            file.task(&text, name);
            return file;
        }
        let mut seen = HashSet::new();
        let mut places = Places::new(&text);
        for (id, value) in &entries {
            let part = places.of_key(id, value).of_task(id);
            if seen.insert(id) {
                file.task(&part, id);
            } else {
                let message = "the id stands here a second time: expected each once";
                file.errors.push(part.error(message));
            }
        }
        file.is_foreign &= !file.has_attempts && broken.is_none();
        if file.is_foreign {
            let any = |is: &dyn Fn(&str) -> bool| entries.iter().any(|(_, it)| is(it.get()));
            let has = |wanted: &str, json: &str| has_key(&entries_of(json).0, wanted);
            let found = if has_key(&entries, "train") {
                "a task"
            } else if any(&|it| has("train", it)) {
                "tasks"
            } else if any(&|it| has(ATTEMPTS[0], it)) {
                "attempts in objects by task: expected them in lists, for each test input one"
            } else if any(&is_list_of_grids) {
                "lists of grids, as solutions are"
            } else if any(&|it| kind_of(it) == JsonKind::List) {
                "objects without any `attempt_1`"
            } else {
                &*described(&entries)
            };
            let error = text.error(format!("expected {SUBMISSION}, found {found}"));
            file = Self {
                errors: vec![error],
                is_foreign: true,
                ..Self::default()
            };
        }
        file.errors.extend(broken);
        file
    }

    fn task(&mut self, text: &Text<'_>, id: &str) {
        // The place of each element, by its index or its key.
        let mut elements = Vec::new();
        let mut places = Places::new(text);
        let entries = match kind_of(text.json) {
            JsonKind::Object => text.entries(TESTS).0,
            _ => Vec::new(),
        };
        if are_tests(&entries) {
            self.other_layout(text, "test inputs by their numbers");
            let numbers = entries.iter().filter_map(|(key, _)| key.parse().ok());
            let numbers: BTreeSet<usize> = numbers.collect();
            let is_from_one = numbers.iter().copied().eq(1..=entries.len());
            if is_from_one {
                let message = "test inputs are counted from 0: as there is no 0, `1` is taken for the first one";
                self.notes.push(text.error(message));
            }
            for (key, value) in &entries {
                let place = key.parse().unwrap_or(0_usize);
                elements.push((place - usize::from(is_from_one), places.of_key(key, value)));
            }
        } else {
            let (found, broken) = text.elements(TESTS);
            if let Some(error) = broken {
                self.is_foreign = true;
                return self.errors.push(error);
            }
            let found = found.iter().enumerate();
            elements.extend(found.map(|(at, element)| (at, places.of_index(at, element))));
        }
        let read: Vec<_> = elements
            .iter()
            .map(|(place, element)| (*place, element, self.test(element)))
            .collect();
        let named = read.iter().find_map(|(_, element, attempts)| {
            let mut named = attempts.iter().filter_map(|it| it.task.as_deref());
            Some((element, named.find(|it| bare_id(it) != bare_id(id))?))
        });
        if let Some((element, other)) = named {
            let message = format!(
                "`metadata.task_id` is `{other}`, but these are taken for attempts of `{id}`"
            );
            self.errors.push(element.error(message));
        }
        let count = read.iter().map(|(place, ..)| place + 1).max();
        let (tests, is_indexed) = self.placed(text, count.unwrap_or_default(), read);
        self.tasks.push(SubmittedTask {
            task: id.to_owned(),
            line: text.line,
            column: text.column,
            tests,
            is_indexed,
        });
    }

    /// The attempts of each test input. `metadata.pair_index` says which it is; an element without one is for the test
    /// input of its place, unless other attempts are for that.
    fn placed(
        &mut self,
        text: &Text<'_>,
        count: usize,
        elements: Vec<(usize, &Text<'_>, Vec<Attempt>)>,
    ) -> (Vec<Vec<SubmittedGrid>>, bool) {
        let said = |attempts: &[Attempt]| attempts.iter().find_map(|it| it.test);
        let is_indexed = elements.iter().any(|(.., it)| said(it).is_some());
        // An index may be `null` everywhere.
        let has_key = |element: &Text<'_>| INDEX_KEYS.iter().any(|key| element.json.contains(key));
        let claimed: HashSet<_> = elements.iter().filter_map(|(.., it)| said(it)).collect();
        let mut tests: BTreeMap<usize, [Option<Attempt>; 2]> = BTreeMap::new();
        for (place, element, attempts) in elements {
            let index = said(&attempts);
            if index.is_none() && (is_indexed || has_key(element)) {
                if attempts.iter().all(|attempt| attempt.grid.is_none()) {
                    continue;
                }
                if claimed.contains(&place) {
                    let message = format!(
                        "no `pair_index` says which test input this is for, and other attempts are for test \
                         input {place}: it is left out"
                    );
                    self.errors.push(element.error(message));
                    continue;
                }
                let message =
                    format!("no `pair_index`: by its place it is taken for test input {place}");
                self.notes.push(element.error(message));
            }
            let mut is_told = false;
            for attempt in attempts {
                let test = attempt.test.or(index).unwrap_or(place);
                let slot = &mut tests.entry(test).or_default()[attempt.number];
                if slot.is_none() {
                    *slot = Some(attempt);
                } else if !is_told {
                    let message = format!(
                        "test input {test} has attempts in two places: the first ones are used"
                    );
                    self.errors.push(element.error(message));
                    is_told = true;
                }
            }
        }
        if is_indexed {
            // Whether an index beyond these is that of a test input, the task knows.
            let lacks = |at: &usize| !tests.contains_key(at);
            let lacking: Vec<_> = (0..count).filter(lacks).map(|at| at.to_string()).collect();
            if !lacking.is_empty() {
                let message = format!(
                    "no attempts for test input {}: it counts as wrong",
                    lacking.join(", ")
                );
                self.missing.push(text.error(message));
            }
        }
        let last = tests.keys().next_back().map_or(0, |last| last + 1);
        let count = count.max(last);
        let of_test = |at| tests.remove(&at).unwrap_or_default();
        let tests = (0..count).map(of_test);
        let grids = |attempts: [Option<Attempt>; 2]| {
            let attempts = attempts.into_iter().flatten();
            attempts.filter_map(|attempt| attempt.grid).collect()
        };
        let tests = tests.map(grids);
        (tests.collect(), is_indexed)
    }

    fn test(&mut self, text: &Text<'_>) -> Vec<Attempt> {
        let (entries, broken) = text.entries("an object with `attempt_1` and `attempt_2`");
        if let Some(error) = broken {
            self.is_foreign = true;
            self.errors.push(error);
            return Vec::new();
        }
        let has_attempts = entries.iter().any(is_attempt);
        self.has_attempts |= has_attempts;
        self.is_foreign |= !has_attempts && !entries.is_empty();
        let mut found = Vec::new();
        let index = match pair_index(text) {
            Ok(index) => index,
            Err(error) => {
                self.errors.push(error);
                return Vec::new();
            }
        };
        let mut places = Places::new(text);
        let has = |wanted: &&str| entries.iter().any(|(key, _)| key == wanted);
        for (key, value) in &entries {
            let part = places.of_key(key, value);
            if let Some(number) = ATTEMPTS.iter().position(|known| known == key) {
                let attempt = self.attempt(&part, number);
                found.extend(attempt.map(|attempt| Attempt {
                    test: attempt.test.or(index),
                    ..attempt
                }));
            } else if !key.starts_with("attempt_") || is_no_answer(part.json) {
            } else if !ATTEMPTS.iter().all(has) {
                let message = "expected `attempt_1` and `attempt_2` before another attempt";
                self.errors.push(part.error(message));
            } else {
                self.extra.get_or_insert_with(|| {
                    part.error(
                        "more attempts than `attempt_1` and `attempt_2`: these two count, here and in all of \
                         the file",
                    )
                });
            }
        }
        for key in ATTEMPTS {
            if !has(&key) {
                let others = entries.iter().filter(|it| !is_attempt(it));
                let found = misspelt(key, others.map(|(key, _)| key.as_str()));
                let found = found.map_or(String::new(), |found| format!(", found `{found}`"));
                let message = format!("no `{key}`{found}: it counts as wrong");
                self.missing.push(text.error(message));
            }
        }
        found
    }

    /// An attempt: a grid, or an object that has it as `answer`.
    fn attempt(&mut self, text: &Text<'_>, number: usize) -> Option<Attempt> {
        let (mut test, mut task) = (Ok(None), None);
        let mut grid = None;
        if kind_of(text.json) == JsonKind::Object {
            test = pair_index(text);
            self.other_layout(text, "an object in place of a grid");
            let (entries, _) = text.entries("a grid");
            let mut places = Places::new(text);
            for (key, value) in &entries {
                let part = places.of_key(key, value);
                match key.as_str() {
                    "answer" => grid = Some(part),
                    "metadata" if kind_of(part.json) == JsonKind::Object && test == Ok(None) => {
                        test = pair_index(&part);
                        let said = entries_of(part.json).0;
                        let said = said.iter().find(|(key, _)| key == "task_id");
                        task = said.and_then(|(_, id)| serde_json::from_str(id.get()).ok());
                    }
                    _ => {}
                }
            }
        }
        let grid = self.grid(grid.as_ref().unwrap_or(text));
        match test {
            Ok(test) => Some(Attempt {
                number,
                grid,
                test,
                task,
            }),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// Records that a competition does not take the layout of this place.
    fn other_layout(&mut self, text: &Text<'_>, found: &str) {
        self.layout.get_or_insert_with(|| {
            let expected = r#"`{ID: [{"attempt_1": grid, "attempt_2": grid}, ..], ..}`"#;
            text.error(format!(
                "expected {expected}, as competitions have it, found {found}"
            ))
        });
    }

    fn grid(&mut self, text: &Text<'_>) -> Option<SubmittedGrid> {
        if is_no_answer(text.json) {
            let found = shortened(text.json);
            self.missing
                .push(text.error(format!("no grid but {found}: it counts as wrong")));
            return None;
        }
        match text.read(InputSeed) {
            Ok(grid) => {
                let place = text.error("");
                Some(SubmittedGrid {
                    grid,
                    line: place.line,
                    column: place.column,
                    path: place.path,
                })
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }
}

fn is_attempt((key, _): &(String, &RawValue)) -> bool {
    key.starts_with("attempt_")
}

/// Whether these are the entries of an object that holds attempts by the number of their test input.
fn are_tests(entries: &Entries<'_>) -> bool {
    let is_test = |(key, value): &(String, &RawValue)| {
        let is_number = key.parse().is_ok_and(|number: usize| number < MAX_TESTS);
        is_number && entries_of(value.get()).0.iter().any(is_attempt)
    };
    !entries.is_empty() && entries.iter().all(is_test)
}

/// Whether a value stands for no answer: `null`, or lists without a cell.
fn is_no_answer(json: &str) -> bool {
    match kind_of(json) {
        JsonKind::Null => true,
        JsonKind::List => json
            .bytes()
            .all(|byte| byte.is_ascii_whitespace() || b"[],".contains(&byte)),
        JsonKind::Object | JsonKind::Other => false,
    }
}

/// The test input that an attempt is for, by its metadata, or by an index beside it.
fn pair_index(text: &Text<'_>) -> Result<Option<usize>, TaskError> {
    let (entries, _) = text.entries("an object");
    let mut places = Places::new(text);
    for (key, value) in &entries {
        let part = places.of_key(key, value);
        if !INDEX_KEYS.contains(&key.as_str()) || kind_of(part.json) == JsonKind::Null {
            continue;
        }
        let index = part.json.parse().ok();
        return match index.filter(|index: &usize| *index < MAX_TESTS) {
            Some(index) => Ok(Some(index)),
            None => Err(part.error(format!(
                "expected the number of a test input, from 0 to {}, found {}: the attempt is left out",
                MAX_TESTS - 1,
                shortened(part.json)
            ))),
        };
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_submission_is_told_once() {
        for (text, found) in [
            (
                r#"{"train": [{"input": [[1]], "output": [[1]]}], "test": [{"input": [[1]]}]}"#,
                "a task",
            ),
            (
                r#"{"a": [{"x": 1}, {"y": 2}], "b": [{"x": 1}]}"#,
                "objects without any `attempt_1`",
            ),
            (
                r#"{"score": 1.0, "task_results": {"a": {"score": 1.0}}}"#,
                "the keys `score`, `task_results`",
            ),
        ] {
            let file = SubmissionFile::read("x", text.as_bytes());
            let [error] = &file.errors[..] else {
                panic!("{:?}", file.errors)
            };
            assert_eq!(
                error.message,
                format!("expected {SUBMISSION}, found {found}")
            );
            assert!(file.missing.is_empty() && file.tasks.is_empty());
        }
        // A submission with missing parts is a different case.
        for text in [
            r#"{"a": [{}]}"#,
            r#"{"a": [{"attempt_1": [[1]]}], "b": [{"x": 1}]}"#,
            "{}",
        ] {
            let file = SubmissionFile::read("x", text.as_bytes());
            assert!(file.errors.is_empty() && !file.is_foreign, "{text}");
        }
    }

    #[test]
    fn what_is_no_attempt_is_told_and_the_others_are_read() {
        let text = br#"{"a": [{"attempt_1": [[1]], "attempt_2": null}, {"attempt_2": {"answer": [[2]], "x": 1}}],
"b": [{"attempt_1": "x", "attempt_2": [[1.5]], "attempt_3": [[1]]}, 7], "c": {}, "a": []}"#;
        let file = SubmissionFile::read("x", text);
        let grids: Vec<_> = file
            .tasks
            .iter()
            .map(|task| {
                let tests = task.tests.iter().flatten();
                (
                    task.task.as_str(),
                    task.tests.len(),
                    tests.map(|it| it.grid.to_string()).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(
            grids,
            [
                ("a", 2, vec!["((1,),)".to_owned(), "((2,),)".to_owned()]),
                ("b", 2, vec![])
            ]
        );
        let told =
            |errors: &[TaskError]| errors.iter().map(TaskError::to_string).collect::<Vec<_>>();
        assert_eq!(
            told(&file.missing),
            [
                "line 1, column 42, a[0].attempt_2: no grid but null: it counts as wrong",
                "line 1, column 49, a[1]: no `attempt_1`: it counts as wrong",
            ]
        );
        let misspelt = br#"{"a": [{"attempt1": [[1]], "attempt_2": [[2]]}]}"#;
        let found = "line 1, column 8, a[0]: no `attempt_1`, found `attempt1`: it counts as wrong";
        assert_eq!(told(&SubmissionFile::read("x", misspelt).missing), [found]);
        assert_eq!(
            told(&file.errors),
            [
                "line 2, column 21, b[0].attempt_1: expected a grid: a list of rows, found string \"x\"",
                "line 2, column 41, b[0].attempt_2[0][0]: expected a colour: an integer from -128 to 127, \
                 found number `1.5`",
                "line 2, column 69, b[1]: expected an object with `attempt_1` and `attempt_2`, found integer `7`",
                "line 2, column 78, c: expected a list that holds for each test input an object with \
                 `attempt_1` and `attempt_2`, found an object",
                "line 2, column 87, a: the id stands here a second time: expected each once",
            ]
        );
        assert_eq!(
            told(file.extra.as_slice()),
            [
                "line 2, column 61, b[0].attempt_3: more attempts than `attempt_1` and `attempt_2`: these two count, \
                 here and in all of the file"
            ]
        );
        let one = SubmissionFile::read("x", br#"[{"attempt_1": [[1]], "attempt_2": [[1]]}]"#);
        assert_eq!((one.tasks[0].task.as_str(), one.errors.len()), ("x", 0));
    }
    /// The colours of the attempts for each test input.
    fn colours(file: &SubmissionFile) -> Vec<Vec<i8>> {
        let [task] = &file.tasks[..] else {
            panic!("{:?}", file.tasks)
        };
        let of_test =
            |test: &Vec<SubmittedGrid>| test.iter().map(|it| it.grid.cells()[0]).collect();
        task.tests.iter().map(of_test).collect()
    }

    fn told(errors: &[TaskError]) -> Vec<String> {
        let of_error = |error: &TaskError| format!("{}: {}", error.path, error.message);
        errors.iter().map(of_error).collect()
    }

    fn indexed(elements: &[&[(i8, &str)]]) -> SubmissionFile {
        let element = |attempts: &&[(i8, &str)]| {
            let attempts = (1..).zip(*attempts);
            let attempts = attempts.map(|(number, (colour, index))| {
                let index = match *index {
                    "" => String::new(),
                    index => format!(r#""pair_index": {index}"#),
                };
                format!(
                    r#""attempt_{number}": {{"metadata": {{{index}}}, "answer": [[{colour}]]}}"#
                )
            });
            format!("{{{}}}", attempts.collect::<Vec<_>>().join(", "))
        };
        let elements: Vec<_> = elements.iter().map(element).collect();
        let text = format!("[{}]", elements.join(", "));
        SubmissionFile::read("x", text.as_bytes())
    }

    #[test]
    fn the_pair_index_says_which_test_input_attempts_are_for() {
        let file = indexed(&[
            &[(1, "2"), (2, "2")],
            &[(3, "0"), (4, "")],
            &[(5, "1"), (6, "null")],
        ]);
        assert_eq!(colours(&file), [[3, 4], [5, 6], [1, 2]]);
        let all = [&file.errors, &file.missing, &file.notes];
        assert!(all.iter().all(|it| it.is_empty()), "{file:?}");
        // Each attempt for itself.
        let file = indexed(&[&[(1, "1"), (2, "0")], &[(3, "0"), (4, "1")]]);
        assert_eq!(colours(&file), [[3, 2], [1, 4]]);
    }

    #[test]
    fn a_pair_index_that_is_missing_doubled_or_impossible_is_told() {
        let file = indexed(&[&[(1, ""), (2, "")], &[(3, "1"), (4, "1")]]);
        assert_eq!(colours(&file), [[1, 2], [3, 4]]);
        assert!(file.tasks[0].is_indexed && file.errors.is_empty());
        let by_place = "[0]: no `pair_index`: by its place it is taken for test input 0";
        assert_eq!(told(&file.notes), [by_place]);

        let file = indexed(&[&[(1, ""), (2, "")], &[(3, "0"), (4, "0")]]);
        assert_eq!(colours(&file), [vec![3, 4], vec![]]);
        let not_known = "[0]: no `pair_index` says which test input this is for, and other attempts are for test input \
             0: it is left out";
        assert_eq!(told(&file.errors), [not_known]);
        let lacking = ": no attempts for test input 1: it counts as wrong";
        assert_eq!(told(&file.missing), [lacking]);

        let file = indexed(&[&[(1, "0"), (2, "0")], &[(3, "0"), (4, "0")]]);
        assert_eq!(colours(&file), [vec![1, 2], vec![]]);
        let twice = "[1]: test input 0 has attempts in two places: the first ones are used";
        assert_eq!(told(&file.errors), [twice]);

        for index in [
            "-1",
            "1.5",
            "100",
            "1e3",
            "\"1\"",
            "[0]",
            "18446744073709551616",
        ] {
            let file = indexed(&[&[(1, index)], &[(3, "1"), (4, "1")]]);
            assert_eq!(colours(&file), [vec![], vec![3, 4]], "{index}");
            let impossible = format!(
                "[0].attempt_1.metadata.pair_index: expected the number of a test input, from 0 to 99, found {index}: \
                 the attempt is left out"
            );
            assert_eq!(told(&file.errors), [impossible]);
        }
        let file = indexed(&[&[(1, "null"), (2, "null")]]);
        assert!(!file.tasks[0].is_indexed && file.errors.is_empty());
        assert_eq!(told(&file.notes), [by_place]);

        // How many test inputs there are, only the task knows.
        let file = indexed(&[&[(1, "9"), (2, "9")]]);
        let lacking = ": no attempts for test input 0: it counts as wrong";
        assert_eq!(told(&file.missing), [lacking]);

        // Without attempts there is no place to be told of.
        let text = br#"[{"attempt_1": null, "attempt_2": null}, {"attempt_1": {"answer": [], "metadata": {"pair_index": 0}},
"attempt_2": {"answer": [[2]], "metadata": {"pair_index": 0}}}]"#;
        let file = SubmissionFile::read("x", text);
        assert_eq!(colours(&file), [vec![2], vec![]]);
        assert!(file.errors.is_empty() && file.notes.is_empty(), "{file:?}");
    }

    #[test]
    fn attempts_that_say_that_they_are_of_another_task_are_told() {
        let of = |id: &str| {
            let attempt = format!(
                r#"{{"attempt_1": {{"answer": [[1]], "metadata": {{"task_id": "{id}", "pair_index": 0}}}}, "attempt_2": null}}"#
            );
            SubmissionFile::read("11aa22bb", format!("[{attempt}, {attempt}]").as_bytes())
        };
        let other =
            "[0]: `metadata.task_id` is `33cc44dd`, but these are taken for attempts of `11aa22bb`";
        assert_eq!(told(&of("33cc44dd").errors)[0], other);
        assert_eq!(of("11aa22bb.json").errors.len(), 1);
    }

    #[test]
    fn attempts_may_be_in_an_object_by_the_number_of_their_test_input() {
        let [one, two] =
            [1, 2].map(|colour| format!(r#"{{"attempt_1": [[{colour}]], "attempt_2": null}}"#));
        for text in [
            format!(r#"{{"1": {two}, "0": {one}}}"#),
            format!(r#"{{"x": {{"0": {one}, "1": {two}}}}}"#),
        ] {
            let file = SubmissionFile::read("x", text.as_bytes());
            assert_eq!((file.tasks[0].task.as_str(), file.errors.len()), ("x", 0));
            assert_eq!(colours(&file), [[1], [2]]);
        }
        // Numbers may be ids, too.
        let file = SubmissionFile::read("x", format!(r#"{{"0": [{one}]}}"#).as_bytes());
        assert_eq!(file.tasks[0].task, "0");
    }

    #[test]
    fn an_index_beside_attempts_counts_and_lists_of_others_are_told() {
        let attempts = |colour| format!(r#""attempt_1": [[{colour}]], "attempt_2": null"#);
        let text = format!(
            r#"[{{"test_index": 1, {}}}, {{"attempt_1": {{"answer": [[2]], "pair_index": 0}}, "attempt_2": null}}]"#,
            attempts(1)
        );
        let file = SubmissionFile::read("x", text.as_bytes());
        assert_eq!(
            (colours(&file), file.errors.len()),
            (vec![vec![2], vec![1]], 0)
        );
        let text = format!(r#"{{"1": {{{}}}, "2": {{{}}}}}"#, attempts(1), attempts(2));
        let file = SubmissionFile::read("x", text.as_bytes());
        assert_eq!(
            (colours(&file), file.notes.len()),
            (vec![vec![1], vec![2]], 1)
        );
        for text in [
            r#"[{"task_id": "a", "attempts": []}]"#,
            r#"[{"task_id": "a", "prediction": [[1]]}, {}]"#,
        ] {
            let file = SubmissionFile::read("x", text.as_bytes());
            let [error] = &file.errors[..] else {
                panic!("{:?}", file.errors)
            };
            let message = "found objects without any `attempt_1`: the keys `task_id`, `";
            assert!(error.message.contains(message), "{error:?}");
            assert!(file.is_foreign);
        }
    }

    #[test]
    fn rows_and_tasks_are_no_submission() {
        let attempts = r#"{"attempt_1": [[1]], "attempt_2": [[2]]}"#;
        for (text, found) in [
            (
                format!("{{\"task_id\": \"x\", \"attempts\": [{attempts}]}}"),
                "a row of a table, with the keys `task_id`, `attempts`",
            ),
            (
                format!("{{\"x\": [{attempts}]}}\n{{\"y\": [{attempts}]}}"),
                "a row of a table, with the key `x`",
            ),
            (
                format!("{{\"x\": {attempts}}}"),
                "attempts in objects by task: expected them in lists, for each test input one",
            ),
            (
                r#"{"x": [[[1]]], "y": [[[2]]]}"#.to_owned(),
                "lists of grids, as solutions are",
            ),
            (r#"{"x": {"train": [], "test": []}}"#.to_owned(), "tasks"),
        ] {
            let file = SubmissionFile::read("x", text.as_bytes());
            let [error] = &file.errors[..] else {
                panic!("{text}: {:?}", file.errors)
            };
            assert!(
                error.message.ends_with(&format!(", found {found}")),
                "{error:?}"
            );
            assert!(file.is_foreign && file.tasks.is_empty(), "{text}");
        }
    }

    #[test]
    fn lists_without_a_cell_are_no_answer() {
        let text = br#"[{"attempt_1": [], "attempt_2": [[]]}, {"attempt_1": {"answer": [ ]}, "attempt_2": [[1]]}]"#;
        let file = SubmissionFile::read("x", text);
        assert_eq!(colours(&file), [vec![], vec![1]]);
        assert!(file.errors.is_empty(), "{file:?}");
        let no_grid =
            |path: &str, found: &str| format!("{path}: no grid but {found}: it counts as wrong");
        let expected = [
            no_grid("[0].attempt_1", "[]"),
            no_grid("[0].attempt_2", "[[]]"),
            no_grid("[1].attempt_1.answer", "[ ]"),
        ];
        assert_eq!(told(&file.missing), expected);
    }

    #[test]
    fn attempts_beyond_the_second_are_told_once() {
        let attempts: Vec<_> = (1..9)
            .map(|it| format!(r#""attempt_{it}": [[{it}]]"#))
            .collect();
        let test = format!("{{{}}}", attempts.join(", "));
        let file = SubmissionFile::read("x", format!("[{test}, {test}]").as_bytes());
        assert_eq!(colours(&file), [[1, 2], [1, 2]]);
        assert!(file.errors.is_empty() && file.extra.is_some(), "{file:?}");
        let text = br#"[{"attempt_1": [[1]], "attempt_3": [[2]]}]"#;
        let file = SubmissionFile::read("x", text);
        let lacking = "[0].attempt_3: expected `attempt_1` and `attempt_2` before another attempt";
        assert_eq!(told(&file.errors), [lacking]);
        let text =
            br#"[{"attempt_1": [[1]], "attempt_2": [[2]], "attempt_3": null, "attempt_4": []}]"#;
        assert_eq!(SubmissionFile::read("x", text).extra, None);
    }
}
