//! [`Work`]: the operations, pipelines and programs that are measured, on the device and on the CPU.

use std::sync::Arc;

use arc_cpu::Compiled;
use arc_dsl::{Grid, Program, Task, TaskIds, builtin, parse_programs};
use gpu_kernels::{DeviceProgram, encode};
use serde::Serialize;

use crate::bench::workload::{Pool, Workload};

/// The section of the benchmark that a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Section {
    /// One operation, or several if it takes the results of others.
    Operation,
    /// Operations chained in one launch.
    Pipeline,
    /// Whole programs, taking turns.
    Programs,
    /// Candidates of a search: families of programs that share most of their steps, each family on the
    /// inputs of one task.
    Batts,
}

impl Section {
    /// Whether small batches say nothing about it: they would hold only a few of its many programs.
    pub(super) fn is_of_many(self) -> bool {
        matches!(self, Section::Programs | Section::Batts)
    }
}

/// Programs that are measured besides the built-in ones, and tasks: each program is run on the pairs of its own task.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub(crate) programs: Vec<Program>,
    pub(crate) tasks: Vec<Task>,
}

/// Inputs of a work's programs, by the program's index.
pub(super) type ProgramInputs = Vec<Vec<Arc<Grid>>>;

/// Programs that are run together, each in three forms.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) section: Section,
    pub(super) name: String,
    /// The file of `kernels/ops` that holds the operation, or another name.
    pub(super) family: &'static str,
    pub(super) programs: Vec<Program>,
    pub(super) on_device: Vec<DeviceProgram>,
    pub(super) compiled: Vec<Compiled>,
}

/// Operations by family: name, family, and the call, whose arguments are computed from the grid `I`. Hardly any grid
/// makes them bail out, which would leave the device less to do than the CPU.
#[rustfmt::skip]
const OPERATIONS: &[(&str, &str, &str)] = &[
    ("identity", "none", "identity(I)"),
    ("rot90", "transforms", "rot90(I)"),
    ("hmirror", "transforms", "hmirror(I)"),
    ("dmirror", "transforms", "dmirror(I)"),
    ("crop", "transforms", "crop(I, (0, 0), (5, 5))"),
    ("replace", "colours", "replace(I, 0, 5)"),
    ("mostcolor", "colours", "mostcolor(I)"),
    ("ofcolor", "colours", "ofcolor(I, 0)"),
    ("fill", "painting", "fill(I, 5, ofcolor(I, 0))"),
    ("cover", "painting", "cover(I, ofcolor(I, leastcolor(I)))"),
    ("upscale", "scaling", "upscale(crop(I, (0, 0), (10, 10)), 3)"),
    ("downscale", "scaling", "downscale(I, 2)"),
    ("multiply", "arithmetic", "multiply(shape(I), 2)"),
    ("vmirror of a patch", "mirrors", "vmirror(ofcolor(I, mostcolor(I)))"),
    ("difference", "sets", "difference(asindices(I), ofcolor(I, 0))"),
    ("centerofmass", "extents", "centerofmass(asindices(I))"),
    ("shift", "outlines", "shift(ofcolor(I, 0), (1, 2))"),
    ("box", "outlines", "box(asindices(I))"),
    ("connect", "outlines", "connect((0, 0), shape(I))"),
    ("manhattan", "relations", "manhattan(ofcolor(I, mostcolor(I)), ofcolor(I, leastcolor(I)))"),
    ("gravitate", "relations", "gravitate(ofcolor(I, leastcolor(I)), ofcolor(I, mostcolor(I)))"),
    ("objects", "components", "objects(I, True, False, True)"),
    ("objects of many colours", "components", "objects(I, False, True, True)"),
    ("partition", "components", "partition(I)"),
    ("colorfilter", "components", "colorfilter(objects(I, True, False, True), leastcolor(I))"),
    ("argmax", "components", "argmax(objects(I, True, False, False), size)"),
    ("occurrences", "patterns", "occurrences(I, asobject(crop(I, (0, 0), (2, 2))))"),
    ("hperiod", "patterns", "hperiod(asobject(I))"),
];

/// Ten operations that keep a grid's cells, or its size up to a rotation, so that a program on padded tensors does
/// the same. `{}` is the result of the previous operation, `{2}` of the one before that. `cupy_pipeline.py` has the
/// same ten.
const PIPELINE: [&str; 10] = [
    "rot90({})",
    "replace({}, 1, 2)",
    "vmirror({})",
    "switch({}, 3, 4)",
    "dmirror({})",
    "hmirror({})",
    "cellwise({}, {2}, 0)",
    "rot180({})",
    "replace({}, 5, 7)",
    "cmirror({})",
];

/// The lengths of the pipelines, in operations.
pub(super) const PIPELINES: [usize; 4] = [1, 3, 10, 30];

/// The text of a pipeline of this many operations: the ten, repeated.
pub(super) fn pipeline_text(operations: usize) -> String {
    use std::fmt::Write as _;
    let name = |number: usize| match number {
        0 => "I".to_owned(),
        number => format!("x{number}"),
    };
    let mut text = "def pipeline(I):\n".to_owned();
    for (number, call) in (1..=operations).zip(PIPELINE.iter().cycle()) {
        let call = call.replace("{}", &name(number - 1));
        let call = call.replace("{2}", &name(number.saturating_sub(2)));
        let _ = writeln!(text, "    x{number} = {call}");
    }
    let _ = writeln!(text, "    return {}", name(operations));
    text
}

/// The pipeline of this many operations.
pub(super) fn pipeline_program(operations: usize) -> Result<Program, String> {
    parsed(&pipeline_text(operations))
}

fn parsed(text: &str) -> Result<Program, String> {
    let first = parse_programs(text).into_iter().next();
    first
        .ok_or_else(|| "no program".to_owned())?
        .map_err(|error| error.to_string())
}

/// The program for the device and for the CPU, or why there is none.
fn build(program: &Program) -> Result<(DeviceProgram, Compiled), String> {
    let form = arc_form::specialise(program).map_err(|error| error.reason.to_string())?;
    let on_device = encode(&form).map_err(|reason| reason.to_string())?;
    let compiled = Compiled::new(&form).map_err(|error| error.reason)?;
    Ok((on_device, compiled))
}

impl Work {
    fn single(
        section: Section,
        name: String,
        family: &'static str,
        text: &str,
    ) -> Result<Self, String> {
        let program = parsed(text)?;
        let (on_device, compiled) = build(&program)?;
        Ok(Self {
            section,
            name,
            family,
            programs: vec![program],
            on_device: vec![on_device],
            compiled: vec![compiled],
        })
    }

    /// The program that returns its input.
    pub(super) fn identity() -> Result<Self, String> {
        let text = "def identical(I):\n    return identity(I)\n";
        Self::single(Section::Operation, "identity".to_owned(), "none", text)
    }

    /// The operations and pipelines, or the name of one that cannot be built, and why.
    pub(super) fn singles() -> Vec<Result<Self, (String, String)>> {
        let operations = OPERATIONS.iter().map(|&(name, family, call)| {
            let text = format!("def operation(I):\n    return {call}\n");
            Self::single(Section::Operation, name.to_owned(), family, &text)
                .map_err(|reason| (name.to_owned(), reason))
        });
        let pipelines = PIPELINES.map(|operations| {
            let name = format!("pipeline of {operations}");
            let text = pipeline_text(operations);
            Self::single(Section::Pipeline, name.clone(), "pipeline", &text)
                .map_err(|reason| (name, reason))
        });
        operations.chain(pipelines).collect()
    }

    /// A work without programs.
    fn empty(section: Section, name: &str, family: &'static str) -> Self {
        Self {
            section,
            name: name.to_owned(),
            family,
            programs: Vec::new(),
            on_device: Vec::new(),
            compiled: Vec::new(),
        }
    }

    /// Adds a program, if the device runs it.
    fn take(&mut self, program: &Program) -> bool {
        let Ok((on_device, compiled)) = build(program) else {
            return false;
        };
        self.programs.push(program.clone());
        self.on_device.push(on_device);
        self.compiled.push(compiled);
        true
    }

    /// The built-in programs that the device runs, and how many it does not run.
    pub(super) fn programs() -> (Self, Vec<&'static builtin::BuiltIn>, usize) {
        let mut work = Self::empty(Section::Programs, "built-in programs", "programs");
        let all = builtin::all().iter();
        let chosen: Vec<_> = all.filter(|one| work.take(one.program())).collect();
        let left = builtin::all().len() - chosen.len();
        (work, chosen, left)
    }

    /// The given programs that the device runs and that have a task, with its inputs, and the number of the others.
    pub(super) fn given(given: &Given) -> (Self, ProgramInputs, usize) {
        let mut work = Self::empty(Section::Programs, "given programs", "programs");
        let ids = TaskIds::new(given.tasks.iter().map(|task| &*task.id));
        let inputs = given.programs.iter().filter_map(|program| {
            let id = ids.of(program)?;
            let task = given.tasks.iter().find(|task| task.id == id)?;
            let inputs = inputs_of(task);
            (!inputs.is_empty() && work.take(program)).then_some(inputs)
        });
        let inputs: ProgramInputs = inputs.collect();
        let left = given.programs.len() - inputs.len();
        (work, inputs, left)
    }

    /// The candidates that the device runs, with the inputs of their tasks.
    pub(super) fn batts() -> (Self, ProgramInputs) {
        let mut work = Self::empty(Section::Batts, "batts", "programs");
        let pool = Pool::new(Workload::Batt, 1);
        let candidates = pool.candidates();
        let inputs = candidates.filter_map(|(program, task)| {
            let inputs = inputs_of(task);
            work.take(program).then_some(inputs)
        });
        let inputs = inputs.collect();
        (work, inputs)
    }
}

fn inputs_of(task: &Task) -> Vec<Arc<Grid>> {
    task.pairs()
        .map(|(_, pair)| Arc::clone(&pair.input))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_and_pipeline_runs_on_both_sides() {
        let all = Work::singles();
        assert_eq!(all.len(), OPERATIONS.len() + PIPELINES.len());
        for work in all {
            let work = work.unwrap();
            if work.section == Section::Pipeline {
                // No step is folded away.
                let operations = work.programs[0].steps().len();
                assert_eq!(work.on_device[0].len(), operations, "{}", work.name);
                assert_eq!(work.name, format!("pipeline of {operations}"));
            }
        }
        assert!(Work::identity().unwrap().on_device[0].is_empty());
    }

    #[test]
    fn families_are_those_of_the_kernels() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/ops");
        let mut families: Vec<&str> = OPERATIONS.iter().map(|(_, family, _)| *family).collect();
        families.retain(|family| *family != "none");
        families.dedup();
        for family in families {
            let file = format!("{folder}/{family}.cuh");
            assert!(std::path::Path::new(&file).exists(), "{file}");
        }
    }

    #[test]
    fn a_pipeline_goes_on_where_the_ten_end() {
        let text = pipeline_text(13);
        assert!(text.contains("    x7 = cellwise(x6, x5, 0)\n"), "{text}");
        assert!(text.contains("    x11 = rot90(x10)\n"), "{text}");
        assert!(text.ends_with("    return x13\n"), "{text}");
    }

    #[test]
    fn built_in_programs_are_chosen_with_their_generators() {
        let (work, chosen, left) = Work::programs();
        assert!(!chosen.is_empty());
        assert_eq!(chosen.len() + left, builtin::all().len());
        assert_eq!(work.on_device.len(), chosen.len());
        let ids = chosen.iter().map(|one| one.id());
        assert!(ids.eq(work.programs.iter().map(Program::task_id)));
    }

    #[test]
    fn candidates_share_the_inputs_of_their_family() {
        let (work, inputs) = Work::batts();
        assert_eq!(work.programs.len(), inputs.len());
        assert!(work.section.is_of_many() && inputs.len() > 1_000);
        let same = inputs.windows(2).filter(|two| two[0] == two[1]).count();
        assert!(same * 10 > inputs.len() * 9, "{same} of {}", inputs.len());
    }

    #[test]
    fn given_programs_are_run_on_their_tasks() {
        let task = builtin::all()[0].task(1, 2, 1, 10);
        let own = builtin::all()[0].program().clone();
        let other = builtin::all()[1].program().clone();
        let given = Given {
            programs: vec![other, own.clone()],
            tasks: vec![task],
        };
        let (work, inputs, left) = Work::given(&given);
        let names: Vec<_> = work.programs.iter().map(Program::name).collect();
        assert_eq!((names, left), (vec![own.name()], 1));
        assert_eq!(inputs[0].len(), 3);
    }
}
