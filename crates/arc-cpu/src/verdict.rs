//! [`Verdict`]: what tells that the output of a program is wrong before it is computed.

use arc_dsl::{EvalError, Grid};
use arc_form::Form;
use arc_form::analysis::verdict::{Possible, Size};

use crate::planes::Tile;
use crate::{Compiled, Compiler, Machine, Stop, kernel};

/// What a program's output may be, and the part of the program that may fail.
#[derive(Debug, Clone)]
pub struct Verdict {
    possible: Possible,
    /// Nothing if no part may.
    failing: Option<Compiled>,
}

impl Verdict {
    /// That of the program of a form; nothing if it never tells.
    pub fn new(form: &Form, compiler: &mut Compiler) -> Option<Self> {
        let possible = Possible::of(form)?;
        let failing = if possible.failing.body.is_empty() {
            None
        } else {
            Some(compiler.compile(&possible.failing).ok()?)
        };
        Some(Self { possible, failing })
    }

    /// Whether the output, if there is one, is another grid.
    fn excludes(&self, input: &Grid, expected: &Grid) -> bool {
        let (height, width) = (input.height(), input.width());
        let Possible {
            size,
            colours,
            painted,
            ..
        } = &self.possible;
        // The input is known to have cells.
        if height == 0 || width == 0 {
            return false;
        }
        let size_of = |[i, j]: &Size| {
            let side = |[a, b, c]: [u32; 3]| a as usize * height + b as usize * width + c as usize;
            (side(*i), side(*j))
        };
        let size = size.as_ref().map(size_of);
        if size.is_some_and(|size| size != (expected.height(), expected.width())) {
            return true;
        }
        let (mut from, mut to) = (Tile::default(), Tile::default());
        let Some(may_be) = painted.or(*colours) else {
            return false;
        };
        if kernel::pack(&mut from, input).is_err() || kernel::pack(&mut to, expected).is_err() {
            return false;
        }
        // What has another colour than these.
        let mut others = match painted {
            Some(_) => from.differences(&to),
            None => to.bits(),
        };
        let leave_out = |others: &mut [u32; 32], code| {
            let found = to.of_code(code);
            others
                .iter_mut()
                .zip(found)
                .for_each(|(row, found)| *row &= !found);
        };
        for code in (0..15).filter(|code| may_be.constant >> code & 1 != 0) {
            leave_out(&mut others, code);
        }
        while let Some(i) = others.iter().position(|row| *row != 0) {
            let code = to.code(i, others[i].trailing_zeros() as usize);
            let is_in_input = || from.of_code(code).iter().any(|row| *row != 0);
            if !may_be.of_input || !is_in_input() {
                return true;
            }
            leave_out(&mut others, code);
        }
        false
    }
}

impl Machine {
    /// Whether the output is known to be another grid than `expected` without computing it. If it would be, the error is
    /// that of the steps that may fail in Python, or their limit; the others are left out, so they reach none.
    pub fn is_excluded(
        &mut self,
        verdict: &Verdict,
        input: &Grid,
        expected: &Grid,
    ) -> Result<bool, EvalError> {
        if !verdict.excludes(input, expected) {
            return Ok(false);
        }
        let Some(failing) = &verdict.failing else {
            return Ok(true);
        };
        match self.run_against(failing, input, expected) {
            Err(Stop::Error(error)) => Err(error),
            // The program may have a kernel for more than one of these steps that does not bail out.
            Err(Stop::BailOut(_)) => Ok(false),
            Ok(_) => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::{ErrorKind, Interpreter, Program};

    fn verdict(steps: &str) -> (Program, Option<Verdict>) {
        let text = format!("def f(I):\n    {steps}\n    return O\n");
        let program = arc_text::parse_programs(&text).remove(0).unwrap();
        let verdict = Verdict::new(
            &arc_form::specialise(&program).unwrap(),
            &mut Compiler::default(),
        );
        (program, verdict)
    }

    /// What the verdict says of a grid.
    fn says(steps: &str, input: &[[i32; 3]], expected: &[[i32; 3]]) -> Result<bool, ErrorKind> {
        let [input, expected] = [input, expected].map(|rows| Grid::from_rows(rows).unwrap());
        let (program, verdict) = verdict(steps);
        let said = Machine::default().is_excluded(&verdict.unwrap(), &input, &expected);
        let result = Interpreter::default().run(&program, input);
        let said = said.map_err(|error| error.kind);
        match (&said, result) {
            (Ok(is_wrong), Ok(value)) => assert!(!is_wrong || !value.is_grid(&expected), "{steps}"),
            (said, result) => assert_eq!(said.err(), result.map_err(|it| it.kind).err()),
        }
        said
    }

    #[test]
    fn a_grid_of_another_size_is_wrong() {
        let input = [[0, 1, 2]];
        for (steps, size) in [
            ("O = fill(I, 3, shift(ofcolor(I, 1), DOWN))", 1),
            ("O = vconcat(hmirror(I), I)", 2),
            ("O = rot90(rot90(vupscale(I, 3)))", 3),
            ("O = canvas(mostcolor(I), (2, 3))", 2),
        ] {
            for rows in 1..4 {
                let expected = vec![[7, 7, 7]; rows];
                let is_wrong = says(steps, &input, &expected);
                // No grid here has a 7.
                assert_eq!(is_wrong, Ok(true), "{steps} {size}");
                let expected = vec![[0, 1, 2]; rows];
                let is_wrong = says(steps, &input, &expected);
                assert!(rows == size || is_wrong == Ok(true), "{steps} {rows}");
            }
        }
    }

    #[test]
    fn cells_that_change_have_a_colour_of_what_is_painted() {
        let input = [[0, 1, 2]];
        let steps = "x1 = fill(I, 3, ofcolor(I, 1))\n    O = replace(x1, 2, 0)";
        assert_eq!(says(steps, &input, &[[0, 3, 0]]), Ok(false));
        assert_eq!(says(steps, &input, &[[3, 3, 3]]), Ok(false));
        // The input has a 1 and a 2, but nothing paints them.
        assert_eq!(says(steps, &input, &[[1, 3, 0]]), Ok(true));
        let steps = "O = paint(I, recolor(mostcolor(I), asindices(I)))";
        assert_eq!(says(steps, &input, &[[2, 2, 0]]), Ok(false));
        assert_eq!(says(steps, &input, &[[3, 1, 2]]), Ok(true));
        let steps = "O = subgrid(ofcolor(I, 1), I)";
        assert_eq!(says(steps, &input, &[[5, 0, 0]]), Ok(true));
    }

    #[test]
    fn an_error_before_is_the_error() {
        let steps = "x1 = first(sfilter(objects(I, T, F, F), square))\n    x2 = mapply(outbox, objects(I, T, F, F))\n    O = fill(fill(I, 3, x2), 3, x1)";
        let wrong = [[4, 4, 4]];
        assert_eq!(says(steps, &[[0, 0, 1]], &wrong), Ok(true));
        assert_eq!(says(steps, &[[1, 1, 1]], &wrong), Err(ErrorKind::Empty));
        // What comes after the error, and what no error can come from, is left out.
        let (_, verdict) = verdict(steps);
        let text = verdict.unwrap().possible.failing.to_string();
        assert!(
            text.contains("first") && !text.contains("outbox") && !text.contains("fill"),
            "{text}"
        );
    }

    /// Of what may fail only the cause is left, whichever element of a set it comes from.
    #[test]
    fn what_is_not_used_is_not_computed() {
        let loops = "x1 = objects(I, T, F, T)\n    x2 = lbind(colorfilter, x1)\n    x3 = chain(first, x2, size)\n    x4 = fork(recolor, color, x3)\n    x5 = mapply(x4, x1)\n    O = paint(I, x5)";
        let wrong = [[4, 4, 4]];
        for (steps, without) in [
            (
                "x1 = argmax(objects(I, T, F, T), size)\n    O = fill(I, 3, x1)",
                &["argmax", "size"][..],
            ),
            (
                "x1 = order(objects(I, T, F, T), size)\n    x2 = first(x1)\n    O = fill(I, 3, x2)",
                &["recolor"],
            ),
            (
                "x1 = objects(I, T, F, T)\n    x2 = first(remove(first(x1), x1))\n    O = fill(I, 3, x2)",
                &["fill"],
            ),
            (loops, &["recolor", "mapply", "paint"]),
        ] {
            let (_, verdict) = verdict(steps);
            let text = verdict.unwrap().possible.failing.to_string();
            let calls = |name: &&&str| text.contains(&format!("= {name}("));
            assert_eq!(without.iter().find(calls), None, "{text}");
            let mut said = std::collections::HashSet::new();
            for input in [[0, 0, 0], [0, 0, 1], [1, 0, 2], [1, 1, 0], [1, 2, 3]] {
                said.insert(says(steps, &[input], &wrong).map_err(|it| it.to_string()));
            }
            assert!(
                said.contains(&Err(ErrorKind::Empty.to_string())),
                "{said:?}"
            );
        }
    }

    #[test]
    fn a_limit_of_what_is_left_out_is_none() {
        let steps =
            "x1 = fill(I, add(1073741000, height(I)), ofcolor(I, 1))\n    O = hconcat(x1, I)";
        let (program, verdict) = verdict(steps);
        let input = Grid::filled(2, 2, 1);
        let error = Interpreter::default()
            .run(&program, input.clone())
            .unwrap_err();
        assert!(error.limit().is_some());
        let is_wrong =
            |expected| Machine::default().is_excluded(verdict.as_ref().unwrap(), &input, &expected);
        assert_eq!(is_wrong(Grid::filled(2, 2, 1)), Ok(true));
        assert_eq!(is_wrong(Grid::filled(2, 4, 1)), Ok(false));
    }
}
