//! Programs on the grids of their tasks, on the emulated device beside the reference:
//! `cargo run --example on_device -p arc-check -- PROGRAMS TASKS [NAME]`.
//!
//! A program is run on all grids of the task that its name ends with. For those that differ or bail
//! out it says which and why.

use std::collections::BTreeMap;
use std::error::Error;

use arc_check::conformance;
use arc_dsl::{Grid, Task, parse_programs};
use gpu_kernels::Engine;
use gpu_kernels::device::emulated::Emulation;
use gpu_kernels::device::open;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "expected a file of programs and a folder of tasks";
    let (programs, tasks) = (
        arguments.next().ok_or(usage)?,
        arguments.next().ok_or(usage)?,
    );
    let name = arguments.next();
    let engine = Engine::new(open::emulated(0, &Emulation::default())?);
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    let (mut whole, mut same, mut failing, mut bailed) = (0, 0, 0, 0);
    for program in parse_programs(&std::fs::read_to_string(programs)?)
        .into_iter()
        .flatten()
    {
        if name.as_ref().is_some_and(|name| name != program.name()) {
            continue;
        }
        let id = program.name().rsplit('_').next().unwrap_or_default();
        let Ok(text) = std::fs::read_to_string(format!("{tasks}/{id}.json")) else {
            continue;
        };
        let task = Task::from_json(id, text.as_bytes())?;
        let inputs: Vec<Grid> = task
            .pairs()
            .map(|(_, pair)| (*pair.input).clone())
            .collect();
        let name = program.name().to_owned();
        let tally = conformance::programs(&engine, &[(program, inputs)])?;
        whole += tally.device;
        same += tally.same;
        failing += tally.failing;
        for (reason, count) in &tally.bail_outs {
            println!("{name}: {count} bail-outs, {reason}");
            *reasons.entry(reason.to_string()).or_default() += *count as u32;
            bailed += count;
        }
        if let Some(first) = tally.first {
            println!("{name}: {} DIFFERENT\n{first}", tally.different);
        }
    }
    println!(
        "{whole} programs on the device: {same} evaluations the same, {failing} fail, {bailed} bailed out"
    );
    for (reason, count) in reasons {
        println!("{count:>6}  {reason}");
    }
    Ok(())
}
