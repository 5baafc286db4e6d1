//! A search with an additional proposer.
//!
//! `cargo run --release --package arc-search --example own_proposer`
//!
//! It repeats one step until nothing changes: a colour of the task spreads over empty cells.

use std::error::Error;

use arc_dsl::{Interpreter, Program, Value};
use arc_search::pieces::Layer;
use arc_search::propose::{Proposal, Proposer, Scene};
use arc_search::{Language, Options, Searcher};
use arc_tasks::{Pair, Task, builtin};
use arc_text::parse_functions;

/// The steps: where each cell of a colour spreads to, a function of locations.
const STEPS: [(&str, &str); 5] = [
    (
        "spreads along rows and columns",
        "lbind(mapply, dneighbors)",
    ),
    ("spreads in all directions", "lbind(mapply, neighbors)"),
    ("spreads along diagonals", "lbind(mapply, ineighbors)"),
    ("flows down", "rbind(shift, DOWN)"),
    ("flows to the right", "rbind(shift, RIGHT)"),
];

/// What a step costs.
const COST: u8 = 6;

/// Proposes the fixed point of a step.
struct Settled(Vec<Program>);

impl Settled {
    fn new() -> Result<Self, Box<dyn Error>> {
        // Sixty repetitions are enough on any grid: if it still changes then, it is no answer.
        let text = STEPS.iter().enumerate().map(|(number, (_, step))| {
            format!(
                "def settled_{number}(g, c):\n    own = rbind(ofcolor, c)\n    there = compose({step}, own)\n    empty = fork(intersection, there, rbind(ofcolor, 0))\n    step = fork(paint, identity, compose(lbind(recolor, c), empty))\n    settled = power(step, 60)\n    return settled(g)\n\n"
            )
        });
        let functions = parse_functions(&text.collect::<String>()).into_iter();
        Ok(Self(functions.collect::<Result<_, _>>()?))
    }
}

impl Proposer for Settled {
    fn name(&self) -> &'static str {
        "settled"
    }

    fn functions(&self) -> &[Program] {
        &self.0
    }

    fn needs_values(&self) -> bool {
        false
    }

    fn propose(&self, scene: &mut Scene<'_>, take: &mut dyn FnMut(Proposal) -> bool) {
        let input = scene.batt.input();
        for ((words, _), function) in STEPS.iter().zip(scene.functions) {
            for colour in scene.colours {
                let Ok(value) = scene.batt.constant(&Value::Int(*colour)) else {
                    return;
                };
                let Ok(pushed) = scene.batt.push(*function, &[input, value]) else {
                    return;
                };
                let Some(node) = pushed.node().filter(|node| scene.batt.is_solution(*node)) else {
                    continue;
                };
                let goes_on = take(Proposal {
                    layers: vec![Layer::All(node)],
                    fits: scene.frame.train as u32,
                    cost: COST,
                    total: COST.into(),
                    rule: Some(format!("{colour} {words} until nothing changes")),
                    by: self.name(),
                });
                if !goes_on {
                    return;
                }
            }
        }
    }
}

/// A line for the search without the proposer, and one for that with it.
fn lines() -> Result<Vec<String>, Box<dyn Error>> {
    // Colour 3 spreads along diagonals as far as it can.
    let text = "def solve(I):\n    x = compose(lbind(mapply, ineighbors), rbind(ofcolor, 3))\n    y = fork(intersection, x, rbind(ofcolor, 0))\n    f = power(fork(paint, identity, compose(lbind(recolor, 3), y)), 40)\n    return f(I)\n";
    let program = arc_text::parse_programs(text).remove(0)?;
    let mut tasks = Vec::new();
    for made in builtin::all().iter().map(|it| it.task(1, 3, 1, 10)) {
        let answer = |pair: &Pair| {
            let output = Interpreter::default().run(&program, Value::Grid(pair.input.clone()));
            let output = output.ok()?.as_grid()?.into_owned();
            Some(Pair::new((*pair.input).clone(), output))
        };
        let train: Option<Vec<_>> = made.train.iter().map(answer).collect();
        let test: Option<Vec<_>> = made.test.iter().map(answer).collect();
        if let (Some(train), Some(test)) = (train, test) {
            tasks.push(Task {
                train,
                test,
                ..made
            });
        }
    }
    let mut lines = Vec::new();
    let searcher = || Searcher::new(Language::default(), Options::of_nodes(1_000));
    for (name, mut searcher) in [
        ("usual", searcher()),
        ("with one more", searcher().with_proposer(Settled::new()?)),
    ] {
        let (mut solved, mut own) = (0, 0);
        for task in &tasks {
            let found = searcher.search(task, &mut || false);
            let place = found
                .answers_of(0)
                .position(|it| Some(it) == task.test[0].output.as_ref());
            if let Some(place) = place {
                solved += 1;
                own += usize::from(found.attempts[found.answers[0][place]].by == "settled");
            }
        }
        lines.push(format!(
            "{name}: {solved} of {} tasks solved, {own} by its own proposer",
            tasks.len()
        ));
    }
    Ok(lines)
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", lines()?.join("\n"));
    Ok(())
}

#[cfg(test)]
#[test]
fn the_first_hour_says_what_this_prints() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/first-hour.md");
    let page = std::fs::read_to_string(page).unwrap();
    let lines = lines().unwrap().join("\n");
    assert!(page.contains(&lines), "{lines}");
}
