//! `ptx --count`: counts the instructions that the kernels execute, on the interpreted device.
//!
//! The counts are the same on every machine: cases and inputs come from fixed seeds, and the device executes the
//! embedded PTX in a fixed order.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use arc_check::conformance::{self, Cases, Tally};
use arc_dsl::{Grid, Program};
use arc_tasks::{Task, builtin};
use arc_text::parse_programs;
use gpu_kernels::device::DeviceError;
use gpu_kernels::device::image::PTX;
use gpu_kernels::list_operations::ListOperation;
use gpu_kernels::operations::OPERATIONS;
use gpu_kernels::{DeviceProgram, Engine, Evaluation, LaunchConfig, Pool};
use gpu_sim::interpreted::{Interpretation, InterpretedDevice};
use gpu_sim::open;
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_64;

/// The file of the counts.
const COUNTS: &str = "benches/results/instructions.json";

/// Cases of each operation, and pairs of a built-in program's task.
const CASES: usize = 24;
const PAIRS: u64 = 4;
const SEED: u64 = 1;

/// Counts, and writes the file or compares with it. Programs from a file are only shown.
pub(crate) fn run(root: &Path, check: bool, others: Option<(&Path, &Path)>) -> Result<()> {
    let programs = built_in();
    let document = json!({
        "image": format!("{:016x}", xxh3_64(PTX.as_bytes())),
        "operations": operations()?,
        "programs_alone": programs_of(&programs, 1)?,
        "programs_side_by_side": programs_of(&programs, 4)?,
    });
    let text = serde_json::to_string_pretty(&document)? + "\n";
    let path = root.join(COUNTS);
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    show_changes(
        &serde_json::from_str(&kept).unwrap_or(Value::Null),
        &document,
    );
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
            let mut counted = programs_of(&others, side_by_side)?;
            counted.remove("each");
            let counted = serde_json::to_string_pretty(&counted)?;
            println!("{side_by_side} side by side: {counted}");
        }
    }
    Ok(())
}

/// Prints the figures that changed, of single programs only their sums.
fn show_changes(before: &Value, now: &Value) {
    for place in [
        "/programs_alone/all",
        "/programs_side_by_side/all",
        "/operations",
    ] {
        let figures = now.pointer(place).and_then(Value::as_object);
        for (name, is) in figures.into_iter().flatten() {
            let was = before.pointer(place).map_or(&Value::Null, |all| &all[name]);
            if was != is {
                println!("{place}/{name}: {was} -> {is}");
            }
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

/// Each operation, one evaluation after the other; those on lists with the steps that build their operands and check
/// their results.
fn operations() -> Result<Map<String, Value>> {
    let mut all = Map::new();
    let engine = engine(1)?;
    let mut count = |name: &str, checked: Result<Tally, DeviceError>| {
        let tally = checked?;
        if let Some(first) = &tally.first {
            bail!("{name}: {first}");
        }
        let issued = engine.device().take_counts().issued();
        all.insert(name.to_owned(), tenths(issued, tally.cases()));
        Ok(())
    };
    for (opcode, operation) in OPERATIONS.iter().enumerate() {
        let cases = Cases::drawn(SEED, opcode as u16, CASES, |cases| cases.of(opcode));
        count(operation.name, conformance::check(&engine, cases.collect()))?;
    }
    for operation in ListOperation::ALL {
        let make = |cases: &mut Cases| cases.of_list(*operation);
        let cases = Cases::drawn(SEED, operation.opcode(), CASES, make);
        let checked = conformance::check_lists(&engine, cases.collect());
        count(operation.name(), checked)?;
    }
    Ok(all)
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
        let path = folder.join(format!("{id}.json"));
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

/// Instructions per evaluation of each program, of all together, and of those without an arena, including comparison
/// and verdict.
fn programs_of(programs: &[Counted], side_by_side: u32) -> Result<Map<String, Value>> {
    let engine = engine(side_by_side)?;
    let mut each = Map::new();
    let (mut all, mut straight) = (Sum::default(), Sum::default());
    for one in programs {
        let (issued, made) = evaluated(&engine, one, side_by_side)?;
        if made == 0 {
            continue;
        }
        each.insert(one.name.clone(), (issued / made).into());
        all.add(issued, made);
        if !one.program.has_arena() {
            straight.add(issued, made);
        }
    }
    let (all, straight) = (all.summary(), straight.summary());
    let parts = [
        ("all", all),
        ("without_arena", straight),
        ("each", each.into()),
    ];
    Ok(parts
        .map(|(name, part)| (name.to_owned(), part))
        .into_iter()
        .collect())
}

/// The counts of some programs.
#[derive(Default)]
struct Sum {
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
) -> Result<(u64, u64)> {
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
    let issued = engine.device().take_counts().issued();
    Ok((issued, evaluations.len() as u64))
}

/// Rounded to tenths, which is precise enough for a reader.
fn tenths(count: u64, of: u64) -> Value {
    json!((count as f64 * 10.0 / of.max(1) as f64).round() / 10.0)
}

impl Sum {
    fn add(&mut self, issued: u64, evaluations: u64) {
        self.issued += issued;
        self.evaluations += evaluations;
        self.rates.push(issued / evaluations);
    }

    fn summary(mut self) -> Value {
        self.rates.sort_unstable();
        let quantile = |percent: usize| self.rates.get(self.rates.len() * percent / 100);
        json!({
            "programs": self.rates.len(),
            "evaluations": self.evaluations,
            "instructions": tenths(self.issued, self.evaluations),
            "median": quantile(50),
            "p90": quantile(90),
            "most": self.rates.last(),
        })
    }
}
