//! [`Results`]: what was found for each task, with its grids, packed while reading.

use mega_batch::search::{SearchEnd, SearchState};
use serde::{Deserialize, Deserializer, Serialize};

use crate::report::bounded::{First, Text, fold_list};
use crate::report::grids::{Grid, Grids, Place};
use crate::report::tasks::{PAIRS, Pair, Room, Share, pairs};

/// The most attempts of a task that are shown.
const ATTEMPTS: usize = 6;

/// The most layers of an attempt that are shown.
const LAYERS: usize = 16;

/// The most characters of a program that are kept.
const PROGRAM: usize = 20_000;

/// All tasks.
#[derive(Debug, Default)]
pub(in crate::report) struct Results {
    /// Those with a card, in the document's order.
    pub(super) cards: Vec<Task>,
    pub(super) room: Room,
}

/// A task with a card.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: Text,
    pub(super) state: SearchState,
    pub(super) seconds: f64,
    pub(super) failure: Option<Text>,
    pub(super) stopped: Option<SearchEnd>,
    pub(super) renamed: bool,
    pub(super) calls: u64,
    pub(super) train: usize,
    pub(super) attempts: Vec<Attempt>,
    /// Its grids as a line of JSON, if there is room.
    pub(super) data: Option<String>,
}

/// An attempt without its grids.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) fits: u64,
    pub(super) score: f64,
    pub(super) cost: u64,
    pub(super) layers: Vec<Layer>,
    pub(super) layers_left_out: usize,
    pub(super) program: String,
    /// Test pairs whose output is known.
    pub(super) tests: Share,
}

/// A layer without its grids.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) part: Text,
    pub(super) expression: Text,
    pub(super) colour: Option<Text>,
}

/// The grids of a task as the script reads them.
#[derive(Serialize)]
struct Data {
    /// The distinct grids.
    grids: Vec<String>,
    /// How many of the pairs are train pairs.
    trains: usize,
    /// Input and expected output of each pair.
    pairs: Vec<[Place; 2]>,
    /// The output of each attempt on each pair; none on train pairs.
    best: Vec<Vec<Place>>,
    /// What each layer of each attempt paints in the outputs of test pairs.
    layers: Vec<Vec<Vec<Place>>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, what was found for a task")]
struct Entry {
    task: Text,
    state: SearchState,
    #[serde(default)]
    seconds: f64,
    failure: Option<Text>,
    stopped: Option<SearchEnd>,
    #[serde(default)]
    renamed: bool,
    counts: Counts,
    attempts: First<Found, ATTEMPTS>,
    train: First<Pair, PAIRS>,
    test: First<Pair, PAIRS>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, how much was done")]
struct Counts {
    calls: u64,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, an attempt")]
struct Found {
    fits: u64,
    score: f64,
    cost: u64,
    layers: First<FoundLayer, LAYERS>,
    program: String,
    outputs: First<Grid, PAIRS>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object, a layer")]
struct FoundLayer {
    part: Text,
    expression: Text,
    colour: Option<Text>,
    paints: First<Grid, PAIRS>,
}

impl Task {
    fn new(entry: Entry) -> Self {
        let mut grids = Grids::default();
        let trains = entry.train.kept.len();
        let train = entry.train.total;
        let pairs = pairs(&mut grids, entry.train, entry.test);
        let expected: Vec<Place> = pairs[trains..].iter().map(|&[_, output]| output).collect();
        let (mut attempts, mut best, mut layers) = (Vec::new(), Vec::new(), Vec::new());
        for found in entry.attempts.kept {
            let outputs = grids.places(found.outputs.kept, expected.len());
            let tests =
                Share::of_right(&outputs, &expected, |output, expected| output.is(expected));
            let layers_left_out = found.layers.left_out();
            let (mut own, mut painted) = (Vec::new(), Vec::new());
            for layer in found.layers.kept {
                painted.push(grids.places(layer.paints.kept, expected.len()));
                own.push(Layer {
                    part: layer.part,
                    expression: layer.expression,
                    colour: layer.colour,
                });
            }
            layers.push(painted);
            best.push([vec![Place::NONE; trains], outputs].concat());
            attempts.push(Attempt {
                fits: found.fits,
                score: found.score,
                cost: found.cost,
                layers: own,
                layers_left_out,
                program: found.program.chars().take(PROGRAM).collect(),
                tests,
            });
        }
        let data = Data {
            grids: grids.into_texts(),
            trains,
            pairs,
            best,
            layers,
        };
        Self {
            id: entry.task,
            state: entry.state,
            seconds: entry.seconds,
            failure: entry.failure,
            stopped: entry.stopped,
            renamed: entry.renamed,
            calls: entry.counts.calls,
            train,
            attempts,
            data: serde_json::to_string(&data).ok(),
        }
    }
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fold_list(
            deserializer,
            "a list of what was found for tasks",
            |results: &mut Results, entry| {
                let mut task = Task::new(entry);
                if results.room.add(&mut task.data) {
                    results.cards.push(task);
                }
            },
        )
    }
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
        let task = &results.cards[0];
        assert_eq!(task.attempts[0].tests, Share { right: 1, of: 1 });
        assert_eq!(task.attempts[0].layers.len(), 2);
        let data: serde_json::Value = serde_json::from_str(task.data.as_deref().unwrap()).unwrap();
        assert_eq!(
            data,
            json!({"grids": ["1x1:1", "1x1:2", "1x1:3", "1x1:7", "1x1:\u{17f}"], "trains": 1,
                "pairs": [[0, 1], [0, 1], [2, -1]], "best": [[-1, 1, 3]],
                "layers": [[[1, 4], [1, 4]]]})
        );
    }
}
