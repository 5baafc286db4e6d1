//! One batt for many programs and many inputs: whatever it has refused, had no room for, released or restarted,
//! a program that it accepts has the outcome that the reference gives for it alone.

use arc_dsl::generate::Generator;
use arc_dsl::{EvalError, Grid, Interpreter, Limits, Primitive, Program, Value};
use arc_tasks::builtin;
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::super::tests::{grids, is_function};
use super::{Batt, Bounds, Merged, programs};
use crate::batt::{Mark, NodeId};

/// An operation on a batt.
#[derive(Debug, Clone)]
enum Act {
    /// Adds a program; the number is the seed for generating it.
    Add(u64),
    /// Adds a program whose first step passes a primitive as a value, for which the machine has no kernel.
    AddPassing(Index, Index),
    /// Adds a program that calls the composition of two primitives.
    AddComposed(Index, Index),
    /// Calls a primitive on nodes.
    Push(Index, Vec<Index>),
    Mark,
    /// Releases one of the marks.
    Release(Index),
    /// Restarts over other inputs.
    Restart(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let index = any::<Index>;
    let nodes = || prop::collection::vec(index(), 1..4);
    let act = prop_oneof![
        3 => any::<u64>().prop_map(Act::Add),
        3 => (index(), index()).prop_map(|(a, b)| Act::AddPassing(a, b)),
        3 => (index(), index()).prop_map(|(a, b)| Act::AddComposed(a, b)),
        1 => (index(), nodes()).prop_map(|(called, on)| Act::Push(called, on)),
        1 => Just(Act::Mark),
        2 => index().prop_map(Act::Release),
        2 => (0_u64..1_000).prop_map(Act::Restart),
    ];
    prop::collection::vec(act, 1..24)
}

/// With and without the reference, with room for everything and for hardly anything.
fn any_bounds() -> impl Strategy<Value = Bounds> {
    let bytes = prop_oneof![3 => Just(64 << 20), 1 => (1_usize << 16)..(2 << 20)];
    let all = (bytes, any::<bool>(), any::<bool>());
    all.prop_map(|(max_bytes, by_reference, keeps_failing)| Bounds {
        max_bytes,
        call: limits(),
        by_reference,
        keeps_failing,
    })
}

fn limits() -> Limits {
    Limits {
        max_steps: 20_000,
        max_cells: 2_000,
        max_elements: 10_000,
        max_memory: 50_000,
        ..Limits::default()
    }
}

/// A batt, and the programs added to it.
struct Growing {
    batt: Batt,
    inputs: Vec<Grid>,
    taken: Vec<(Program, Merged)>,
    is_by_reference: bool,
    /// The marks, each with the number of programs at that time.
    marks: Vec<(Mark, usize)>,
}

impl Growing {
    fn over(&mut self, seed: u64) {
        self.inputs = grids(1 + seed as usize % 3, seed);
        self.batt.restart(&self.inputs, &[]);
        self.taken.clear();
        self.marks = vec![(self.batt.mark(), 0)];
    }

    fn add(&mut self, program: Program) -> Result<(), TestCaseError> {
        if let Ok(merged) = self.batt.add(&program) {
            self.compare(&program, &merged)?;
            self.taken.push((program, merged));
        }
        Ok(())
    }

    fn compare(&self, program: &Program, merged: &Merged) -> Result<(), TestCaseError> {
        let is_limit =
            |result: &Result<Value, EvalError>| matches!(result, Err(e) if e.limit().is_some());
        // Without the reference, equal sets are one, whose order is that of the first program that gave it.
        let program = match merged.output().map(|node| self.batt.program(node, "f")) {
            _ if self.is_by_reference => program.clone(),
            Some(Ok(program)) => program,
            _ => return Ok(()),
        };
        let program = &program;
        for (input, grid) in self.inputs.iter().enumerate() {
            let expected = Interpreter::new(limits()).run(program, grid.clone());
            let found = self.batt.result(merged, input);
            match (&found, &expected) {
                _ if is_limit(&found) || is_limit(&expected) => {}
                (Ok(found), Ok(expected)) if is_function(expected) => {
                    prop_assert!(is_function(found), "{found}\n{program}");
                }
                (Ok(found), Ok(expected)) => {
                    prop_assert_eq!(found.to_string(), expected.to_string(), "{}", program);
                }
                // A step that fails and that no other needs is not in the program of the node.
                (Err(_), _) if !self.is_by_reference => {}
                _ => prop_assert_eq!(&found, &expected, "{}", program),
            }
        }
        Ok(())
    }

    fn nodes(&self, on: &[Index]) -> Vec<NodeId> {
        let nodes: Vec<_> = self.batt.nodes().collect();
        on.iter().map(|index| *index.get(&nodes)).collect()
    }

    fn act(&mut self, act: &Act) -> Result<(), TestCaseError> {
        let primitive = |index: &Index| *index.get(Primitive::ALL);
        match act {
            Act::Add(seed) => {
                let mut generator = Generator::with_scenes(*seed, 2);
                let all = builtin::all();
                let base = all[*seed as usize % all.len()].program();
                let program = match seed % 3 {
                    0 => generator.program(6).ok(),
                    1 => generator.ill_typed_program(4).ok(),
                    _ => Some(generator.mutant(base)),
                };
                return program.map_or(Ok(()), |program| self.add(program));
            }
            Act::AddPassing(called, passed) => {
                let (called, passed) = (primitive(called), primitive(passed));
                let arguments =
                    ["I", passed.name(), "I", "I"][..called.parameters().len()].join(", ");
                let text = format!("def f(I):\n    return {called}({arguments})\n");
                return self.add(programs(&text).remove(0));
            }
            Act::AddComposed(a, b) => {
                let (a, b) = (primitive(a), primitive(b));
                let text = format!(
                    "def f(I):\n    x1 = compose({a}, {b})\n    x2 = x1(I)\n    return x2\n"
                );
                return self.add(programs(&text).remove(0));
            }
            Act::Push(called, on) => {
                let nodes = self.nodes(on);
                let _ = self.batt.push(primitive(called), &nodes);
            }
            Act::Mark => self.marks.push((self.batt.mark(), self.taken.len())),
            Act::Release(index) => {
                let at = index.index(self.marks.len());
                self.marks.truncate(at + 1);
                let (mark, taken) = self.marks[at];
                self.batt.release(mark);
                self.taken.truncate(taken);
            }
            Act::Restart(seed) => self.over(*seed),
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn whatever_a_batt_has_been_through_a_program_gives_its_own_values(
        bounds in any_bounds(), acts in acts(),
    ) {
        let is_by_reference = bounds.by_reference;
        let mut growing = Growing {
            batt: Batt::new(&[], &[], bounds),
            inputs: Vec::new(),
            taken: Vec::new(),
            is_by_reference,
            marks: Vec::new(),
        };
        growing.over(1);
        for act in &acts {
            growing.act(act)?;
        }
        // The outcome of earlier programs must not have changed while others came and went.
        for (program, merged) in &growing.taken {
            growing.compare(program, merged)?;
        }
    }
}
