//! The typed dialect: the table of its primitives.
//!
//! A row has the name with its parameters, other names of the same (`as`), the default that a failing call returns, and
//! how a call is evaluated: as a primitive of the public dialect (`public`), as another row (`same`), by calls of other
//! rows (`calls`), or by a function in the module of the family (`own`), which also receives what the row gives it. The
//! call returns the default if an argument passes a check (`unless`). One line of documentation follows. The enum with its
//! documentation and look-up by name are derived from the table.
//!
//! As in Python, arguments are values of any type, and a function checks a type only where it uses it. A function that
//! cannot continue fails, and the call returns the default of its row, also inside other calls. Functions that call
//! other primitives do so through [`Context::call_typed`], since a failing call returns its default there too.
//!
//! A cell is the tuple (row, column, colour). Values store it like any tuple of three integers; [`objects`] converts it
//! to the public dialect's cell and back when a public primitive does the work.

use std::cmp::Ordering::{Greater, Less};

use arc_isa::{ContainerKind, Primitive, Primitive as P};

use crate::budget::{Context, WORK_PER_STEP};
use crate::error::{ErrorKind, EvalResult};
use crate::primitives::native;
use crate::value::Value;
use crate::value::foreign::Foreign;

#[allow(
    clippy::unnecessary_wraps,
    reason = "the functions of rows have one type"
)]
mod containers;
mod extents;
#[allow(
    clippy::unnecessary_wraps,
    reason = "the functions of rows have one type"
)]
mod grids;
mod objects;
mod patches;
mod python;
mod samples;
mod table;

use grids::palette_t;
use patches::LocationsOf::{Indices, Object, Patch};
use patches::{is_no_location, opposite_corners, palette_f, reach};
use python::{
    PythonResult, Refusal, as_tuple, call, has_no_elements, is_empty, is_empty_tuple, public,
};
use table::TypedPrimitive as T;
pub use table::TypedPrimitive;
use table::for_each_typed_primitive;

/// What a row says about a call.
struct Row {
    default: Default,
    implementation: Implementation,
}

/// What a failing call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Default {
    /// The empty set.
    Set,
    /// The empty tuple.
    Tuple,
    /// 0.
    Zero,
    /// False.
    False,
    /// The function that returns the empty tuple, whatever its arguments.
    Function,
}

/// A row's dedicated function, called with as many arguments as it has parameters.
type OwnFn = fn(&mut Context<'_>, &[&Value]) -> PythonResult;

/// How a call is evaluated.
enum Implementation {
    /// As this primitive of the public dialect.
    Public(Primitive),
    /// As another row.
    Same(TypedPrimitive),
    /// By a dedicated function.
    Own(OwnFn),
}

/// A row's function: the default if a check holds for one of its arguments, otherwise the value of `body`.
macro_rules! own {
    (($($parameter:ident),*) [$($check:ident ($($checked:ident),+))?] $cx:ident => $body:expr) => {
        Implementation::Own(|$cx, arguments| {
            let [$($parameter),*] = *arguments else {
                return Err(ErrorKind::ArgumentCount {
                    expected: [$(stringify!($parameter)),*].len() as u8,
                    found: u8::try_from(arguments.len()).unwrap_or(u8::MAX),
                }
                .into());
            };
            $(if [$($checked),+].into_iter().any($check) {
                return Err(Refusal::Raises);
            })?
            $body
        })
    };
}

/// An argument of a call: a parameter of the row; in `public`, what a function makes of one; in `calls`, the result of
/// another row.
macro_rules! argument {
    ($how:ident $cx:ident $parameter:ident) => {
        $parameter.clone()
    };
    (public $cx:ident $function:ident ($($given:tt)*)) => {{
        let given = argument!(public $cx $($given)*);
        $function($cx, &given)?
    }};
    (calls $cx:ident $target:ident ($($given:ident $(($($of:tt)*))?),*)) => {{
        let given = [$(argument!(calls $cx $given $(($($of)*))?)),*];
        pastey::paste! { call($cx, T::[<$target:camel>], &given.each_ref())? }
    }};
}

macro_rules! implementation {
    ($family:ident $parameters:tt $checks:tt public $target:ident) => {
        pastey::paste! { Implementation::Public(P::[<$target:camel>]) }
    };
    ($family:ident $parameters:tt $checks:tt same $target:ident) => {
        pastey::paste! { Implementation::Same(T::[<$target:camel>]) }
    };
    ($family:ident $parameters:tt $checks:tt public $target:ident ($($given:ident $(($of:ident))?),*)) => {
        own!($parameters $checks cx => {
            let given = [$(argument!(public cx $given $(($of))?)),*];
            pastey::paste! { public(cx, P::[<$target:camel>], &given.each_ref()) }
        })
    };
    ($family:ident $parameters:tt $checks:tt calls $target:ident $given:tt) => {
        own!($parameters $checks cx => Ok(argument!(calls cx $target $given)))
    };
    ($family:ident ($($parameter:ident),*) $checks:tt own $target:ident $(($($given:expr),*))?) => {
        own!(($($parameter),*) $checks cx => $family::$target(cx $(, $parameter)* $($(, $given)*)?))
    };
    // The last argument is optional.
    ($family:ident $parameters:tt $checks:tt optional $target:ident) => {
        Implementation::Own(|cx, arguments| $family::$target(cx, arguments))
    };
}

macro_rules! rows {
    ($($family:ident {
        $($name:ident $parameters:tt $(as $($alias:ident),+)? -> $default:ident = $how:ident $target:ident $(($($given:tt)*))?
            $(unless $check:ident ($($checked:ident),+))? $(: $doc:literal)?;)+
    })+) => {
        #[allow(non_snake_case, reason = "the names of parameters are the dialect's own")]
        static TABLE: &[Row] = &[$($(
            Row {
                default: Default::$default,
                implementation: implementation!(
                    $family $parameters [$($check ($($checked),+))?] $how $target $(($($given)*))?
                ),
            },
            $($(Row {
                default: Default::$default,
                implementation: implementation!($alias () [] same $name),
            },)+)?
        )+)+];
    };
}

for_each_typed_primitive!(rows);

impl TypedPrimitive {
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The primitive as a value.
    #[must_use]
    pub fn value(self) -> Value {
        Value::Foreign(Foreign::Primitive(self))
    }

    /// What a failing call returns.
    #[must_use]
    pub fn default_value(self) -> Value {
        match self.row().default {
            Default::Set => Value::empty_set(),
            Default::Tuple => Value::tuple(Vec::new()),
            Default::Zero => Value::Int(0),
            Default::False => Value::Bool(false),
            Default::Function => Value::Foreign(Foreign::Default),
        }
    }

    /// The primitive of the public dialect that evaluates a call, if there is one.
    #[must_use]
    pub fn public(self) -> Option<Primitive> {
        match self.row().implementation {
            Implementation::Public(primitive) => Some(primitive),
            Implementation::Same(other) => other.public(),
            Implementation::Own(_) => None,
        }
    }

    /// Evaluates a call. A failure is an error here; [`Context::call_typed`] turns it into the default.
    pub(crate) fn call(self, cx: &mut Context<'_>, arguments: &[&Value]) -> EvalResult<Value> {
        // Elements are taken out one by one and copied; sorting is charged separately.
        const COPIES: u64 = 4;
        const LOOKS: u64 = 4;
        match &self.row().implementation {
            Implementation::Public(primitive) => native(*primitive)(cx, arguments),
            Implementation::Same(other) => other.call(cx, arguments),
            Implementation::Own(own) => {
                let weight: u64 = arguments.iter().map(|value| u64::from(value.work())).sum();
                if weight >= WORK_PER_STEP {
                    cx.work(LOOKS * weight)?;
                }
                let held = cx.hold_weight(COPIES * weight)?;
                let value = own(cx, arguments)?;
                cx.check_value(&value)?;
                cx.release(held);
                Ok(value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::budget::Limits;
    use crate::dialect::{Dialect, Sample};
    use crate::error::Limit;
    use crate::generate::Generator;
    use crate::interpreter::Interpreter;
    use crate::text::parse_programs_in;
    use crate::{Constant, EvalError, Grid, Primitive};

    /// The result of these lines for a grid, as text.
    fn run(lines: &str) -> Result<String, EvalError> {
        let lines = lines.replace("; ", "\n    ");
        let text = format!("def f(S, I, C):\n    {lines}\n    return O\n");
        let program = parse_programs_in(Dialect::Typed, &text).remove(0).unwrap();
        assert_eq!(
            parse_programs_in(Dialect::Typed, &program.to_string()),
            [Ok(program.clone())]
        );
        let grid = |rows: &[&[i32]]| Value::from(Grid::from_rows(rows).unwrap());
        let input = grid(&[&[1, 2, 0], &[0, 2, 2]]);
        let turned = grid(&[&[0, 2, 1], &[2, 2, 0]]);
        let sample = Sample {
            train: Value::tuple(vec![Value::pair(&input, &turned)]),
            input,
            expected: turned,
        };
        let result = Interpreter::default().run_on(&program, sample.into_inputs());
        result.map(|value| value.to_string())
    }

    #[track_caller]
    fn gives(lines: &str, expected: &str) {
        assert_eq!(run(lines).unwrap(), expected, "{lines}");
    }

    /// Python asks for the row first, and does not look at the column of one off the grid.
    #[test]
    fn a_column_of_a_row_that_there_is_not_may_be_anything() {
        let patch = "x = frozenset({(9, frozenset({3})), (0, 0)})";
        let cells = "x = frozenset({(9, frozenset({3}), 7), (0, 0, 4)})";
        for (patch, call, expected) in [
            (patch, "fill(I, FIVE, x)", "((5, 2, 0), (0, 2, 2))"),
            (patch, "underfill(I, FIVE, x)", "((1, 2, 0), (0, 2, 2))"),
            (patch, "toobject(x, I)", "frozenset({(0, 0, 1)})"),
            (cells, "paint(I, x)", "((4, 2, 0), (0, 2, 2))"),
            (
                "x = ((1, frozenset({3})), (0, 0))",
                "fill(I, FIVE, x)",
                "()",
            ),
        ] {
            gives(&format!("{patch}; O = {call}"), expected);
        }
    }

    #[test]
    fn names_and_rows_belong_together() {
        let mut names = BTreeSet::new();
        for &primitive in TypedPrimitive::ALL {
            assert!(names.insert(primitive.name()), "{primitive}");
            // No chain of `same` rows leads back to itself.
            let mut row = primitive;
            for _ in 0..3 {
                match row.row().implementation {
                    Implementation::Same(other) => row = other,
                    _ => break,
                }
            }
            assert!(
                !matches!(row.row().implementation, Implementation::Same(_)),
                "{primitive}"
            );
        }
        assert_eq!(TypedPrimitive::Box.name(), "box");
        assert_eq!(TypedPrimitive::OG.parameters(), ["grid", "type"]);
        assert_eq!(TypedPrimitive::SizeF.public(), Some(Primitive::Size));
    }

    #[test]
    fn constants_are_those_of_the_public_dialect_and_more() {
        let names: Vec<_> = Constant::of(Dialect::Typed).map(Constant::name).collect();
        assert_eq!(names.len(), Constant::ALL.len() + Constant::TYPED.len());
        gives(
            "x1 = astuple(L10, BURGUNDY); O = add(x1, HUNDRED)",
            "(90, 109)",
        );
        assert_eq!(Constant::from_name("L10"), None);
    }

    #[test]
    fn cells_are_row_column_and_colour() {
        gives(
            "O = asobject(crop(I, (0, 1), TWO_BY_TWO))",
            "frozenset({(1, 0, 2), (0, 0, 2), (0, 1, 0), (1, 1, 2)})",
        );
        gives("x1 = o_g(I, R5); O = size_f(x1)", "3");
        gives(
            "O = o_g_t(I, R6)",
            "(((0, 1, 2), (1, 2, 2), (1, 1, 2)), ((0, 0, 1),), ((0, 2, 0),), ((1, 0, 0),))",
        );
        gives(
            "O = paint(I, initset(ascell(UNITY, NINE)))",
            "((1, 2, 0), (0, 9, 2))",
        );
    }

    #[test]
    fn what_fails_gives_its_default_and_the_others_go_on() {
        gives("O = add(I, ONE)", "()");
        gives("O = height_f(ONE)", "0");
        gives("O = adjacent(ONE)", "False");
        gives("x1 = astuple(I, ONE); O = apply_t(height_t, x1)", "(2, 0)");
        gives("x1 = lbind(ONE, TWO); O = x1(I, I)", "()");
        // A composed function has no default of its own.
        assert!(run("x1 = compose(size_t, ONE); O = x1(I)").is_err());
        gives("x1 = compose(size_t, ONE); O = apply_t(x1, I)", "()");
        // Python's recursion ends within `power`, which returns all the same.
        for n in ["ZERO", "NEG_ONE", "THOUSAND"] {
            assert!(run(&format!("x1 = power(height_t, {n}); O = x1(I)")).is_err());
            gives(
                &format!("x1 = power(height_t, {n}); O = apply_t(x1, I)"),
                "()",
            );
        }
        // The wrong number of arguments is a failure like any other.
        gives("O = o_g(I)", "()");
    }

    #[test]
    fn a_bound_is_no_failure() {
        let error =
            run("x1 = interval(ZERO, THOUSAND, ONE); x2 = product(x1, x1); O = product(x2, x2)");
        assert!(matches!(
            error.unwrap_err().limit(),
            Some(Limit::Elements | Limit::Memory)
        ));
        let error = run("x1 = canvas(ZERO, (999, 999)); O = upscale_t(x1, NINE)");
        assert_eq!(error.unwrap_err().limit(), Some(Limit::Cells));
    }

    #[test]
    fn numbers_that_are_not_finite_compare_as_python_has_it() {
        gives("x1 = get_nth_t(I, NINE); O = equality(x1, x1)", "False");
        gives(
            "x1 = get_nth_t(I, NINE); x2 = astuple(x1, ONE); O = contained(x1, x2)",
            "True",
        );
        gives("x1 = manhattan(I, ()); O = greater(x1, THOUSAND)", "True");
        gives(
            "x1 = index(I, TEN); x2 = astuple(ONE, index(I, (9, 9))); O = minimum(x2)",
            "-inf",
        );
        gives(
            "x1 = get_nth_t(I, NINE); x2 = astuple(x1, ONE); O = maximum(x2)",
            "nan",
        );
        gives("O = subtract(UNITY, manhattan((), ()))", "(-inf, -inf)");
    }

    #[test]
    fn train_pairs_and_the_expected_output_are_inputs() {
        gives("O = a_mr(S)", "2");
        gives("O = c_iz_n(S, p_g, rbind(get_nth_t, F0))", "nan");
        gives(
            "x1 = apply(second, S); O = equality(C, get_nth_t(x1, F0))",
            "True",
        );
        gives(
            "O = dedupe_pair_tuple(astuple((1, 1), (1, 2)))",
            "((1, 2),)",
        );
    }

    /// Whatever the arguments are, there is a value or a bound.
    #[test]
    fn no_call_is_an_error() {
        let mut generator = Generator::new(5);
        let mut interpreter = Interpreter::new(Limits {
            max_steps: 100_000,
            ..Limits::default()
        });
        let mut values = 0;
        for &primitive in TypedPrimitive::ALL {
            for _ in 0..20 {
                let mut case = generator.typed_case_of_any_types(primitive);
                case.applied_to.clear();
                let text = format!("def f(I):\n    return {case}\n");
                let program = parse_programs_in(Dialect::Typed, &text).remove(0).unwrap();
                match interpreter.run(&program, Grid::default()) {
                    Ok(_) => values += 1,
                    Err(error) => assert!(error.limit().is_some(), "{text}{error}"),
                }
            }
        }
        assert!(values > 19 * TypedPrimitive::ALL.len(), "{values}");
    }
}
