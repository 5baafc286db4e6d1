//! The document of a search, and its page: the frame of a run's page, with attempts layer by layer.

use std::collections::HashMap;
use std::io::{self, Write};

use mega_batch::search::{SearchEnd, SearchState};
use serde::{Deserialize, Deserializer};

use super::bounded::{First, Text, fold_list};
use super::cards::{Card, Cards, PAIRS, Pair, Pairs, StateLabel, Words, right_of};
use super::document::{BadInput, Schema, Seconds};
use super::grids::{Grid, NONE};
use super::html::{Plain, Share, add, and_more, figure, notice, share, time, workers};
use super::page;
use super::run::input_errors;
use crate::table::thousands;

/// The most attempts of a task that are shown.
const ATTEMPTS: usize = 6;

/// The most layers of an attempt that are shown.
const LAYERS: usize = 16;

/// The most characters of a program that are kept.
const PROGRAM: usize = 20_000;

/// The parts of a search's document that are read. `crates/mega-batch/src/search/document.rs` says what its members mean.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object, the document of `mega-batch search --json`")]
pub(crate) struct Document {
    engine_version: Text,
    #[serde(default, rename = "schema")]
    _schema: Schema,
    workers: u64,
    nodes: u64,
    attempts: u64,
    pub(super) tasks: u64,
    #[serde(default)]
    incomplete: bool,
    seconds: Seconds,
    totals: Totals,
    results: Results,
    #[serde(default)]
    input_errors: First<BadInput, 100>,
}

/// What was found, over all tasks.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object, what was found")]
struct Totals {
    tasks: u64,
    interrupted: u64,
    fitting: u64,
    solved: u64,
    chains: u64,
    stacks: u64,
    partly: u64,
    nodes: u64,
    calls: u64,
    tests_known: u64,
    tests_right: First<u64, 3>,
}

/// The tasks, turned into cards while reading.
#[derive(Debug, Default)]
struct Results(Cards);

#[derive(Deserialize)]
#[serde(expecting = "an object, what was found for a task")]
struct TaskEntry {
    task: Text,
    state: SearchState,
    #[serde(default)]
    seconds: f64,
    failure: Option<Text>,
    stopped: Option<SearchEnd>,
    #[serde(default)]
    renamed: bool,
    counts: SearchCounts,
    attempts: First<Attempt, ATTEMPTS>,
    train: First<Pair, PAIRS>,
    test: First<Pair, PAIRS>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, how much was done")]
struct SearchCounts {
    calls: u64,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, an attempt")]
struct Attempt {
    fits: u64,
    score: f64,
    cost: u64,
    layers: First<Layer, LAYERS>,
    program: String,
    outputs: First<Grid, PAIRS>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, a layer")]
struct Layer {
    part: Text,
    expression: Text,
    colour: Option<Text>,
    paints: First<Grid, PAIRS>,
}

/// The states of tasks, by [`SearchState`].
const STATES: [StateLabel; 4] = [
    ("solved", "solved"),
    ("fits", "fits all pairs"),
    ("partly", "fits some pairs"),
    ("nothing", "no attempt"),
];

impl TaskEntry {
    fn card(self) -> Card {
        let train = self.train.total as u64;
        let mut about = vec![format!("{} calls", thousands(self.counts.calls))];
        about.extend(self.stopped.map(|stopped| format!("ended by {stopped}")));
        about.push(time(self.seconds));
        about.extend(self.renamed.then(|| "colours renamed".to_owned()));
        let failure = self.failure.as_ref();
        about.extend(failure.map(|failure| format!("not searched: {}", failure.0)));
        let fits = self.attempts.kept.first().map(|best| best.fits);
        let mut pairs = Pairs::new(self.train, self.test);
        let expected = pairs.expected();
        let (mut names, mut programs) = (Vec::new(), Vec::new());
        let (mut best, mut layers) = (Vec::new(), Vec::new());
        for mut attempt in self.attempts.kept {
            let outputs = std::mem::take(&mut attempt.outputs.kept);
            let outputs = pairs.grids.places(outputs, expected.len());
            let tests = right_of(&outputs, &expected, |output, expected| *output == expected);
            let painted = attempt.layers.kept.iter_mut().map(|layer| {
                let paints = std::mem::take(&mut layer.paints.kept);
                pairs.grids.places(paints, expected.len())
            });
            layers.push(painted.collect());
            best.push([vec![NONE; pairs.trains], outputs].concat());
            programs.push(attempt.html(train, tests));
            let own = attempt.layers.kept.into_iter();
            names.extend(own.map(|layer| layer.expression.0));
        }
        Card {
            id: self.task,
            state: STATES[self.state as usize],
            score: fits.map(|fits| fits as f64 / train.max(1) as f64),
            names,
            told: fits.map_or_else(
                || "no attempt".to_owned(),
                |fits| format!("train {fits} of {train}"),
            ),
            about,
            programs,
            pairs_left_out: pairs.left_out,
            data: pairs.data(&best, &[], Some(&layers)),
        }
    }
}

impl Attempt {
    /// A list item: what it is, its layers, its program.
    fn html(&self, train: u64, tests: Share) -> String {
        let kind = match (self.layers.kept.len(), self.fits < train) {
            (0 | 1, false) => "chain",
            (0 | 1, true) => "chain that fits partly",
            (_, false) => "stack",
            (_, true) => "stack that fits partly",
        };
        let mut html = format!(
            "<li>{kind} <span class=\"facts\">train {} of {train} pairs{} · score {:.3} · cost {}</span>\
             <ul class=\"layers\">",
            self.fits,
            tests.of_tests(),
            self.score,
            self.cost
        );
        for layer in &self.layers.kept {
            add!(html, "<li>{} <code>{}</code>", layer.part, layer.expression);
            if let Some(colour) = &layer.colour {
                add!(html, " in <code>{colour}</code>");
            }
            html += "</li>";
        }
        html += "</ul>";
        html += &and_more(self.layers.left_out() as u64);
        html += "<details class=\"reasons\"><summary>Program</summary><pre><code>";
        let program: String = self.program.chars().take(PROGRAM).collect();
        // Line breaks are kept; all other control characters are shown as escapes.
        for line in program.lines() {
            add!(html, "{}\n", Plain(line));
        }
        html + "</code></pre></details></li>"
    }
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a list of what was found for tasks";
        fold_list(
            deserializer,
            expecting,
            |results: &mut Self, entry: TaskEntry| {
                results.0.add(entry.card());
                Ok(())
            },
        )
    }
}

/// Writes the page of the document of this name.
pub(super) fn write(document: &Document, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let words = Words {
        states: &STATES,
        work: "search",
        scored: "pairs",
        searched: "id or operation",
    };
    let Results(cards) = &document.results;
    let how = format!(
        "search, {}, {} nodes a task, {} attempts · mega-batch {}",
        workers(document.workers),
        thousands(document.nodes),
        document.attempts,
        document.engine_version
    );
    let parts = [
        ("name", "", Plain(name).to_string()),
        ("how", "", how),
        ("figures", "", figures(document)),
        ("notices", "", notices(document)),
        ("tasks", "Tasks", cards.section(&words, &HashMap::new())),
        (
            "input-errors",
            "Input errors",
            input_errors(&document.input_errors),
        ),
        ("data", "", cards.data()?),
    ];
    page::write(&parts, out)
}

fn notices(document: &Document) -> String {
    if !document.incomplete {
        return String::new();
    }
    let [made, of] = [document.totals.tasks, document.tasks].map(thousands);
    let text = format!("The search was ended after {made} of {of} tasks.");
    notice("Incomplete.", &text)
}

fn figures(document: &Document) -> String {
    let totals = &document.totals;
    let of_tasks = |title, right, class, more| {
        let of = totals.tasks;
        share(title, Share { right, of }, class, more)
    };
    let mut html = String::new();
    if totals.tests_known > 0 {
        let tests = Share {
            right: totals.tests_right.kept.get(1).copied().unwrap_or(0),
            of: totals.tests_known,
        };
        html += &share("Test inputs right", tests, "solved", ", two attempts each");
        html += &of_tasks("Tasks solved", totals.solved, "solved", "");
    }
    html += &of_tasks(
        "Right on all train pairs",
        totals.fitting,
        "fits",
        " of the tasks",
    );
    let kinds = [totals.chains, totals.stacks, totals.partly];
    let [chains, stacks, partly] = kinds.map(thousands);
    let attempts = thousands(kinds.iter().sum());
    let kinds = format!("{chains} chains, {stacks} stacks, {partly} partly fitting");
    html += &figure("Attempts", &attempts, &kinds);
    let nodes = format!("{} values kept", thousands(totals.nodes));
    html += &figure("Calls", &thousands(totals.calls), &nodes);
    let late = match totals.interrupted {
        0 => String::new(),
        late => format!("{} tasks ended by time", thousands(late)),
    };
    html + &figure("Time", &time(document.seconds.get()), &late)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn attempts_have_their_layers_by_test_pair() {
        let pair = json!({"input": [[1]], "output": [[2]]});
        let layer =
            json!({"part": "all", "expression": "f(I)", "colour": null, "paints": [[[2]], [[-1]]]});
        let attempt = json!({"fits": 1, "score": 0.9, "cost": 3, "layers": [layer, layer],
            "program": "def solve_a(I):", "outputs": [[[2]], [[7]]]});
        let results: Results = serde_json::from_value(json!([
            {"task": "a", "state": "solved", "seconds": 0.1, "failure": null, "stopped": "nodes",
             "renamed": true, "counts": {"calls": 7}, "attempts": [attempt], "train": [pair],
             "test": [pair, {"input": [[3]], "output": null}], "later": 1}
        ]))
        .unwrap();
        let task = &results.0.kept[0];
        let told = &task.programs[0];
        assert!(
            told.contains("stack <span class=\"facts\">train 1 of 1 pairs · test 1 of 1 ·"),
            "{told}"
        );
        assert_eq!(told.matches("<li>all <code>f(I)</code></li>").count(), 2);
        let data: serde_json::Value = serde_json::from_str(task.data.as_deref().unwrap()).unwrap();
        assert_eq!(
            data,
            json!({"grids": ["1x1:1", "1x1:2", "1x1:3", "1x1:7", "1x1:\u{17f}"], "trains": 1,
                "pairs": [[0, 1], [0, 1], [2, -1]], "best": [[-1, 1, 3]], "attempts": [],
                "layers": [[[1, 4], [1, 4]]]})
        );
    }
}
