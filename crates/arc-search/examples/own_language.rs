//! A search with a custom language: operations written in the DSL, the costs of calls, and the seeds.
//!
//! `cargo run --release --package arc-search --example own_language`
//!
//! The example generates its tasks. Each needs something that no primitive does, so a solution has to combine the
//! operations below.

use std::error::Error;

use arc_dsl::{Grid, Interpreter, Program, Value};
use arc_search::{Language, Options, Searcher};
use arc_tasks::{Pair, Task};
use arc_text::parse_programs;

/// Operations of the language, as functions of the DSL. A function may call those above it.
const DERIVED: &str = "
# The rim of the grid, in this colour.
def rimmed(I, a):
    return fill(I, a, box(asindices(I)))

# The grid with one cell more on each side.
def widened(I):
    return paint(canvas(0, add(shape(I), (2, 2))), shift(asobject(I), UNITY))

# The locations of the colour that is there least.
def rarest_at(I):
    return ofcolor(I, leastcolor(I))

# The lines through locations, from edge to edge.
def lines_through(a):
    return mapply(fork(combine, hfrontier, vfrontier), a)
";

/// The calls and their costs. A kind is any word: `spots` are locations of which there are few, so that no lines are
/// drawn through every cell of a colour.
const TABLE: &str = "
[calls]
2 grid -> grid: vmirror hmirror widened
3 grid grid -> grid: hconcat vconcat
2 grid colour -> grid: rimmed
1 grid -> spots: rarest_at
2 spots -> indices: lines_through
3 grid -> colour: leastcolor
[seeds]
1 grid: I
[colours]
1 colour: COLOUR
";

/// The programs that the tasks ask for. The search does not see them.
const ASKED: &str = "
def solve_doubled(I):
    return hconcat(I, vmirror(I))

def solve_framed(I):
    return fill(paint(canvas(0, add(shape(I), (2, 2))), shift(asobject(I), (1, 1))), 5, box(asindices(canvas(0, add(shape(I), (2, 2))))))

def solve_crossed(I):
    return fill(I, leastcolor(I), mapply(fork(combine, hfrontier, vfrontier), ofcolor(I, leastcolor(I))))
";

fn main() -> Result<(), Box<dyn Error>> {
    // An error in a language names the line.
    let language = Language::parse(DERIVED, TABLE)?;
    println!("{language}\n");
    let mut options = Options::default();
    options.nodes = 2_000;
    let mut searcher = Searcher::new(language, options);
    for program in parse_programs(ASKED) {
        let task = task(&program?)?;
        let found = searcher.search(&task, &mut || false);
        for (number, pair) in task.test.iter().enumerate() {
            let place = found
                .answers_of(number)
                .position(|answer| Some(answer) == pair.output.as_ref());
            println!(
                "{}, test {number}: {}",
                task.id,
                match place {
                    Some(place) => format!("right at place {}", place + 1),
                    None => "not solved".to_owned(),
                }
            );
        }
        if let Some(attempt) = found.attempts.first() {
            println!("{}", attempt.program);
        }
    }
    Ok(())
}

/// Three train pairs and a test pair of a program, on grids with a few cells of two colours.
fn task(program: &Program) -> Result<Task, Box<dyn Error>> {
    let mut interpreter = Interpreter::default();
    let mut pairs = Vec::new();
    for (number, side) in [6, 5, 7, 8].into_iter().enumerate() {
        let mut input = Grid::filled(side, side + number, 0);
        let cells = input.cells().len();
        for at in [3, 8, 13] {
            input.cells_mut()[(at * (number + 2) + 1) % cells] = 3;
        }
        input.cells_mut()[(7 * number + 9) % cells] = 4;
        let output = interpreter.run(program, Value::from(input.clone()))?;
        let output = output.as_grid().ok_or("expected a grid")?.into_owned();
        pairs.push(Pair::new(input, output));
    }
    let test = pairs.split_off(3);
    Ok(Task {
        id: program.task_id().to_owned(),
        train: pairs,
        test,
        ..Task::default()
    })
}
