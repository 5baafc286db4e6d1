//! `ptx --count`: counts the instructions that the kernels execute, on the interpreted device.
//!
//! The counts are the same on every machine: cases and inputs come from fixed seeds, and the device executes the
//! embedded PTX in a fixed order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use arc_check::conformance::{self, Cases};
use arc_dsl::{Grid, Program};
use arc_tasks::{Task, builtin};
use arc_text::parse_programs;
use gpu_kernels::device::image::PTX;
use gpu_kernels::list_operations::ListOperation;
use gpu_kernels::operations::OPERATIONS;
use gpu_kernels::{DeviceProgram, Engine, Evaluation, LaunchConfig, Pool};
use gpu_sim::interpreted::{InstructionCounts, Interpretation, InterpretedDevice, Part};
use gpu_sim::open;
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_64;

/// The file of the counts.
const COUNTS: &str = "benches/results/instructions.json";

/// Cases of each operation, and pairs of a built-in program's task.
const CASES: usize = 24;
const PAIRS: u64 = 4;
const SEED: u64 = 1;

/// The mark in the PTX where an operation begins, followed by its name.
const MARK: &str = "// arc part operation ";

/// The number of operations shown for programs from a file.
const SHOWN: usize = 40;

/// Counts, and writes the file or compares with it. Programs from a file are only shown.
pub(crate) fn run(root: &Path, check: bool, others: Option<(&Path, &Path)>) -> Result<()> {
    let mut operations = operations()?;
    let names = names();
    let programs = built_in();
    let mut document = Map::new();
    let image = format!("{:016x}", xxh3_64(PTX.as_bytes()));
    document.insert("image".into(), image.into());
    document.insert("list_operations".into(), list_operations()?);
    for (name, side_by_side) in [("alone", 1), ("side_by_side", 4)] {
        let (counted, runs) = programs_of(&programs, side_by_side)?;
        document.insert(format!("programs_{name}"), counted);
        if side_by_side == 1 {
            for (name, of_one) in in_programs(&runs.all, &names) {
                let operation = operations.entry(name).or_insert_with(|| json!({}));
                operation["in_programs"] = of_one;
            }
        }
    }
    document.insert("operations".into(), operations.into());
    let text = serde_json::to_string_pretty(&document)? + "\n";
    let path = root.join(COUNTS);
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let before = serde_json::from_str(&kept).unwrap_or(Value::Null);
    show_changes(&before, &Value::Object(document));
    if check {
        ensure!(
            kept.replace("\r\n", "\n") == text,
            "{COUNTS} is out of date: run `cargo xtask ptx --count`"
        );
    } else {
        std::fs::write(&path, &text).with_context(|| path.display().to_string())?;
        println!("{COUNTS}: written");
    }
    if let Some((file, folder)) = others {
        let others = foreign(file, folder)?;
        for side_by_side in [1, 4] {
            let (counted, runs) = programs_of(&others, side_by_side)?;
            println!("{side_by_side} side by side:");
            for (which, runs) in [("without_arena", &runs.without_arena), ("all", &runs.all)] {
                println!(
                    "{which}: {}",
                    serde_json::to_string_pretty(&counted[which])?
                );
                if side_by_side == 1 {
                    show_operations(&in_programs(runs, &names));
                }
            }
        }
    }
    Ok(())
}

/// Prints how the main figures changed.
fn show_changes(before: &Value, now: &Value) {
    for name in ["programs_alone", "programs_side_by_side"] {
        let (before, now) = (&before[name]["all"], &now[name]["all"]);
        for figure in ["instructions", "median"] {
            let (was, is) = (&before[figure], &now[figure]);
            if was == is || was.is_null() {
                println!("{name}: {figure} {is}");
                continue;
            }
            let numbers = (was.as_f64(), is.as_f64());
            let change = numbers
                .0
                .zip(numbers.1)
                .map_or(0.0, |(was, is)| is / was - 1.0);
            println!("{name}: {figure} {was} -> {is} ({:+.1}%)", change * 100.0);
        }
    }
    let Some(operations) = now["operations"].as_object() else {
        return;
    };
    for (name, operation) in operations {
        let (was, is) = (&before["operations"][name]["median"], &operation["median"]);
        if was != is && !was.is_null() {
            println!("{name} alone: median {was} -> {is}");
        }
    }
}

fn engine(side_by_side: u32) -> Result<Engine<InterpretedDevice>> {
    let device = open::interpreted(0, &Interpretation::default())?;
    // With one warp per block, shared memory suffices for any number of evaluations side by side.
    let tuning = LaunchConfig {
        warps: 1,
        side_by_side,
        ..LaunchConfig::default()
    };
    Ok(Engine::with(device, tuning))
}

/// The number of runs of an operation in some programs, and their instructions.
#[derive(Debug, Clone, Copy, Default)]
struct Runs {
    runs: u64,
    instructions: u64,
}

/// The runs of operations in some programs, by the line of their mark.
#[derive(Default)]
struct RunsByLine {
    all: BTreeMap<u32, Runs>,
    /// Those in programs without an arena.
    without_arena: BTreeMap<u32, Runs>,
}

/// Operations by the line of their mark.
type Names = BTreeMap<u32, &'static str>;

/// The names of the operations by their marks in the PTX.
fn names() -> Names {
    let lines = (1..).zip(PTX.lines());
    lines
        .filter_map(|(line, text)| Some((line, text.trim().strip_prefix(MARK)?)))
        .collect()
}

/// How often each operation ran, and its mean number of instructions.
fn in_programs(by_line: &BTreeMap<u32, Runs>, names: &Names) -> BTreeMap<String, Value> {
    let mut sums: BTreeMap<&str, Runs> = BTreeMap::new();
    for (line, of_one) in by_line {
        let name = names.get(line).copied().unwrap_or("no operation");
        let sum = sums.entry(name).or_default();
        sum.runs += of_one.runs;
        sum.instructions += of_one.instructions;
    }
    let shown = |(name, sum): (&str, Runs)| {
        let mean = tenths(sum.instructions, sum.runs);
        (name.to_owned(), json!({ "runs": sum.runs, "mean": mean }))
    };
    sums.into_iter().map(shown).collect()
}

/// Prints the operations with the most instructions in total, in descending order.
fn show_operations(operations: &BTreeMap<String, Value>) {
    let figure = |of_one: &Value, name: &str| of_one[name].as_f64().unwrap_or_default();
    let all = |of_one: &Value| figure(of_one, "runs") * figure(of_one, "mean");
    let total: f64 = operations.values().map(all).sum();
    let mut rows: Vec<_> = operations.iter().collect();
    rows.sort_by(|(_, a), (_, b)| all(b).total_cmp(&all(a)));
    for (name, of_one) in rows.into_iter().take(SHOWN) {
        let share = all(of_one) / total * 100.0;
        let (runs, mean) = (&of_one["runs"], &of_one["mean"]);
        println!("{name}: {share:.1}% of the operations, {runs} runs of {mean} in the mean");
    }
}

/// The instructions per run of an operation: the median, and a summary to store.
fn runs(counts: &InstructionCounts) -> (u64, Value) {
    let mut runs: Vec<u64> = counts
        .operations()
        .iter()
        .map(|run| run.instructions)
        .collect();
    runs.sort_unstable();
    let (median, p90) = (quantile(&runs, 50), quantile(&runs, 90));
    let most = runs.last().copied().unwrap_or_default();
    (
        median,
        json!({ "median": median, "p90": p90, "most": most }),
    )
}

/// Each operation on lists, with the steps that build its operands and check its result.
fn list_operations() -> Result<Value> {
    let mut all = Map::new();
    let engine = engine(1)?;
    for operation in ListOperation::ALL {
        let make = |cases: &mut Cases| cases.of_list(*operation);
        let made = Cases::drawn(SEED, operation.opcode(), CASES, make);
        let tally = conformance::check_lists(&engine, made.collect())?;
        if let Some(first) = &tally.first {
            bail!("{first}");
        }
        let issued = engine.device().take_counts().issued();
        all.insert(
            operation.name().to_owned(),
            tenths(issued, tally.cases().max(1)),
        );
    }
    Ok(Value::Object(all))
}

/// Each operation on random operands, one evaluation after the other.
fn operations() -> Result<Map<String, Value>> {
    let mut all = Map::new();
    let mut medians = Vec::new();
    let engine = engine(1)?;
    for (opcode, operation) in OPERATIONS.iter().enumerate() {
        let made = Cases::drawn(SEED, opcode as u16, CASES, |cases| cases.of(opcode));
        if let Some(first) = conformance::check(&engine, made.collect())?.first {
            bail!("{}: {first}", operation.name);
        }
        let (median, runs) = runs(&engine.device().take_counts());
        medians.push(median);
        all.insert(operation.name.to_owned(), runs);
    }
    medians.sort_unstable();
    all.insert(
        "median_of_all".to_owned(),
        json!({ "median": quantile(&medians, 50) }),
    );
    Ok(all)
}

fn quantile(sorted: &[u64], percent: usize) -> u64 {
    let at = sorted.len() * percent / 100;
    sorted
        .get(at.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

/// A program with the pairs of its task.
struct Counted {
    name: String,
    program: DeviceProgram,
    pairs: Vec<(Grid, Option<Grid>)>,
}

fn built_in() -> Vec<Counted> {
    let of = |one: &builtin::BuiltIn| {
        let task = one.task(SEED, PAIRS as usize, 0, 30);
        counted(one.program(), &task)
    };
    builtin::all().iter().filter_map(of).collect()
}

/// `None` if only the host runs the program.
fn counted(program: &Program, task: &Task) -> Option<Counted> {
    let pairs = task.pairs();
    Some(Counted {
        name: program.name().to_owned(),
        program: conformance::compiled(program).ok()?,
        pairs: pairs
            .map(|(_, pair)| ((*pair.input).clone(), pair.output.clone()))
            .collect(),
    })
}

/// The programs of a file with their tasks in a folder, `ID.json` each.
fn foreign(file: &Path, folder: &Path) -> Result<Vec<Counted>> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let mut all = Vec::new();
    for program in parse_programs(&text).into_iter().flatten() {
        let id = program.task_id();
        let path: PathBuf = folder.join(format!("{id}.json"));
        let Ok(json) = std::fs::read(&path) else {
            continue;
        };
        let task = Task::from_json(id, &json).with_context(|| path.display().to_string())?;
        all.extend(counted(&program, &task));
    }
    ensure!(
        !all.is_empty(),
        "no program of {} has a task and runs on a device",
        file.display()
    );
    Ok(all)
}

/// Instructions per evaluation of each program and of all together, including comparison and verdict; and those of
/// the runs of operations, by the lines of their marks.
fn programs_of(programs: &[Counted], side_by_side: u32) -> Result<(Value, RunsByLine)> {
    let engine = engine(side_by_side)?;
    let mut each = Map::new();
    let (mut all, mut straight) = (Sum::default(), Sum::default());
    let mut runs = RunsByLine::default();
    for one in programs {
        let (counts, made) = evaluated(&engine, one, side_by_side)?;
        if made == 0 {
            continue;
        }
        each.insert(one.name.clone(), (counts.issued() / made).into());
        all.add(&counts, made);
        add_runs(&mut runs.all, &counts);
        if !one.program.has_arena() {
            straight.add(&counts, made);
            add_runs(&mut runs.without_arena, &counts);
        }
    }
    let (all, straight) = (all.summary(), straight.summary());
    Ok((
        json!({ "all": all, "without_arena": straight, "each": each }),
        runs,
    ))
}

fn add_runs(by_line: &mut BTreeMap<u32, Runs>, counts: &InstructionCounts) {
    for run in counts.operations() {
        let sum = by_line.entry(run.line).or_default();
        sum.runs += 1;
        sum.instructions += run.instructions;
    }
}

/// The counts of some programs.
#[derive(Default)]
struct Sum {
    parts: BTreeMap<Option<Part>, u64>,
    issued: u64,
    evaluations: u64,
    /// Instructions per evaluation, by program.
    rates: Vec<u64>,
}

/// Runs one program on the pairs of its task, each as often as evaluations go side by side.
fn evaluated(
    engine: &Engine<InterpretedDevice>,
    one: &Counted,
    side_by_side: u32,
) -> Result<(InstructionCounts, u64)> {
    let mut pool = Pool::default();
    let mut evaluations = Vec::new();
    for (input, output) in &one.pairs {
        let Ok(arguments) = pool.push_grid(input) else {
            continue;
        };
        let expected = output
            .as_ref()
            .and_then(|output| pool.push_grid(output).ok());
        for _ in 0..side_by_side {
            evaluations.push(Evaluation {
                program: 0,
                arguments,
                expected,
                fetch: false,
            });
        }
    }
    let loaded = engine.load(std::slice::from_ref(&one.program))?;
    engine.device().take_counts();
    engine.run(&loaded, &pool, &evaluations)?;
    Ok((engine.device().take_counts(), evaluations.len() as u64))
}

/// Rounded to tenths, which is precise enough for a reader.
fn tenths(count: u64, of: u64) -> Value {
    json!((count as f64 * 10.0 / of.max(1) as f64).round() / 10.0)
}

impl Sum {
    fn add(&mut self, counts: &InstructionCounts, evaluations: u64) {
        self.issued += counts.issued();
        self.evaluations += evaluations;
        self.rates.push(counts.issued() / evaluations);
        for part in [None].into_iter().chain(Part::ALL.map(Some)) {
            *self.parts.entry(part).or_default() += counts.part(part);
        }
    }

    fn summary(mut self) -> Value {
        self.rates.sort_unstable();
        let each = |count| tenths(count, self.evaluations);
        let parts = self.parts.iter().map(|(part, issued)| {
            let name = part.map_or("launch", Part::name);
            (name.to_owned(), each(*issued))
        });
        json!({
            "programs": self.rates.len(),
            "evaluations": self.evaluations,
            "instructions": each(self.issued),
            "median": quantile(&self.rates, 50),
            "p90": quantile(&self.rates, 90),
            "most": self.rates.last(),
            "parts": parts.collect::<Map<_, _>>(),
        })
    }
}
