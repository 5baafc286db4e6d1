//! Writes generated tasks in the format of Kaggle's competitions: a file of challenges and one of solutions. The
//! built-in programs take turns to generate tasks, from the seeds 0, 1, 2 and so on.
//!
//! ```text
//! cargo run --release --example generate -- 10000 FOLDER
//! mega-batch run --tasks FOLDER/challenges.json --solutions FOLDER/solutions.json --all-pairs
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arc_dsl::Grid;
use arc_tasks::{MAX_SIDE, Pair, builtin};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(count), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("expected the number of tasks and a folder".into());
    };
    let (count, folder): (usize, _) = (count.parse()?, Path::new(&folder));
    let all = builtin::all();
    let open = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
    let (mut challenges, mut solutions) = (open("challenges.json")?, open("solutions.json")?);
    for at in 0..count {
        let task = all[at % all.len()].task((at / all.len()) as u64, 3, 1, MAX_SIDE);
        let id = format!("{}_{:05}", task.id, at / all.len());
        let train: Vec<_> = task.train.iter().map(pair).collect();
        let test = task.test.iter();
        let inputs: Vec<_> = test
            .clone()
            .map(|it| json!({ "input": rows(&it.input) }))
            .collect();
        let outputs: Vec<_> = test.filter_map(|it| it.output.as_ref().map(rows)).collect();
        let before = if at == 0 { "{" } else { ",\n" };
        let challenge = json!({ "train": train, "test": inputs });
        write!(challenges, "{before}{}:{challenge}", json!(id))?;
        write!(solutions, "{before}{}:{}", json!(id), json!(outputs))?;
    }
    let end = if count == 0 { "{}\n" } else { "}\n" };
    challenges.write_all(end.as_bytes())?;
    Ok(solutions.write_all(end.as_bytes())?)
}

fn pair(pair: &Pair) -> Value {
    json!({ "input": rows(&pair.input), "output": pair.output.as_ref().map(rows) })
}

fn rows(grid: &Grid) -> Vec<&[i8]> {
    grid.rows().collect()
}
