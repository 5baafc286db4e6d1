//! The results of a form: their needs, and the form of one of them.

use std::borrow::Cow;

use smallvec::smallvec;

use super::{Form, Id, Instruction, Need, Needs, Operand, Output, Region, dead};

impl Form {
    /// The needs of the result with this index, in order.
    pub fn needs(&self, at: usize) -> Cow<'_, [Need]> {
        match self.outputs.get(at).map(|output| &output.needs) {
            Some(Needs::These(needs)) => Cow::Borrowed(needs),
            _ => self.body.instructions.iter().map(Need::of).collect(),
        }
    }

    /// The form of the result with this index alone: what the result needs, on the lines of its program. `None`
    /// if there is no such result.
    ///
    /// A form [of several programs](super::specialise_all) is sliced into the forms that each program has
    /// alone.
    ///
    /// ```
    /// let form = arc_form::parse("\
    /// form both(v0: grid):
    ///   v1: int = height(v0) @2
    ///   v2: int = width(v0) @2
    ///   v3: int = add(v1, v2) @3
    ///   return v1 #0 [v1 @2]
    ///   return v3 #1 [v2 @2, v1 @3, v3 @4]
    /// ")?;
    /// assert_eq!(form.slice(1).map(|slice| slice.to_string()).as_deref(), Some("\
    /// form both(v0: grid):
    ///   v1: int = width(v0) @2
    ///   v2: int = height(v0) @3
    ///   v3: int = add(v2, v1) @4
    ///   return v3
    /// "));
    /// # Ok::<(), arc_form::FormError>(())
    /// ```
    pub fn slice(&self, at: usize) -> Option<Form> {
        let result = self.body.results.get(at)?.clone();
        let mut places = vec![None; self.ids as usize];
        for instruction in &self.body.instructions {
            places[instruction.id.index()] = Some(instruction);
        }
        let needs = self.needs(at);
        let needed = needs.iter().filter_map(|need| {
            let instruction = places.get(need.id.index()).copied().flatten()?;
            let moved = need.line != instruction.line;
            Some(alone(instruction, moved.then_some(need.line)))
        });
        let mut slice = Form {
            name: self.name.clone(),
            body: Region {
                parameters: self.body.parameters.clone(),
                instructions: needed.collect(),
                results: smallvec![result],
            },
            ids: self.ids,
            outputs: vec![Output::default()],
        };
        dead::compact(&mut slice, &mut dead::Scratch::default());
        Some(slice)
    }
}

/// The instruction, on this line if one is given.
fn alone(instruction: &Instruction, line: Option<u32>) -> Instruction {
    let region = |region: &Region| Region {
        instructions: region
            .instructions
            .iter()
            .map(|one| alone(one, line))
            .collect(),
        ..region.clone()
    };
    Instruction {
        regions: instruction.regions.iter().map(region).collect(),
        line: line.unwrap_or(instruction.line),
        ..instruction.clone()
    }
}

impl Need {
    /// The instruction with its own line.
    fn of(instruction: &Instruction) -> Self {
        Self {
            id: instruction.id,
            line: instruction.line,
        }
    }
}

impl Instruction {
    /// The values that it reads, including those that its regions read from outside; each once.
    pub fn reads(&self) -> Vec<Id> {
        fn enter(instruction: &Instruction, used: &mut Vec<Id>, defined: &mut Vec<Id>) {
            let results = instruction.regions.iter().flat_map(|one| &one.results);
            for operand in instruction.arguments.iter().chain(results) {
                if let Operand::Id(id) = operand {
                    used.push(*id);
                }
            }
            for region in &instruction.regions {
                defined.extend(region.parameters.iter().map(|(id, _)| *id));
                for instruction in &region.instructions {
                    defined.push(instruction.id);
                    enter(instruction, used, defined);
                }
            }
        }
        let (mut used, mut defined) = (Vec::new(), Vec::new());
        enter(self, &mut used, &mut defined);
        used.sort_unstable();
        used.dedup();
        defined.sort_unstable();
        used.retain(|id| defined.binary_search(id).is_err());
        used
    }
}

#[cfg(test)]
mod tests {
    use crate::{Evaluator, Options, Reason, Stop, specialise_all, specialise_with};
    use arc_dsl::generate::{Generator, Sketch};
    use arc_dsl::{ErrorKind, Grid, Limits, Program, builtin, parse_programs};

    fn programs(text: &str) -> Vec<Program> {
        let programs = parse_programs(text).into_iter();
        programs.map(Result::unwrap).collect()
    }

    /// Programs that have steps in common: one, mutants of it, its prefixes, and others.
    fn relatives(generator: &mut Generator, round: usize) -> Vec<Program> {
        let built_ins = builtin::all();
        let first = match round % 3 {
            0 => built_ins[round % built_ins.len()].program().clone(),
            1 => generator.ill_typed_program(8).unwrap(),
            _ => generator.program(12).unwrap(),
        };
        let mut programs = vec![generator.program(6).unwrap()];
        for _ in 0..4 {
            programs.push(generator.mutant(&first));
        }
        let prefix = first.steps().len() / 2;
        programs.extend(Sketch::new(&first).prefix(prefix).build());
        programs.insert(round % programs.len(), first);
        programs
    }

    #[test]
    fn merged_programs_end_as_each_does_alone_and_slices_are_their_forms() {
        let mut generator = Generator::with_scenes(7, 60);
        let (mut values, mut errors, mut left_out, mut shared) = (0, 0, 0, 0);
        for round in 0..250 {
            let programs = relatives(&mut generator, round);
            let options = Options {
                fold: round % 2 == 0,
                dead: round % 5 != 0,
                // A form of several results is not rewritten, nor are its slices.
                rewrite: false,
                ..Options::default()
            };
            let merged = specialise_all("all", &programs, &options);
            let alone = programs.iter().map(|one| specialise_with(one, &options));
            let alone: Vec<_> = alone.collect();
            for (reason, alone) in merged.left_out.iter().zip(&alone) {
                assert_eq!(reason.as_ref(), alone.as_ref().err());
                left_out += usize::from(reason.is_some());
            }
            let Some(form) = merged.form else { continue };
            assert_eq!(form.verify(), Ok(()), "{form}");
            assert_eq!(crate::parse(&form.to_string()).as_ref(), Ok(&form));
            let alone: Vec<_> = alone.into_iter().filter_map(Result::ok).collect();
            shared += alone.iter().map(|form| form.body.len()).sum::<usize>();
            shared -= form.body.len();
            for (at, alone) in alone.iter().enumerate() {
                let mut slice = form.slice(at).unwrap();
                slice.name.clone_from(&alone.name);
                assert_eq!(slice.to_string(), alone.to_string(), "{form}");
            }
            let mut evaluator = Evaluator::default();
            for _ in 0..2 {
                let input = generator.value(arc_dsl::Type::Grid);
                let Some(input) = input.as_grid() else {
                    continue;
                };
                let ends = evaluator.run_all(&form, &input);
                assert_eq!(ends.len(), alone.len());
                for (end, alone) in ends.iter().zip(&alone) {
                    assert_eq!(*end, evaluator.run(alone, &input), "{form}\n{alone}{input}");
                    values += usize::from(end.is_ok());
                    errors += usize::from(matches!(end, Err(Stop::Error(_))));
                }
                assert_eq!(ends[0], evaluator.run(&form, &input));
            }
        }
        println!("{values} values, {errors} errors, {left_out} left out, {shared} shared");
        assert!(values > 600 && errors > 300 && left_out > 20 && shared > 2000);
    }

    #[test]
    fn each_result_ends_with_its_own_first_failure() {
        // Both call the same two steps that fail, in a different order, and `c` neither.
        let programs = programs(
            "def a(I):\n    x1 = ofcolor(I, 7)\n    x2 = first(x1)\n    x3 = divide(1, 0)\n    \
             return x3\ndef b(I):\n    x1 = divide(1, 0)\n    x2 = ofcolor(I, 7)\n    \
             x3 = first(x2)\n    return x2\ndef c(I):\n    x1 = ofcolor(I, 7)\n    return x1\n\
             def d(I):\n    return I\ndef e(I):\n    return 5\n",
        );
        let options = Options {
            fold: false,
            ..Options::default()
        };
        let form = specialise_all("all", &programs, &options).form.unwrap();
        assert_eq!(form.body.len(), 3, "{form}");
        let input = Grid::filled(2, 2, 0);
        let ends = Evaluator::default().run_all(&form, &input);
        let error = |at: usize| match &ends[at] {
            Err(Stop::Error(error)) => (error.line, error.kind),
            end => panic!("{end:?}"),
        };
        assert_eq!(error(0), (3, ErrorKind::Empty));
        assert_eq!(error(1), (7, ErrorKind::DivisionByZero));
        let ends: Vec<_> = ends[2..]
            .iter()
            .map(|end| end.clone().unwrap().to_string())
            .collect();
        assert_eq!(ends, ["frozenset()", "((0, 0), (0, 0))", "5"]);
    }

    #[test]
    fn what_a_region_of_another_program_makes_is_no_step_of_this_one() {
        // `a` has the width as a step, `b` only in a loop over objects, of which there are none, and `c` as a
        // step after that loop.
        let programs = programs(
            "def a(I):\n    x1 = palette(I)\n    x2 = first(x1)\n    x3 = divide(9, x2)\n    return x3\n\
             def b(I):\n    x1 = objects(I, T, F, T)\n    x2 = lbind(divide, 9)\n    \
             x3 = chain(x2, first, palette)\n    x4 = lbind(rbind, add)\n    x5 = palette(I)\n    \
             x6 = rbind(add, 1)\n    x7 = compose(x6, x3)\n    x8 = apply(x7, x1)\n    return x8\n",
        );
        let form = specialise_all("both", &programs, &Options::default())
            .form
            .unwrap();
        let ends = Evaluator::default().run_all(&form, &Grid::filled(2, 2, 0));
        assert!(matches!(ends[0], Err(Stop::Error(_))), "{form}");
        assert_eq!(
            ends[1].as_ref().unwrap().to_string(),
            "frozenset()",
            "{form}"
        );
    }

    #[test]
    fn programs_without_a_form_stop_no_other() {
        let programs = programs(
            "def a(I):\n    x1 = height(I)\n    x2 = compose(first, last)\n    return x2\n\
             def b(I):\n    x1 = height(I)\n    return x1\n",
        );
        let merged = specialise_all("both", &programs, &Options::default());
        assert!(matches!(
            merged.left_out[0].as_ref().unwrap().reason,
            Reason::Function(_)
        ));
        let form = merged.form.unwrap();
        assert_eq!(form.outputs[0].id, 1);
        assert_eq!((form.body.len(), form.outputs.len()), (1, 1));
        let small = Options {
            max_instructions: 0,
            ..Options::default()
        };
        let merged = specialise_all("both", &programs, &small);
        assert_eq!(merged.left_out[1].as_ref().unwrap().reason, Reason::Size);
        assert_eq!(merged.form, None);
    }

    #[test]
    fn steps_are_bounded_for_each_result_and_memory_for_all() {
        let programs = programs(
            "def a(I):\n    x1 = asindices(I)\n    x2 = product(x1, x1)\n    x3 = size(x2)\n    return x3\n\
             def b(I):\n    x1 = asobject(I)\n    x2 = size(x1)\n    return x2\n\
             def c(I):\n    x1 = rot90(I)\n    return x1\n",
        );
        let form = specialise_all("all", &programs, &Options::default())
            .form
            .unwrap();
        let input = Grid::filled(10, 10, 0);
        for limits in [
            Limits {
                max_steps: 500,
                ..Limits::default()
            },
            Limits {
                max_memory: 1500,
                ..Limits::default()
            },
        ] {
            let ends = Evaluator::new(limits).run_all(&form, &input);
            assert!(matches!(ends[0], Err(Stop::BailOut(_))), "{ends:?}");
            assert!(ends[1..].iter().all(Result::is_ok), "{ends:?}");
        }
    }
}
