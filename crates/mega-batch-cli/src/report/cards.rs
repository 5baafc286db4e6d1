//! [`Cards`]: the tasks of a document as cards, which show the results of each without a script, and their grids as data
//! for one.

use std::collections::HashMap;

use arc_dsl::PALETTE;
use serde::{Deserialize, Serialize};

use super::bounded::{First, Text};
use super::grids::{Grid, GridIndex, Grids, NONE};
use super::html::{Plain, Share, add};
use super::results::OutcomeCounts;
use crate::table::thousands;

/// The most tasks with a card; the totals include all.
pub(super) const CARDS: usize = 2000;

/// The most bytes of grids on a page; tasks past that have a card without grids.
pub(super) const GRID_BYTES: usize = 32 << 20;

/// The most pairs of a task that are drawn, train and test each.
pub(super) const PAIRS: usize = 12;

/// How many outputs are right, of those whose expected grid is known.
pub(super) fn right_of<T>(
    outputs: &[T],
    expected: &[GridIndex],
    is_right: impl Fn(&T, GridIndex) -> bool,
) -> Share {
    let known = outputs.iter().zip(expected);
    let known = known.filter(|(_, place)| **place != NONE);
    known.fold(Share::default(), |share, (output, expected)| Share {
        right: share.right + u64::from(is_right(output, *expected)),
        of: share.of + 1,
    })
}

/// A state of tasks: its CSS class, and its word for people.
pub(super) type StateLabel = (&'static str, &'static str);

/// A task with a card.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) id: Text,
    pub(super) state: StateLabel,
    /// What the cards are sorted by, from 0 to 1.
    pub(super) score: Option<f64>,
    /// The names by which it is found besides its id.
    pub(super) names: Vec<String>,
    /// What is said while it is closed.
    pub(super) told: String,
    /// What was done for the task.
    pub(super) about: Vec<String>,
    /// Its programs, as markup.
    pub(super) programs: Vec<String>,
    pub(super) pairs_left_out: usize,
    /// Its grids as a line of JSON, if there is room.
    pub(super) data: Option<String>,
}

impl Card {
    fn html(&self, at: usize, counts: OutcomeCounts) -> String {
        let (id, (class, word)) = (&self.id, self.state);
        let outcomes: Vec<_> = counts.listed().map(|(word, _)| word).collect();
        let find = format!("{} {}", id.0, self.names.join(" ")).to_lowercase();
        let mut html = format!(
            "<article class=\"task\"{} aria-label=\"{id}\" data-at=\"{at}\" data-state=\"{class}\" data-outcomes=\"{}\" \
             data-score=\"{:.6}\" data-find=\"{}\"><details><summary><span class=\"head\"><h3>{id}</h3>\
             <span class=\"badge {class}\">{word}</span></span><span class=\"preview\"></span>\
             <span class=\"score\">{}</span></summary>\n<div class=\"body\">",
            anchor(id),
            outcomes.join(" "),
            self.score.unwrap_or(-1.0),
            Plain(&find),
            self.told
        );
        let counted = counts.listed().map(|(_, told)| told);
        let about: Vec<_> = self.about.iter().cloned().chain(counted).collect();
        if !about.is_empty() {
            add!(html, "<p class=\"about\">{}</p>", Plain(&about.join(" · ")));
        }
        if !self.programs.is_empty() {
            add!(
                html,
                "<ol class=\"programs\">{}</ol>",
                self.programs.concat()
            );
        }
        html += "<div class=\"pairs\"></div>";
        if self.pairs_left_out > 0 {
            let left_out = thousands(self.pairs_left_out as u64);
            add!(html, "<p class=\"none\">and {left_out} pairs more</p>");
        }
        if self.data.is_none() {
            html += "<p class=\"none\">There is no room for its grids in this page.</p>";
        }
        html + "</div></details></article>\n"
    }
}

/// An id for the card that links can refer to, if the task's id is suitable.
fn anchor(id: &Text) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !id.0.is_empty() && id.0.chars().all(plain) {
        format!(" id=\"task-{}\"", id.0)
    } else {
        String::new()
    }
}

/// The cards of the first tasks of a document, in its order.
#[derive(Debug, Default)]
pub(super) struct Cards {
    pub(super) kept: Vec<Card>,
    /// How many tasks there are.
    pub(super) total: usize,
    /// Tasks with a card, but without grids for lack of room.
    pub(super) without_grids: usize,
    pub(super) grid_bytes: usize,
}

/// The words of the form above the cards.
pub(super) struct Words {
    pub(super) states: &'static [StateLabel],
    /// What the document is of.
    pub(super) work: &'static str,
    /// What the score counts.
    pub(super) scored: &'static str,
    /// What is searched for words.
    pub(super) searched: &'static str,
}

impl Cards {
    /// Counts a task, and keeps its card if there is room for it, with its grids if there is room for them.
    pub(super) fn add(&mut self, mut card: Card) {
        self.total += 1;
        if self.total > CARDS {
            return;
        }
        let bytes = card.data.as_ref().map_or(0, String::len);
        if self.grid_bytes + bytes > GRID_BYTES {
            card.data = None;
            self.without_grids += 1;
        } else {
            self.grid_bytes += bytes;
        }
        self.kept.push(card);
    }

    /// The section of the tasks, with their evaluations by outcome, if these are known.
    pub(super) fn section(&self, words: &Words, by_task: &HashMap<Text, OutcomeCounts>) -> String {
        let counts: Vec<OutcomeCounts> = self
            .kept
            .iter()
            .map(|card| by_task.get(&card.id).copied().unwrap_or_default())
            .collect();
        let mut html = heading(self.total) + &self.form(words, &counts);
        if self.kept.len() < self.total {
            add!(
                html,
                "<p class=\"none\">The first {} of {} tasks are shown.</p>",
                thousands(self.kept.len() as u64),
                thousands(self.total as u64)
            );
        }
        if self.without_grids > 0 {
            add!(
                html,
                "<p class=\"none\">{} tasks are shown without grids, for which there is no room.</p>",
                thousands(self.without_grids as u64)
            );
        }
        html += "<div id=\"cards\" class=\"cards\">\n";
        for (at, (card, counts)) in self.kept.iter().zip(counts).enumerate() {
            html += &card.html(at, counts);
        }
        html + "</div>\n<p id=\"nothing\" class=\"none\" hidden>No task is like that.</p></section>\n"
    }

    /// The form that filters and sorts the cards. It needs a script, which makes it visible.
    fn form(&self, words: &Words, counts: &[OutcomeCounts]) -> String {
        let Words {
            work,
            scored,
            searched,
            states,
        } = words;
        let of_state = |(class, word): &StateLabel| {
            let cards = self.kept.iter().filter(|card| card.state.0 == *class);
            (*class, *word, cards.count())
        };
        let all = [("", "all", self.kept.len())];
        let mut html = String::from(
            "<form id=\"filters\" class=\"filters\" role=\"search\" aria-label=\"Tasks\" hidden>\
             <fieldset><legend>State</legend>",
        );
        for (value, label, count) in all.into_iter().chain(states.iter().map(of_state)) {
            let checked = if value.is_empty() { " checked" } else { "" };
            add!(
                html,
                "<label><input type=\"radio\" name=\"state\" value=\"{value}\"{checked}>\
                 <span>{label} <b>{}</b></span></label>",
                thousands(count as u64)
            );
        }
        html += "</fieldset>";
        let options = OutcomeCounts::options(counts);
        if !options.is_empty() {
            add!(
                html,
                "<label>Outcome <select name=\"outcome\"><option value=\"\">any</option>{options}</select></label>"
            );
        }
        add!(
            html,
            "<label>Order <select name=\"order\"><option value=\"\">as in the {work}\
             </option><option value=\"id\">by id</option><option value=\"low\">fewest train {scored} right \
             first</option><option value=\"high\">most train {scored} right first</option></select></label>\
             <label class=\"search\">Search <input type=\"search\" name=\"text\" \
             placeholder=\"{searched}\" autocomplete=\"off\" spellcheck=\"false\"></label>\
             <output id=\"shown\" aria-live=\"polite\"></output></form>\n"
        );
        html
    }

    /// The data of the page: a line for all cards, then a line for each with its grids.
    pub(super) fn data(&self) -> serde_json::Result<String> {
        let mut lines = serde_json::to_string(&Shared { palette: PALETTE })?;
        for card in &self.kept {
            lines.push('\n');
            lines += card.data.as_deref().unwrap_or("");
        }
        // `<` occurs only inside strings, and could end the element that holds the data.
        Ok(lines.replace('<', "\\u003c"))
    }
}

/// The beginning of the section of the tasks.
pub(super) fn heading(total: usize) -> String {
    format!(
        "<section id=\"tasks\"><h2>Tasks <span class=\"total\">{}</span></h2>\n",
        thousands(total as u64)
    )
}

/// What all cards share.
#[derive(Serialize)]
struct Shared {
    /// The colours 0 to 9.
    palette: [(u8, u8, u8); 10],
}

#[derive(Deserialize)]
#[serde(expecting = "a pair with an input")]
pub(super) struct Pair {
    input: Grid,
    output: Option<Grid>,
}

/// The grids of a task as the script reads them.
#[derive(Serialize)]
struct Data<'a> {
    /// The distinct grids.
    grids: &'a [String],
    /// How many of the pairs are train pairs.
    trains: usize,
    /// Input and expected output of each pair.
    pairs: &'a [[GridIndex; 2]],
    /// The output of each program on each pair; none on the train pairs of a search.
    best: &'a [Vec<GridIndex>],
    /// What is submitted for each test pair.
    attempts: &'a [Vec<GridIndex>],
    /// What each layer of each attempt of a search paints in the outputs of test pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    layers: Option<&'a [Vec<Vec<GridIndex>>]>,
}

/// The grids of the pairs of a task, the train pairs first.
pub(super) struct Pairs {
    pub(super) grids: Grids,
    pub(super) trains: usize,
    /// Input and expected output of each.
    places: Vec<[GridIndex; 2]>,
    pub(super) left_out: usize,
}

impl Pairs {
    pub(super) fn new(train: First<Pair, PAIRS>, test: First<Pair, PAIRS>) -> Self {
        let mut grids = Grids::default();
        let (trains, left_out) = (train.kept.len(), train.left_out() + test.left_out());
        let pairs = train.kept.into_iter().chain(test.kept);
        let pairs = pairs.map(|pair| [Some(pair.input), pair.output].map(|grid| grids.place(grid)));
        Self {
            places: pairs.collect(),
            grids,
            trains,
            left_out,
        }
    }

    /// The expected outputs of the test pairs.
    pub(super) fn expected(&self) -> Vec<GridIndex> {
        let tests = self.places[self.trains..].iter();
        tests.map(|&[_, output]| output).collect()
    }

    /// The line of data, with these outputs of programs, attempts, and layers.
    pub(super) fn data(
        &self,
        best: &[Vec<GridIndex>],
        attempts: &[Vec<GridIndex>],
        layers: Option<&[Vec<Vec<GridIndex>>]>,
    ) -> Option<String> {
        let data = Data {
            grids: &self.grids.texts,
            trains: self.trains,
            pairs: &self.places,
            best,
            attempts,
            layers,
        };
        serde_json::to_string(&data).ok()
    }
}
