//! The layouts of tasks: which one an object or a list has, judging by its keys and by how they begin.

use serde_json::Value;
use serde_json::value::RawValue;

use super::ids::{ID_KEYS, TaskName, bare_id, id_under, is_arc_id, names_task, says_id};
use super::programs::{NamedProgram, holds_programs, program, rank_of};
use crate::task::MAX_TESTS;
use crate::task::structure::{
    Entries, elements_of, entries_of, has_key, inside, is_grid, is_list_of_grids, is_object,
    is_pairs, known_as, place_in,
};
use crate::task::text::{JsonKind, first_entries, first_of, kind_of};

/// The maximum nesting of tasks by id in objects by split.
pub(super) const MAX_DEPTH: usize = 3;

/// The keys under which a row gives the number of its test input.
const TEST_INDEX_KEYS: &str = "test_index pair_index question_index test_input_index test_case_index test_idx pair_idx \
     question_idx test_input_idx test_case test_id test_num test_number test_no test_pair_index \
     test_pair_idx";

/// The keys under which an object beside other things holds one task.
const WRAPPERS: &str = "task data problem puzzle challenge item content row result";

/// The one of them under which the server of a hub for data sets has a row.
pub(super) const ROW: &str = "row";

/// Whether an object is a task, rather than tasks by split or something else.
pub(super) fn is_task(entries: &Entries<'_>, depth: usize) -> bool {
    let is_split = |key: &str, value: &RawValue| match kind_of(value.get()) {
        JsonKind::List => {
            let first = first_entries(value.get());
            is_task_of_list(&first, depth) || is_row(key, value.get(), &first)
        }
        JsonKind::Object => {
            let (inner, _) = entries_of(value.get());
            has_tasks(&inner, depth + 1) || holds_programs(value.get(), true, MAX_DEPTH)
        }
        JsonKind::Null | JsonKind::Other => false,
    };
    let mut known = entries
        .iter()
        .filter(|(key, _)| key == "train" || key == "test")
        .peekable();
    let has_splits = known.peek().is_some() && !known.any(|(key, value)| is_split(key, value));
    has_splits || is_examples(entries) || is_renamed(entries) || is_columns(entries)
}

/// Whether an object has the keys of examples with a program.
pub(super) fn is_examples(entries: &Entries<'_>) -> bool {
    ["training_examples", "test_examples"]
        .iter()
        .any(|key| has_key(entries, key))
        && ["program", "task_key", "task_id"]
            .iter()
            .any(|key| has_key(entries, key))
}

/// The split (0 is train, 1 is test) that a key names, such as `test`, `few_shot` or `trainPairs`.
pub(super) fn split_of(key: &str) -> Option<usize> {
    let word = key.replace(['_', '-'], "").to_ascii_lowercase();
    let named = word.strip_suffix("pairs").filter(|it| !it.is_empty());
    match named.unwrap_or(&word) {
        "example" | "examples" | "train" | "training" | "demo" | "demos" | "demonstration"
        | "demonstrations" | "fewshot" | "fewshots" | "pairs" | "support" => Some(0),
        "question" | "test" | "testing" | "query" => Some(1),
        _ => None,
    }
}

/// Whether it holds pairs: a list of objects, or of lists of an input and an output, or one pair.
pub(super) fn holds_pairs(json: &str) -> bool {
    match kind_of(json) {
        JsonKind::Object => has_key(&entries_of(json).0, "input"),
        JsonKind::List => {
            is_pairs(json) || {
                let (both, _) = elements_of(first_of(json).unwrap_or_default());
                both.len() == 2 && both.iter().all(|it| is_grid(it.get()))
            }
        }
        JsonKind::Null | JsonKind::Other => false,
    }
}

/// Whether an object has its train pairs under another name: `examples`, `training`, `fewshots`. In a file of pairs by
/// the ids of tasks, this may be one of the ids.
pub(super) fn is_renamed(entries: &Entries<'_>) -> bool {
    let is_train = |(key, value): &(String, &RawValue)| {
        split_of(key) == Some(0) && holds_pairs(value.get()) && !is_object(value)
    };
    let mut lists = entries.iter().filter(|(_, it)| is_pairs(it.get()));
    !has_key(entries, "train")
        && entries.iter().any(is_train)
        && lists.all(|(key, _)| split_of(key).is_some())
}

/// The side (0 is input, 1 is output) of the test pairs whose grids may stand under this key beside `train`.
pub(super) fn side_of_test(key: &str) -> Option<usize> {
    match key {
        "input" | "query" | "question" => Some(0),
        "output" | "answer" | "answers" | "label" | "labels" | "solution" | "solutions"
        | "target" | "targets" => Some(1),
        _ => None,
    }
}

/// The split (0 is train, 1 is test) and the side (0 is input, 1 is output) of the grids in a column.
type Column = (usize, usize);

/// What the parts of `list` are.
pub(super) const LISTED: [Column; 3] = [(0, 0), (0, 1), (1, 0)];

/// What `label` is beside `list`.
pub(super) const LABEL: Column = (1, 1);

/// The column of this name, such as `example_inputs`, `exampleInputs`, `example_x` or `x_example`.
pub(super) fn column(key: &str) -> Option<Column> {
    let words = key.rsplit_once('_');
    let (a, b) = words.or_else(|| Some(key.split_at(key.rfind(char::is_uppercase)?)))?;
    let side = |word: &str| match &*word.to_ascii_lowercase() {
        "x" => Some(0),
        "y" => Some(1),
        word => side_of(word),
    };
    let column = |split, word| Some((split_of(split)?, side(word)?));
    column(a, b).or_else(|| column(b, a))
}

pub(super) fn side_of(key: &str) -> Option<usize> {
    match key {
        "input" | "inputs" => Some(0),
        "output" | "outputs" => Some(1),
        _ => None,
    }
}

/// Whether an object has inputs and outputs in separate lists of grids.
pub(super) fn is_columns(entries: &Entries<'_>) -> bool {
    let has = |wanted: Column| {
        let mut entries = entries.iter();
        entries.any(|(key, it)| column(key) == Some(wanted) && is_list_of_grids(it.get()))
    };
    let is_known = |key: &str| matches!(key, "train" | "test");
    let has_pairs = entries.iter().any(|(key, _)| is_known(key));
    !has_pairs && (has((0, 0)) && has((0, 1)) || is_listed(entries))
}

/// Whether an object has the inputs, the outputs and the test inputs in a `list`, and the test outputs as `label`.
pub(super) fn is_listed(entries: &Entries<'_>) -> bool {
    let is_it = |(key, value): &(String, &RawValue)| {
        key == "list" && kind_of(value.get()) == JsonKind::List && {
            let (parts, _) = elements_of(value.get());
            parts.len() == LISTED.len() && parts.iter().all(|it| is_list_of_grids(it.get()))
        }
    };
    has_key(entries, "label") && entries.iter().any(is_it)
}

/// The number of the test input that a row is for; [`MAX_TESTS`] or more only says the order.
pub(super) fn test_index(entries: &Entries<'_>) -> Option<usize> {
    let number = |value: &RawValue| -> Option<usize> {
        // A column may be one of text or, where some rows lack it, of floats.
        let text = value.get().trim_matches('"');
        text.strip_suffix(".0").unwrap_or(text).parse().ok()
    };
    let under = |keys: &str| {
        let mut found = entries
            .iter()
            .filter(|(key, _)| place_in(keys, key).is_some());
        found.find_map(|(_, value)| number(value))
    };
    // This may number the rows of the table instead: then it says their order, but is no place.
    let of_rows = || under("idx")?.checked_add(MAX_TESTS);
    under(TEST_INDEX_KEYS).or_else(of_rows)
}

/// Whether an object holds solutions: lists of grids by task, or the grids of tasks with one test pair, and not a row that has some of its parts as such.
pub(super) fn are_solutions(entries: &Entries<'_>, id: TaskName<'_>) -> bool {
    let is_one = |(key, it): &(String, &RawValue)| {
        let is_said = is_arc_id(bare_id(key)) || id.name().ends_with("solutions");
        !is_word_of_splits(key) && (is_list_of_grids(it.get()) || is_said && is_grid(it.get()))
    };
    matches!(id, TaskName::OfFile(_) | TaskName::OfRow(_))
        && !says_id(entries)
        && entries.iter().any(is_one)
}

/// Whether an object holds tasks, or lists of pairs, by id.
pub(super) fn has_tasks(entries: &Entries<'_>, depth: usize) -> bool {
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
pub(super) fn holds_tasks(json: &str, depth: usize) -> bool {
    match kind_of(json) {
        JsonKind::List => is_list_of_tasks(json, depth),
        JsonKind::Object => {
            let (inner, _) = entries_of(json);
            is_task(&inner, depth + 1) || has_tasks(&inner, depth + 1)
        }
        JsonKind::Null | JsonKind::Other => false,
    }
}

/// Whether it is a list whose first element is a task.
pub(super) fn is_list_of_tasks(json: &str, depth: usize) -> bool {
    is_task_of_list(&first_entries(json), depth)
}

fn is_task_of_list(entries: &Entries<'_>, depth: usize) -> bool {
    depth < MAX_DEPTH && (is_task(entries, depth + 1) || wrapped(entries, depth + 1).is_some())
}

/// The one task in an object, beside other things.
pub(super) fn wrapped<'e, 'a>(
    entries: &'e Entries<'a>,
    depth: usize,
) -> Option<&'e (String, &'a RawValue)> {
    // Beside an id it may have any name, but that of another task.
    let has_id = id_under(&["task_id", "id"], entries).is_some();
    let holds_task = |(key, value): &&(String, &RawValue)| {
        let is_known = place_in(WRAPPERS, key).is_some() || has_id && !is_arc_id(bare_id(key));
        is_known && is_object(value) && {
            let (inner, _) = entries_of(value.get());
            is_task(&inner, depth + 1)
        }
    };
    let mut found = entries.iter().filter(holds_task);
    found
        .next()
        .filter(|_| depth < MAX_DEPTH && found.next().is_none())
}

/// Whether a key stands above tasks, rather than being the id of one.
pub(super) fn is_wrapper(key: &str) -> bool {
    let one = key.strip_suffix('s').unwrap_or(key);
    place_in(WRAPPERS, one).is_some() || is_word_of_splits(key)
}

/// Whether a key consists of words that name parts of a task.
fn is_word_of_splits(key: &str) -> bool {
    const WORDS: &str = "arc case cases data demo demonstration demonstrations demos eval evaluation example examples gen \
         input inputs label list output outputs pair pairs problem problems queries query question questions sample \
         samples support test train training validation";
    let mut words = key.split(['_', '-', ' ']);
    words.all(|word| place_in(WORDS, word).is_some())
}

/// The rows of a table that is given by its columns, which are lists or objects with the same keys, as JSON.
pub(super) fn rows_of_columns(entries: &Entries<'_>) -> Option<Vec<String>> {
    let is_id = |key: &str| ID_KEYS.contains(&key);
    let is_column = |it: &RawValue| matches!(kind_of(it.get()), JsonKind::List | JsonKind::Object);
    let has_ids = entries.iter().any(|(key, it)| is_id(key) && is_column(it));
    // Most objects are seen not to be a table by their first value.
    let (_, first) = entries.first()?;
    let begins = match kind_of(first.get()) {
        JsonKind::Object => cells(first)
            .first()
            .is_some_and(|(_, it)| is_pairs(it.get())),
        _ => inside(first.get(), '[').is_some_and(is_pairs),
    };
    if entries.len() < 2 || !(has_ids || begins) || !entries.iter().any(|(key, _)| is_of_rows(key))
    {
        return None;
    }
    let columns: Vec<_> = entries.iter().map(|(_, column)| cells(column)).collect();
    let first = columns.first().filter(|cells| !cells.is_empty())?;
    let is_like_first = |cells: &Vec<(String, &RawValue)>| {
        let keys = cells.iter().map(|(key, _)| key);
        keys.eq(first.iter().map(|(key, _)| key))
    };
    let row = |(at, (id, _)): (usize, &(String, &RawValue))| {
        let cells = entries
            .iter()
            .zip(&columns)
            .map(|((key, _), cells)| cell(key, cells[at].1));
        let id = (!has_ids).then(|| format!("\"id\":{}", Value::from(id.as_str())));
        format!("{{{}}}", cells.chain(id).collect::<Vec<_>>().join(","))
    };
    let are_rows = columns.iter().all(is_like_first);
    are_rows.then(|| first.iter().enumerate().map(row).collect())
}

/// Whether rows of tasks or programs have this column.
fn is_of_rows(key: &str) -> bool {
    key == "train" || column(key).is_some() || rank_of(key).is_some()
}

/// A cell of a row of JSON, on one line: the number of the line is that of the row.
fn cell(key: &str, value: &RawValue) -> String {
    let value = value.get().replace(['\n', '\r'], " ");
    format!("{}:{value}", Value::from(key))
}

/// The rows of a table that gives the names of its `columns` and its rows as lists under `data`, as JSON.
pub(super) fn rows_of_split(entries: &Entries<'_>) -> Option<Vec<String>> {
    let of = |name: &str| Some(entries.iter().find(|(key, _)| key == name)?.1);
    let names: Vec<String> = serde_json::from_str(of("columns")?.get()).ok()?;
    let (rows, _) = elements_of(of("data")?.get());
    if rows.is_empty() || !names.iter().any(|name| is_of_rows(name)) {
        return None;
    }
    let index = of("index")
        .map(cells)
        .filter(|index| index.len() == rows.len());
    let index = index.filter(|_| !names.iter().any(|name| ID_KEYS.contains(&name.as_str())));
    let row = |(at, row): (usize, &&RawValue)| {
        let (values, _) = elements_of(row.get());
        let cells = names
            .iter()
            .zip(&values)
            .map(|(name, value)| cell(name, value));
        let id = index.as_ref().map(|index| cell("id", index[at].1));
        let cells: Vec<_> = cells.chain(id).collect();
        (values.len() == names.len()).then(|| format!("{{{}}}", cells.join(",")))
    };
    rows.iter().enumerate().map(row).collect()
}

/// The cells of a column with their keys, or their numbers.
pub(super) fn cells(column: &RawValue) -> Vec<(String, &RawValue)> {
    if is_object(column) {
        return entries_of(column.get()).0;
    }
    let cells = elements_of(column.get()).0.into_iter().enumerate();
    cells.map(|(at, cell)| (at.to_string(), cell)).collect()
}

/// Whether rows of programs stand under this key; in a split, they may lack them.
pub(super) fn are_rows(key: &str, json: &str) -> bool {
    (is_wrapper(key) || rank_of(key).is_some()) && is_row(key, json, &first_entries(json))
}

/// Whether a list under this key, which begins with this, holds rows of programs.
fn is_row(key: &str, json: &str, row: &Entries<'_>) -> bool {
    let is_split = split_of(key).is_some();
    // A misspelt `input` is that of a pair.
    let is_input = |(key, _): &(String, &RawValue)| place_in("input", key).is_some();
    let is_pair = || row.iter().any(is_input) || is_pairs(json);
    let is_row = match program(row) {
        Some(_) => is_split || names_task(row),
        None => is_split && row.iter().any(|(key, _)| rank_of(key).is_some()) && !is_pair(),
    };
    is_row || row.iter().any(|(key, it)| key == ROW && is_object(it))
}

/// Whether a file holds rows of programs, maybe beside other things; a document of a run does not.
pub(super) fn has_rows(entries: &Entries<'_>) -> bool {
    known_as(entries).is_none() && entries.iter().any(|(key, it)| are_rows(key, it.get()))
}

/// Whether a program without an id is what an object is about.
pub(super) fn is_alone(program: &NamedProgram<'_>, entries: &Entries<'_>) -> bool {
    program.has_text() && known_as(entries).is_none() && !has_rows(entries)
}
